#pragma once

// Quantized products of ONNX (QLinearConv, ConvInteger, QLinearMatMul, MatMulInteger) over Mote's q_conv and q_matmul.

#include "mote/compiler/frontends/onnx/decompose.h"

namespace mote::frontends::onnx {

// Operands of a quantized product; null where absent.
struct QuantOperands {
  Value *x = nullptr, *x_scale = nullptr, *x_zero = nullptr;
  Value *w = nullptr, *w_scale = nullptr, *w_zero = nullptr;  // weights as Mote has them
  Value *y_scale = nullptr, *y_zero = nullptr;                // absent: s32 sums come out
  Value* bias = nullptr;
};

// Zero point as a number when it is one known number; false when it must stay an operand.
bool known_zero(const Value* zero, int32_t* out);

// Rounds x, which is scaled already, and adds the one zero point of the tensor.
Value* quantize_with(Decompose& d, Value* x, Value* zero, DType to);

// Writes the product `id` with attributes `a` (its window set already), and what follows it. Channels are the last dimension.
template <class A>
Value* quant_product(Decompose& d, OpId id, A a, const QuantOperands& q) {
  Value *x_zero = known_zero(q.x_zero, &a.input_zero) ? nullptr : q.x_zero,
        *w_zero = known_zero(q.w_zero, &a.weight_zero) ? nullptr : q.w_zero;
  if (q.y_scale == nullptr) {
    a.to = static_cast<uint32_t>(DType::s32);
    return d.b.op(id, a, {q.x, q.w, q.bias, nullptr, nullptr, x_zero, w_zero});
  }
  const DType y_type = q.y_zero != nullptr ? dtype_of_value(q.y_zero) : DType::u8;
  Value* multiplier = d.div(d.mul(d.cast(q.x_scale, DType::f32), d.cast(q.w_scale, DType::f32)), d.cast(q.y_scale, DType::f32));
  if (!d.b.ok()) return nullptr;
  if (known_zero(q.y_zero, &a.output_zero)) {
    a.to = static_cast<uint32_t>(y_type);
    return d.b.op(id, a, {q.x, q.w, q.bias, multiplier, nullptr, x_zero, w_zero});
  }
  a.to = static_cast<uint32_t>(DType::s32);
  a.output_zero = 0;
  Value* sums = d.b.op(id, a, {q.x, q.w, q.bias, nullptr, nullptr, x_zero, w_zero});
  return quantize_with(d, d.mul(d.cast(sums, DType::f32), multiplier), q.y_zero, y_type);
}

}  // namespace mote::frontends::onnx
