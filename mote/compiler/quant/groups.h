#pragma once

// Weights of few bits with a scale, and where wanted a zero point, for each group of neighbours in a row.

#include "mote/compiler/quant/moments.h"
#include "mote/compiler/quant/recipe.h"

namespace mote::quant {

struct GroupOptions {
  int64_t size = 32;
  bool zero_points = false;
  bool best_scales = true;  // of the least squared error; else from the largest weight
};

// Weight (r, c) is scales[r, c / size] * (codes[r, c] - zeros[r, c / size]), codes in -8..7.
struct GroupWeights {
  int64_t rows = 0, columns = 0, size = 0;
  std::vector<int8_t> codes;  // (rows, columns)
  std::vector<float> scales;  // (rows, groups); of either sign
  std::vector<int8_t> zeros;  // likewise, or empty
  bool half = true;           // the scales are numbers of f16
  int64_t groups() const { return (columns + size - 1) / size; }
};

GroupWeights group_weights(const WeightRows& weights, const GroupOptions& options);

// Rounds for the least error of the product's output (rounding.h). Scales stay.
void round_groups(const WeightRows& weights, const InputMoments& moments, GroupWeights* groups);

// Two codes a byte, the first in the low half.
std::vector<uint8_t> nibbles_of(const std::vector<int8_t>& codes);

}  // namespace mote::quant
