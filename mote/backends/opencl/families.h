#pragma once

// Operators by family: each function says why it cannot run one (null: it can) and, with a recorder, adds its launches. Operands have
// been checked to be dense f32 (or 8-bit numbers, where plan.cc has a family for these), or constants.

#include "mote/backends/opencl/device_types.h"
#include "mote/backends/opencl/plan.h"
#include "mote/ops/common/reduce.h"

namespace mote::backends::opencl {

// Whether operand 1 is constant and brought into a form of its own.
bool repacks_weights(const OpView& op);
// Whether kernels read input i as f32, however tensors are stored: biases of products.
bool reads_float(const OpView& op, size_t i);
// Whether a product has kernels that multiply in f16: convolutions of one group or of one channel, products with constant weights.
bool multiplies_half(const OpView& op);
constexpr int32_t kHalfBlock = 8;  // most terms whose sum is f16: BLOCK in product.cl, a row of taps in window.cl
// Over the elements of y, with steps of a and b that repeat where they are broadcast.
WalkArgs broadcast_walk(const Operand& a, const Operand& b, const Operand& y);
// A convolution of one group as a matrix product.
ProductArgs product_of(const WindowArgs& w);

// A reduction: (outer, length, inner) to (outer, inner).
struct Reduction {
  int32_t length, inner;
};
// Why axes cannot be reduced, or null. Input 1, where there is one, has them.
const char* reduction_of(const OpView& op, const ops::ReduceAttrs& a, Reduction* out);
// Launches of one part of a concatenation, from x to y from element `at` of the axis; mapped: each byte by a table (256).
void add_part(const OpView& op, Recorder& r, const Operand& x, int axis, int64_t at, const Place* table);

const char* lower_copy(const OpView& op, Recorder* r);
const char* lower_move(const OpView& op, Recorder* r);
const char* lower_unary(const OpView& op, Recorder* r);
const char* lower_binary(const OpView& op, Recorder* r);
const char* lower_reduce(const OpView& op, Recorder* r);
const char* lower_softmax(const OpView& op, Recorder* r);
const char* lower_layer_norm(const OpView& op, Recorder* r);
const char* lower_matmul(const OpView& op, Recorder* r);
const char* lower_attention(const OpView& op, Recorder* r);
const char* lower_conv(const OpView& op, Recorder* r);
const char* lower_pool(const OpView& op, Recorder* r);
const char* lower_resize(const OpView& op, Recorder* r);

// Of 8-bit numbers.
const char* lower_quantize(const OpView& op, Recorder* r);
const char* lower_q_conv(const OpView& op, Recorder* r);
const char* lower_q_matmul(const OpView& op, Recorder* r);
const char* lower_q_binary(const OpView& op, Recorder* r);
const char* lower_q_pool(const OpView& op, Recorder* r);
const char* lower_q_lut(const OpView& op, Recorder* r);
const char* lower_requantize(const OpView& op, Recorder* r);
const char* lower_q_concat(const OpView& op, Recorder* r);
const char* lower_q_softmax(const OpView& op, Recorder* r);
const char* lower_q_reduce(const OpView& op, Recorder* r);

}  // namespace mote::backends::opencl
