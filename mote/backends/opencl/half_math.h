#pragma once

// How far products that multiply in f16 are from those that do not.

#include "mote/backends/common/piece.h"

namespace mote::backends::opencl {

// The root of the mean square of the error that multiplying in f16, as product.cl and window.cl do, adds to the sums of a product: measured
// at some of its results. x: the input's values, f16 already; they are at most 4096, so that no sum of a block reaches f16's end.
double half_math_error(const OpView& op, const float* x);

}  // namespace mote::backends::opencl
