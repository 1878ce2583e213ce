// com.microsoft: quantized operators. They become dequantize, the plain operator, quantize, which the passes join again, or integer
// products where the sums are what counts.

#include "mote/compiler/frontends/onnx/op_support.h"

namespace mote::frontends::onnx {
namespace {

// Operand, scale and zero point, from input `first` on.
Value* real(NodeContext& c, int first) { return import_one_as(c, "DequantizeLinear", {c.in(first), c.in(first + 1), c.in(first + 2)}); }

// The result, with scale and zero point from input `first` on.
void put_quantized(NodeContext& c, Value* y, int first) {
  if (y != nullptr) c.out(0, import_one_as(c, "QuantizeLinear", {y, c.in(first), c.in(first + 1)}));
}

template <OpId id>
void import_qlinear_binary(NodeContext& c) {
  put_quantized(c, binary(c, id, real(c, 0), real(c, 3)), 6);
}

// QLinearSigmoid and others of its kind: the operator's own name follows "QLinear".
void import_qlinear_unary(NodeContext& c) { put_quantized(c, import_one_as(c, c.proto.op_type().substr(7), {real(c, 0)}), 3); }

void import_qlinear_pool(NodeContext& c) {
  Decompose d(c);
  const bool last = c.attr_int("channels_last", 0) != 0;
  Value* x = real(c, 0);
  Value* y = import_one_as(c, c.proto.op_type().substr(7), {last ? d.channels_first(x) : x});
  put_quantized(c, last ? d.channels_last(y) : y, 3);
}

// Before opset 13, which the node names, all axes from `axis` on count as one.
void import_qlinear_softmax(NodeContext& c) {
  Value* x = real(c, 0);
  const int axis = axis_of(c, c.attr_int("axis", -1), rank_of(x));
  if (c.attr_int("opset", 13) < 13 && axis != rank_of(x) - 1)
    return c.fail("softmax over several axes", "convert the model to opset 13 or later");
  put_quantized(c, Decompose(c).softmax(x, axis), 3);
}

void import_qlinear_concat(NodeContext& c) {
  std::vector<Value*> parts;
  for (int i = 2; i + 1 < c.inputs_given(); i += 3) parts.push_back(real(c, i));
  if (parts.empty()) return c.fail("expected at least one tensor with scale and zero point");
  put_quantized(c, import_one_as(c, "Concat", parts), 0);
}

void import_qlinear_where(NodeContext& c) {
  Value *a = real(c, 1), *b = real(c, 4);
  if (c.b.ok()) put_quantized(c, c.b.op(OpId::where, {c.in(0), a, b}), 7);
}

// Sums times the product of the scales, plus bias.
Value* scaled(NodeContext& c, Value* sums, Value* a_scale, Value* b_scale, Value* bias) {
  Decompose d(c);
  Value* y = d.mul(d.cast(sums, DType::f32), d.mul(d.cast(a_scale, DType::f32), d.cast(b_scale, DType::f32)));
  return bias == nullptr ? y : d.add(y, bias);
}

void import_qgemm(NodeContext& c) {
  Decompose d(c);
  const auto oriented = [&](int i, const char* transposed) {
    return c.attr_int(transposed, 0) != 0 ? d.transpose(c.in(i), {1, 0}) : c.in(i);
  };
  if (rank_of(c.in(0)) != 2 || rank_of(c.in(3)) != 2) return c.fail("expected two matrices");
  Value* sums = import_one_as(c, "MatMulInteger", {oriented(0, "transA"), oriented(3, "transB"), c.in(2), c.in(5)});
  if (c.in(6) != nullptr) sums = d.add(sums, d.cast(c.in(6), DType::s32));
  Value* y = d.mul(scaled(c, sums, c.in(1), c.in(4), nullptr), c.attr_float("alpha", 1));
  if (c.in(7) == nullptr) return c.out(0, y);
  put_quantized(c, y, 7);
}

// Inputs: a, b, a's scale, b's scale, a's zero point?, b's zero point?, bias?.
void import_matmul_integer_to_float(NodeContext& c) {
  c.out(0, scaled(c, import_one_as(c, "MatMulInteger", {c.in(0), c.in(1), c.in(4), c.in(5)}), c.in(2), c.in(3), c.in(6)));
}

// Inputs: a (float), b, b's scale, b's zero point?, bias?.
void import_dynamic_quantize_matmul(NodeContext& c) {
  const auto a = c.b.ops(OpId::dynamic_quantize, NoAttrs{}, {c.in(0)}, 3);
  if (a.size() != 3) return;
  c.out(0, scaled(c, import_one_as(c, "MatMulInteger", {a[0], c.in(1), a[2], c.in(3)}), a[1], c.in(2), c.in(4)));
}

}  // namespace

void add_contrib_quant_ops(OpTable& table);
void add_contrib_quant_ops(OpTable& table) {
  add_lines(table,
            {{"QLinearAdd", import_qlinear_binary<OpId::add>, 1, 7},
             {"QLinearMul", import_qlinear_binary<OpId::mul>, 1, 7},
             {"QLinearSigmoid", import_qlinear_unary, 1, 2},
             {"QLinearLeakyRelu", import_qlinear_unary, 1, 2},
             {"QLinearReduceMean", import_qlinear_unary, 1, 2},
             {"QLinearAveragePool", import_qlinear_pool, 1, 2},
             {"QLinearGlobalAveragePool", import_qlinear_pool, 1, 2},
             {"QLinearSoftmax", import_qlinear_softmax, 1, 2},
             {"QLinearConcat", import_qlinear_concat},
             {"QLinearWhere", import_qlinear_where, 1, 3},
             {"QGemm", import_qgemm, 1, 5},
             {"MatMulIntegerToFloat", import_matmul_integer_to_float, 1, 4},
             {"DynamicQuantizeMatMul", import_dynamic_quantize_matmul, 1, 3}},
            "com.microsoft");
}

}  // namespace mote::frontends::onnx
