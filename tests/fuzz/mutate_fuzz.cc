// Structure-aware: starts from valid programs, changes fields of their records, makes the certificate fit, and runs what opens.
// Now and then a fresh random program takes the place of the input, so that a run does not depend on its corpus.

#include <cstring>

#include "tests/fuzz/any_kernels.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/run_untrusted.h"
#include "tests/fuzz/tally.h"

namespace {
mote::fuzz::Tally tally("mutate_fuzz");
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  using namespace mote::fuzz;
  Dice dice(seed);
  if (dice.chance(2) || size < 64) {
    mote::emit::FileBytes fresh;
    std::string error;
    ProgramShape shape;
    shape.max_ops = 4;
    if (make_program(dice, shape, &fresh, &error) && fresh.size <= max_size) {
      std::memcpy(data, fresh.data(), fresh.size);
      size = fresh.size;
    }
  }
  mutate_program({data, size}, dice);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mote::fuzz;
  ++tally.executions;
  Dice dice(Dice::digest(data, size));
  UntrustedLimits limits;
  limits.memory_bytes = 1u << 18;
  limits.steps = 500;
  limits.select = any_kernels(dice);
  tally.count(run_untrusted({data, size}, dice, limits));
  return 0;
}
