#pragma once

// What convolutions and matrix products share: scaling of quantized sums, hybrid inputs, weights in another order.

#include "mote/compiler/frontends/tflite/quant.h"

namespace mote::frontends::tflite {

// The quantization around a product.
struct Stage {
  const Tensor& x;
  const Tensor& weights;
  const Tensor& out;
  ActivationFunctionType act = ActivationFunctionType::NONE;
  bool float_product = false;  // one scale: the product of scales is taken in float (u8 always does)
  bool real = false;           // sums are scaled in double (fully connected layers)
};

// Multipliers of the stage, one or one per channel. Fails the operator when a scale is missing.
MultiplierOperands stage_multipliers(Op& op, const Stage& s);

// Sets zero points, clamps and width in the attributes of q_conv, q_conv_transpose or q_matmul; gives the multiplier operands.
template <class A>
MultiplierOperands set_stage(Op& op, const Stage& s, const Value* bias, A* a) {
  a->to = static_cast<uint32_t>(s.out.dtype);
  a->input_zero = s.x.zero();
  a->weight_zero = s.weights.quant.count() == 1 ? s.weights.zero() : 0;
  a->output_zero = s.out.zero();
  a->wide = s.x.dtype == DType::s16 && (bias == nullptr || bias->type.dtype == DType::s64) ? 1 : 0;
  const Range r = activation_range(op, s.act, s.out);
  a->clamp_lo = r.lo;
  a->clamp_hi = r.hi;
  return stage_multipliers(op, s);
}

// Float activations quantized at run time for weights of 8 bits, each row (what lies at one index of the dimensions before `axis`) on
// its own. zero is null for symmetric quantization.
struct Hybrid {
  Value* x = nullptr;
  Value* scale = nullptr;
  Value* zero = nullptr;
};
Hybrid hybrid_input(Op& op, Value* x, int axis, bool asymmetric);
// The scales of a constant as f32, one or one per channel.
Value* filter_scales(Op& op, const Tensor& filter);

// A transpose that happens at once on constants.
Value* permute(Op& op, Value* x, const Dims& perm);

}  // namespace mote::frontends::tflite
