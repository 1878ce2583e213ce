#pragma once

#include "mote/core/dtype.h"
#include "tests/fuzz/dice.h"

namespace mote::fuzz {

// A number operators are likely to accept: small, or with `extremes` an infinity, NaN or a limit of some type.
double plausible_number(bool extremes, Dice& dice);

// Plausible values for an element type: small numbers mostly, extremes, NaN and any bits at all sometimes.
void fill_values(DType type, uint8_t* data, size_t bytes, Dice& dice);

}  // namespace mote::fuzz
