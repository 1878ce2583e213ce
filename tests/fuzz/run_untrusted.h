#pragma once

#include <vector>

#include "mote/runtime/instance.h"
#include "tests/fuzz/dice.h"

namespace mote::fuzz {

struct UntrustedLimits {
  uint64_t memory_bytes = 16u << 20;  // of banks, instance, scratch and bound buffers together; programs that need more are not run
  uint32_t steps = 2000;
  const OpRegistry* ops = nullptr;                                       // null: the built-in operators
  KernelFn (*select)(uint16_t op, const OpContext&) noexcept = nullptr;  // InstanceOptions::select
  const Threads* threads = nullptr;                                      // InstanceOptions::threads
  // Called immediately before and after each Instance::run, the first one included.
  void (*before_run)(void* self) = nullptr;
  void (*after_run)(void* self) = nullptr;
  void* self = nullptr;
};

struct UntrustedResult {
  Status open, create, run;  // run: of the last method
  uint32_t methods_run = 0;
  uint64_t instructions = 0;
  bool delegated = false;        // a run of a program with backends went well
  bool skipped = false;          // needs more memory than the limit
  const char* broken = nullptr;  // a promise the runtime broke
  std::vector<uint16_t> ops;     // what the instructions that ran to their end were
};

// What a careful host does with bytes it does not trust: opens them and, where that succeeds, runs every method twice on made-up inputs
// (at the largest sizes, then at smaller ones) in memory of exactly the stated sizes. `file` is copied to a block of its own.
UntrustedResult run_untrusted(ConstBytes file, Dice& dice, const UntrustedLimits& limits = {});

// A backend that touches every byte it is handed, under the name programs of the generator use.
extern const mote_backend kTouchBackend;

}  // namespace mote::fuzz
