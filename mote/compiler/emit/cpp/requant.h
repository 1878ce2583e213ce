#pragma once

// Finds the numbers with which mote/kernels/cortexm/requant.h gives the same 8-bit results as an operator's own arithmetic.

#include <cstdint>
#include <functional>

#include "mote/kernels/cortexm/requant.h"

namespace mote::emit {

// What a channel's sums become.
struct Wanted {
  std::function<int32_t(int32_t sum)> of;  // never falls when the sum grows; within [lo, hi]
  double multiplier = 0;                   // about what a sum is multiplied by
  int32_t zero = 0, lo = -128, hi = 127;
  int64_t least = 0, most = 0;  // sums that can occur, bias included
};

// All sums give the same result.
bool says_nothing(const Wanted& wanted);

// Proved: every sum in [least, most] gives the same result. False when no such numbers were found. The bias is the caller's.
bool find_requant(const Wanted& wanted, int left, cortexm::Channel* out);

// The largest shift to the left that no sum overflows with; less than 0 when there is none.
int most_left(int64_t least, int64_t most);

}  // namespace mote::emit
