#pragma once

// TensorFlow Lite's quantized arithmetic as operands and attributes of Mote's operators, and its fused activations.

#include <functional>

#include "mote/compiler/frontends/tflite/op.h"
#include "mote/compiler/ir/multiplier.h"

namespace mote::frontends::tflite {

using ir::Multiplier;
using ir::quantize_multiplier;
int32_t apply(Multiplier m, int32_t x);

struct Range {
  int32_t lo = 0, hi = 0;
};
// The quantized values that a fused activation leaves of the output's type.
Range activation_range(Op& op, ActivationFunctionType act, const Tensor& out);
// x in [lo, hi] in the scale of `t`, within its type; infinities stand for "no bound".
Range real_range(const Tensor& t, float lo, float hi);
Range type_range(DType t);

// The fused activation of conv, matmul and their kin, as their attributes say it.
template <class A>
void set_activation(Op& op, ActivationFunctionType act, A* a);
// The activation as a node of its own, on numbers that are not quantized.
Value* activate(Op& op, Value* x, ActivationFunctionType act);
// A clip to a range that is smaller than the type's; x itself otherwise.
Value* clip_to(Op& op, Value* x, Range range);

// Fails the operator unless these tensors have a scale (one, or one per channel where that is allowed).
bool need_scale(Op& op, const Tensor& t);
bool same_quant(const Tensor& a, const Tensor& b);

// Constants for multiplier and shift operands.
struct MultiplierOperands {
  Value* value = nullptr;
  Value* shift = nullptr;
};
MultiplierOperands operands(Op& op, const std::vector<Multiplier>& m);

// (x - zero) * m, saturated to `to`, plus output_zero.
Value* requantize(Op& op, Value* x, int32_t zero, Multiplier m, int32_t output_zero, DType to, Range clamp);
// The same in 32 bits, x being shifted left first.
Value* rescale(Op& op, Value* x, int32_t zero, int left_shift, Multiplier m);

// Looks 8-bit x up in a table that f makes from the integers themselves; the output has the type of `out`.
Value* lut8(Op& op, Value* x, DType out, const std::function<int32_t(int32_t)>& f);
// y = f(x) for quantized input 0 and output 0 of 8 or 16 bits, by a table.
Value* lut(Op& op, const std::function<float(float)>& f);
// The 513 entries of a 16-bit table.
std::vector<int16_t> table16(double in_scale, int32_t in_zero, double out_scale, int32_t out_zero, const std::function<double(double)>& f);
std::vector<int16_t> table16(float in_scale, int32_t in_zero, float out_scale, int32_t out_zero, const std::function<float(float)>& f);

// --- templates ---

uint32_t activation_kind(Op& op, ActivationFunctionType act, float* a, float* b);
template <class A>
void set_activation(Op& op, ActivationFunctionType act, A* a) {
  a->activation = activation_kind(op, act, &a->act_a, &a->act_b);
}

}  // namespace mote::frontends::tflite
