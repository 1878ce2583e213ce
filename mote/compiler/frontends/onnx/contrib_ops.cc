// com.microsoft: operators that ONNX Runtime's optimiser leaves in models it saves. Activations, normalisations, fused products.

#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/rms_norm/rms_norm.h"
#include "mote/ops/silu/silu.h"
#include "mote/ops/unique/unique.h"

namespace mote::frontends::onnx {
namespace {

Value* gelu(NodeContext& c, Value* x, bool by_tanh) {
  ops::gelu::Attrs a;
  a.approximate = by_tanh ? 1 : 0;
  return x == nullptr ? nullptr : c.b.op(OpId::gelu, a, {x});
}

// Input 1, where it is there, is added first.
template <bool by_tanh>
void import_bias_gelu(NodeContext& c) {
  c.out(0, gelu(c, c.in(1) == nullptr ? c.in(0) : binary(c, OpId::add, c.in(0), c.in(1)), by_tanh));
}

void import_quick_gelu(NodeContext& c) {
  ops::silu::Attrs a;
  a.alpha = c.attr_float("alpha", 1.702f);
  c.out(0, c.b.op(OpId::silu, a, {c.in(0)}));
}

// The activation that a fused operator names, with its parameters in ONNX's order.
Value* activate(NodeContext& c, Value* x, const std::string& kind, const std::vector<float>& parameters) {
  const auto parameter = [&](size_t i, float otherwise) { return i < parameters.size() ? parameters[i] : otherwise; };
  if (kind.empty() || x == nullptr) return x;
  if (kind == "Relu" || kind == "Tanh" || kind == "Sigmoid") return import_one_as(c, kind, {x});
  if (kind == "LeakyRelu") return import_one_as(c, kind, {x}, {make_attr("alpha", parameter(0, 0.01f))});
  if (kind == "HardSigmoid")
    return import_one_as(c, kind, {x}, {make_attr("alpha", parameter(0, 0.2f)), make_attr("beta", parameter(1, 0.5f))});
  if (kind == "Clip" && parameters.size() == 2) {
    Decompose d(c);
    return import_one_as(c, kind, {x, d.number(static_cast<double>(parameters[0]), x), d.number(static_cast<double>(parameters[1]), x)});
  }
  c.fail("activation '" + kind + "' is not possible");
  return nullptr;
}

void import_fused_conv(NodeContext& c) {
  Value* y = import_one_as(c, "Conv", {c.in(0), c.in(1), c.in(2)});
  if (c.in(3) != nullptr) y = binary(c, OpId::add, y, c.in(3));
  c.out(0, activate(c, y, c.attr_string("activation", ""), c.attr_floats("activation_params")));
}

void import_fused_matmul(NodeContext& c) {
  if (c.attr_int("transBatchA", 0) != 0 || c.attr_int("transBatchB", 0) != 0)
    return c.fail("transBatchA and transBatchB are not possible", "save the model with a lower optimisation level");
  c.out(0, Decompose(c).matmul(c.in(0), c.in(1), c.attr_int("transA", 0) != 0, c.attr_int("transB", 0) != 0, c.attr_float("alpha", 1)));
}

void import_fused_gemm(NodeContext& c) {
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (c.attr(name) != nullptr) parameters.push_back(c.attr_float(name, 0));
  c.out(0, activate(c, import_one_as(c, "Gemm", {c.in(0), c.in(1), c.in(2)}), c.attr_string("activation", ""), parameters));
}

// Output 0 and, where asked for, mean and inverse deviation of a normalisation of the last axis.
void layer_norm(NodeContext& c, Value* x, Value* scale, Value* bias, float epsilon) {
  ops::layer_norm::Attrs a;
  a.epsilon = epsilon;
  const auto out = c.b.ok() ? c.b.ops(OpId::layer_norm, a, {x, scale, bias}, 3) : std::vector<Value*>{};
  for (size_t i = 0; i < out.size(); ++i)
    if (i == 0 || c.wants(static_cast<int>(i))) c.out(static_cast<int>(i), out[i]);
}

Value* rms_norm(NodeContext& c, Value* x, Value* scale, float epsilon, int32_t axis) {
  ops::rms_norm::Attrs a;
  a.epsilon = epsilon;
  a.axis = axis;
  return x == nullptr ? nullptr : c.b.op(OpId::rms_norm, a, {x, scale});
}

// input + skip (+ bias); the sum is output 3.
Value* with_skip(NodeContext& c, Value* bias) {
  Value* sum = binary(c, OpId::add, c.in(0), c.in(1));
  if (bias != nullptr) sum = binary(c, OpId::add, sum, bias);
  if (c.wants(3)) c.out(3, sum);
  return sum;
}

void import_skip_layer_norm(NodeContext& c) { layer_norm(c, with_skip(c, c.in(4)), c.in(2), c.in(3), c.attr_float("epsilon", 1e-12f)); }

void import_skip_rms_norm(NodeContext& c) { c.out(0, rms_norm(c, with_skip(c, c.in(3)), c.in(2), c.attr_float("epsilon", 1e-12f), -1)); }

void import_contrib_rms_norm(NodeContext& c) {
  if (c.wants(1)) return c.fail("output inv_std_var serves training alone and is not supported", "export the model for inference");
  c.out(0, rms_norm(c, c.in(0), c.in(1), c.attr_float("epsilon", 1e-5f), to_s32(c.attr_int("axis", -1))));
}

// Inputs: ids, segments?, word table, position table, segment table?, gamma, beta, mask?, positions?.
void import_embed_layer_norm(NodeContext& c) {
  Decompose d(c);
  Value *ids = c.in(0), *segments = c.in(1), *positions = c.in(8);
  for (const int i : {2, 3, 5, 6})
    if (c.in(i) == nullptr) return c.fail("input " + std::to_string(i) + " is missing");
  if (rank_of(ids) != 2) return c.fail("expected ids (batch, length), found rank " + std::to_string(rank_of(ids)));
  if (positions == nullptr)
    positions = d.op(OpId::range, {d.number(0, DType::s64), d.squeeze(d.size_of(ids, 1), {0}), d.number(1, DType::s64)});
  Value* sum = d.add(d.gather(c.in(2), ids, 0), d.gather(c.in(3), positions, 0));
  if (segments != nullptr && c.in(4) != nullptr) sum = d.add(sum, d.gather(c.in(4), segments, 0));
  ops::layer_norm::Attrs a;
  a.epsilon = c.attr_float("epsilon", 1e-12f);
  if (c.b.ok()) c.out(0, c.b.op(OpId::layer_norm, a, {sum, c.in(5), c.in(6)}));
  if (c.wants(2)) c.out(2, sum);
  if (!c.wants(1) || !c.b.ok()) return;
  Value* mask = c.in(7);
  c.out(1, mask != nullptr ? d.reduce(OpId::reduce_sum, d.cast(mask, DType::s32), {1}, false) : d.fill(0, DType::s32, d.size_of(ids, 0)));
}

void import_bias_add(NodeContext& c) {
  Value* y = binary(c, OpId::add, c.in(0), c.in(1));
  c.out(0, c.in(2) == nullptr ? y : binary(c, OpId::add, y, c.in(2)));
}

// Softmax of the sum, over all axes from `axis` on.
void import_bias_softmax(NodeContext& c) {
  Decompose d(c);
  Value* x = c.in(0);
  const int rank = rank_of(x), axis = axis_of(c, c.attr_int("axis", 1), rank);
  if (axis != rank - 1) return c.fail("expected the last axis, found axis " + std::to_string(axis));
  Value* bias = c.in(1);
  if (c.attr_int("is_inner_broadcast", 0) == 0 && rank_of(bias) != rank) return c.fail("expected input and bias of the same rank");
  c.out(0, d.softmax(d.add(x, bias), axis));
}

void import_expand_dims(NodeContext& c) {
  std::vector<int64_t> axis;
  if (!known_list(c.in(1), &axis) || axis.size() != 1) return c.fail("the axis must be known before running");
  c.out(0, c.b.unsqueeze(c.in(0), axis));
}

// Distances between the rows of two matrices.
void import_cdist(NodeContext& c) {
  Decompose d(c);
  const std::string metric = c.attr_string("metric", "sqeuclidean");
  if (metric != "euclidean" && metric != "sqeuclidean")
    return c.fail("metric " + metric + " is not possible", "use euclidean or sqeuclidean");
  Value* apart = d.op(OpId::squared_difference, {d.unsqueeze(c.in(0), {1}), d.unsqueeze(c.in(1), {0})});
  Value* y = d.reduce(OpId::reduce_sum, apart, {2}, false);
  c.out(0, metric == "euclidean" ? d.sqrt(y) : y);
}

// In the order of their first occurrence, with the place of each element among them (ONNX's own operator gives that of the first ones
// before it) and counts.
void import_contrib_unique(NodeContext& c) {
  ops::unique::Attrs a;
  a.sorted = 0;
  const auto out = c.b.ops(OpId::unique, a, {c.in(0)}, 4);
  if (out.size() != 4) return;
  c.out(0, out[0]);
  if (c.wants(1)) c.out(1, out[2]);
  if (c.wants(2)) c.out(2, out[3]);
}

// As PyTorch has it, whose operator it is: with mode bicubic each element that is read lies within the border, not the place.
void import_contrib_grid_sample(NodeContext& c) {
  c.out(0, import_one_as(c, "GridSample", {c.in(0), c.in(1)}, {make_attr("border_of_elements", int64_t{1})}));
}

// Operators that ONNX took over later, as they are there.
void import_namesake(NodeContext& c) {
  const auto out = import_as(c, c.proto.op_type(), c.inputs);
  for (size_t i = 0; i < out.size(); ++i) c.out(static_cast<int>(i), out[i], i < c.inner_elements.size() ? c.inner_elements[i] : 0);
}

}  // namespace

void add_contrib_ops(OpTable& table);
void add_contrib_ops(OpTable& table) {
  add_lines(table,
            {{"Gelu", import_bias_gelu<false>},
             {"BiasGelu", import_bias_gelu<false>, 1, 2},
             {"FastGelu", import_bias_gelu<true>},
             {"QuickGelu", import_quick_gelu},
             {"FusedConv", import_fused_conv, 1, 2},
             {"FusedMatMul", import_fused_matmul, 1, 2},
             {"TransposeMatMul", import_fused_matmul, 1, 2},
             {"FusedGemm", import_fused_gemm, 1, 2},
             {"SkipLayerNormalization", import_skip_layer_norm, 1, 3},
             {"SkipSimplifiedLayerNormalization", import_skip_rms_norm, 1, 3},
             {"SimplifiedLayerNormalization", import_contrib_rms_norm, 1, 2},
             {"EmbedLayerNormalization", import_embed_layer_norm, 1, 1},
             {"BiasAdd", import_bias_add, 1, 2},
             {"BiasSoftmax", import_bias_softmax, 1, 2},
             {"ExpandDims", import_expand_dims, 1, 2},
             {"CDist", import_cdist, 1, 2},
             {"Trilu", import_namesake},
             {"GatherND", import_namesake, 1, 2},
             {"GridSample", import_contrib_grid_sample, 1, 2},
             {"Pad", import_namesake, 1, 2},
             {"Unique", import_contrib_unique},
             {"QuantizeLinear", import_namesake, 1, 2},
             {"DequantizeLinear", import_namesake, 1, 2}},
            "com.microsoft");
  // ONNX Runtime writes this one without a domain.
  add_lines(table, {{"SimplifiedLayerNormalization", import_contrib_rms_norm, 1, 2}});
}

}  // namespace mote::frontends::onnx
