#pragma once

// Corrections of a product's weights and bias, from the moments of its input.

#include "mote/compiler/quant/moments.h"
#include "mote/compiler/quant/recipe.h"

namespace mote::quant {

// Rounds weights up or down so that the output's error is least, not each weight's: coordinate descent on the expected squared error
// of every channel, from the nearest codes on. Scales stay.
void round_for_output(const WeightRows& weights, const InputMoments& moments, QuantWeights* codes);

// What the mean of every channel of the output loses by the rounding of its weights.
std::vector<double> mean_shift(const WeightRows& weights, const InputMoments& moments, const QuantWeights& codes);

}  // namespace mote::quant
