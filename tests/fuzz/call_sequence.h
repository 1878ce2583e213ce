#pragma once

// Random sequences of calls of the C interface, with what each of them must answer.

#include <set>
#include <string>

#include "tests/fuzz/dice.h"

namespace mote::fuzz {

struct CallTally {
  std::set<std::string> functions;                // that were called
  uint64_t calls = 0, refused = 0, finished = 0;  // refused: status other than ok; finished: runs that came to their end
};

// Makes up to `count` calls in random order, with arguments that are right, wrong, null or of another program, on one or two programs
// (static, dynamic, stateful, several methods, random ones, broken files), and gives everything back. A model of the handles predicts the
// statuses. "" or the first answer that was not right, with the calls that led to it.
std::string run_call_sequence(Dice& dice, uint32_t count, CallTally* tally);

}  // namespace mote::fuzz
