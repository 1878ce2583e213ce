#pragma once

// Weights of a product as 8-bit numbers.

#include <cstdint>
#include <vector>

#include "mote/core/layout.h"

namespace mote::quant {

// Weights of a product: one row for each output channel, whatever the operator's own order of elements is.
struct WeightRows {
  int64_t rows = 0, columns = 0;
  std::vector<float> values;  // (rows, columns)
  bool pairs = false;         // codes 2i and 2i + 1 of a row must have pair_fits() (core/layout.h)
};

struct QuantWeights {
  std::vector<int8_t> codes;  // (rows, columns), -127..127
  std::vector<float> scales;  // one for each row
};

// Nearest codes; scales from the largest magnitude of each row (with pairs: or the largest sum of two neighbours).
QuantWeights nearest_weights(const WeightRows& weights);
// The same with the scale of each row chosen for the least squared error (none for rows on a grid); pairs that do not fit are cut off.
QuantWeights best_scaled_weights(const WeightRows& weights);
// Weights that lie on a grid already, as those of models that come with 8-bit weights: these codes and scales, without an error. False
// where some row is on none.
bool exact_weights(const WeightRows& weights, QuantWeights* out);
// Rows whose scale is so small that the bias would not fit 32 bits at this scale of the input get a larger one.
void fit_bias(const WeightRows& weights, const std::vector<double>& bias, float input_scale, QuantWeights* out);

}  // namespace mote::quant
