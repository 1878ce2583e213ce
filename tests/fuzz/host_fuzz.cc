// Structure-aware, through the C interface: programs with delegates around pieces for each backend, their fields and those of the pieces
// changed, under memory limits, at every size from 0 to the bound, with their golden data.

#include <cstring>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/run_host.h"
#include "tests/fuzz/tally.h"

namespace {
mote::fuzz::Tally tally("host_fuzz");
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  mote::fuzz::Dice dice(seed);
  return mote::fuzz::mutate_for_host(data, size, max_size, dice);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mote::fuzz;
  ++tally.executions;
  Dice dice(Dice::digest(data, size));
  tally.count(run_host({data, size}, dice, 500));
  return 0;
}
