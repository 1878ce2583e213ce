// Sequences of calls of the C interface, chosen by the bytes of the input.

#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/call_sequence.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mote::fuzz::Dice dice(data, size);
  mote::fuzz::CallTally tally;
  const std::string wrong = mote::fuzz::run_call_sequence(dice, 100, &tally);
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "call_fuzz: %s\n", wrong.c_str());
  std::abort();
}
