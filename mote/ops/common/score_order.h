#pragma once

#include <algorithm>

#include "mote/core/op.h"

namespace mote::ops {

// Sorts indices of scores, none of which is NaN, from the highest score down; equal scores by rising index.
template <class Score>
void sort_by_score(int32_t* indices, int32_t count, const Score& score) noexcept {
  std::sort(indices, indices + count, [&](int32_t i, int32_t j) {
    const auto a = score(i), b = score(j);
    return a != b ? a > b : i < j;
  });
}

}  // namespace mote::ops
