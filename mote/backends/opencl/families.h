#pragma once

// Operators by family: each function says why it cannot run one (null: it can) and, with a recorder, adds its launches. Operands have
// been checked to be dense f32, or constants.

#include "mote/backends/opencl/plan.h"

namespace mote::backends::opencl {

// Whether operand 1 is constant and brought into a form of its own.
bool repacks_weights(const OpView& op);
// Whether kernels read input i as f32, however tensors are stored: biases of products.
bool reads_float(const OpView& op, size_t i);

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

}  // namespace mote::backends::opencl
