#pragma once

// Makes the examples of a program and checks the program with them: the reference is an unoptimised compilation of the same model.

#include <string>
#include <vector>

#include "mote/compiler/driver/golden.h"
#include "mote/compiler/driver/run.h"

namespace mote::driver {

// True when operators compute with quantized numbers: their integer form may round differently than the model's own way of saying it.
bool is_quantized(Span<const Instruction> instructions);

struct CheckResult {
  std::vector<Example> examples;
  std::vector<Comparison> compared;  // every output of these
  std::vector<std::string> notes;    // examples left out, and why
  std::vector<std::string> faults;   // outputs that the program gets wrong
};

// Runs `reference` on the inputs of each example and `program` too, and keeps what belongs into the file: the reference's outputs where
// the program agrees with them; its own where `quantized` (rounding of integer forms parts them on noise) or the difference is small,
// or where there is no reference (null), or `own`: the reference ran with kernels of this machine, which may round as they like.
bool make_examples(const Signature& signature, const GoldenOptions& options, HostProgram* reference, HostProgram& program, bool quantized,
                   bool own, CheckResult* out, std::string* error);

// One example more, for its faults alone. False when one of the programs does not run it.
bool check_example(const Signature& signature, HostProgram& reference, HostProgram& program, bool quantized, Example e, CheckResult* out,
                   std::string* error);

}  // namespace mote::driver
