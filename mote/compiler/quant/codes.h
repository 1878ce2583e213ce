#pragma once

// Weights of a product as 8-bit numbers.

#include <cstdint>
#include <vector>

namespace mote::quant {

// Weights of a product: one row for each output channel, whatever the operator's own order of elements is.
struct WeightRows {
  int64_t rows = 0, columns = 0;
  std::vector<float> values;  // (rows, columns)
  bool pairs = false;         // their codes must have pair_fits()
};

struct QuantWeights {
  std::vector<int8_t> codes;  // (rows, columns), -127..127
  std::vector<float> scales;  // one for each row
};

// Codes 2i and 2i + 1 of a row, times two numbers of 8 bits without sign, add up within 16 bits: processors whose 8-bit products saturate
// there (AVX2) then multiply exactly, and twice as fast. True also for any two of different sign, or of 7 bits.
constexpr int kMostPair = 128;
inline bool pair_fits(int a, int b) { return (a > 0) != (b > 0) || (a + b <= kMostPair && a + b >= -kMostPair); }

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
