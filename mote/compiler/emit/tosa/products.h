#pragma once

// Sums of products: convolutions and matrix products before anything is done with their result.

#include "mote/compiler/emit/tosa/windows.h"

namespace mote::emit::tosa {

// What they take. Integers are signed (Writer::signed_of); bias: null, or in the type of the sums.
struct Terms {
  Operand x, weights;
  double x_zero = 0, w_zero = 0;
  const Value* bias = nullptr;
};

// INT32 for INT8, INT48 for INT16; floats have their own.
fb::DType sum_of(fb::DType t);

// x (N, spatial, C), weights (O, kernel, C / groups); `out`: sizes of the result.
Operand convolve(Writer& w, const Terms& t, Window g, const Dims& out);
// Transposed; extra: what is added behind each dimension.
Operand convolve_back(Writer& w, const Terms& t, Window g, const int32_t* extra, const Dims& out);
// (..., M, K) by (..., K, N), each turned first where asked for.
Operand multiply(Writer& w, const Terms& t, bool turn_x, bool turn_y, const Dims& out);

}  // namespace mote::emit::tosa
