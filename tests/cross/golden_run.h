#pragma once

#include "mote/runtime/instance.h"

namespace mote::testing {

// What running the golden examples of a program showed.
struct GoldenReport {
  Status status;
  Diagnostic diagnostic;
  const char* step = "";  // what was being done when it failed
  uint32_t examples = 0;
  float worst = 0;  // largest error over all outputs, relative to the largest expected magnitude
  uint32_t instance_bytes = 0, scratch_bytes = 0, bank_bytes = 0;
  uint64_t open_ticks = 0, create_ticks = 0, run_ticks = 0;  // of `now`; run: the first example
};

struct GoldenOptions {
  uint64_t (*now)() = nullptr;  // null: no times
};

// Opens the program of one method with one f32 input and one f32 output in one bank, runs every golden example in exactly the
// bytes the certificate states, and makes sure that one byte less in any of them is refused. `memory` holds instance, scratch,
// bank, input and output, one behind the other. Freestanding: no heap, no stdio.
GoldenReport run_golden_examples(ConstBytes file, ByteSpan memory, const OpRegistry& ops, const GoldenOptions& options) noexcept;

}  // namespace mote::testing
