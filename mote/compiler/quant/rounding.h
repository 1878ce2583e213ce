#pragma once

// Corrections of a product's weights and bias, from the moments of its input.

#include <functional>

#include "mote/compiler/quant/moments.h"
#include "mote/compiler/quant/recipe.h"

namespace mote::quant {

// Whether a shift of the output's mean counts as error or is corrected by mean_shift().
enum class Means { kCount, kCorrected };

// Rounds weights up or down so that the output's error is least, not each weight's: coordinate descent on the expected squared error
// of every channel, from the nearest codes on. Scales stay.
void round_for_output(const WeightRows& weights, const InputMoments& moments, Means means, QuantWeights* codes);

// One row of codes: weight i is scales[i] * (codes[i] - zeros[i]), codes in lo..hi.
struct RowCodes {
  const float *weights, *scales, *zeros;
  int lo, hi;
  int8_t* codes;
  bool pairs = false;  // codes.h
};
// The same for any rows; what row_of() returns is used until the next call.
void round_rows(const InputMoments& moments, Means means, int64_t rows, const std::function<RowCodes(int64_t row)>& row_of);

// The shift of the mean of every output channel that rounding of the weights causes.
std::vector<double> mean_shift(const WeightRows& weights, const InputMoments& moments, const QuantWeights& codes);

}  // namespace mote::quant
