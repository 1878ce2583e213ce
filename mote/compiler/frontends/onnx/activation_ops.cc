// Activations: element-wise operators with parameters.

#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/elu/elu.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/hard_sigmoid/hard_sigmoid.h"
#include "mote/ops/leaky_relu/leaky_relu.h"
#include "mote/ops/shrink/shrink.h"
#include "mote/ops/silu/silu.h"
#include "mote/ops/softplus/softplus.h"
#include "mote/ops/threshold/threshold.h"

namespace mote::frontends::onnx {
namespace {

void import_leaky_relu(NodeContext& c) {
  ops::leaky_relu::Attrs a;
  a.negative_slope = c.attr_float("alpha", 0.01f);
  c.out(0, c.b.op(OpId::leaky_relu, a, {c.in(0)}));
}

void import_elu(NodeContext& c) {
  ops::elu::Attrs a;
  a.alpha = c.attr_float("alpha", 1);
  c.out(0, c.b.op(OpId::elu, a, {c.in(0)}));
}

void import_selu(NodeContext& c) {
  ops::elu::Attrs a;
  a.alpha = c.attr_float("alpha", 1.67326319217681884765625f);
  a.scale = c.attr_float("gamma", 1.05070102214813232421875f);
  c.out(0, c.b.op(OpId::elu, a, {c.in(0)}));
}

void import_celu(NodeContext& c) {
  ops::elu::Attrs a;
  a.alpha = c.attr_float("alpha", 1);
  if (a.alpha == 0) return c.fail("attribute alpha must not be 0");
  a.input_scale = 1 / a.alpha;
  c.out(0, c.b.op(OpId::elu, a, {c.in(0)}));
}

void import_gelu(NodeContext& c) {
  const std::string approximate = c.attr_string("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return c.fail("attribute approximate: expected none or tanh, found '" + approximate + "'");
  ops::gelu::Attrs a;
  a.approximate = approximate == "tanh" ? 1 : 0;
  c.out(0, c.b.op(OpId::gelu, a, {c.in(0)}));
}

void import_swish(NodeContext& c) {
  ops::silu::Attrs a;
  a.alpha = c.attr_float("alpha", 1);
  c.out(0, c.b.op(OpId::silu, a, {c.in(0)}));
}

void import_hard_sigmoid(NodeContext& c) {
  ops::hard_sigmoid::Attrs a;
  a.alpha = c.attr_float("alpha", 0.2f);
  a.beta = c.attr_float("beta", 0.5f);
  c.out(0, c.b.op(OpId::hard_sigmoid, a, {c.in(0)}));
}

void import_softplus(NodeContext& c) {
  ops::softplus::Attrs a;
  a.threshold = 0;
  c.out(0, c.b.op(OpId::softplus, a, {c.in(0)}));
}

void import_thresholded_relu(NodeContext& c) {
  ops::threshold::Attrs a;
  a.threshold = c.attr_float("alpha", 1);
  c.out(0, c.b.op(OpId::threshold, a, {c.in(0)}));
}

// Integers are shrunk as floats that hold them.
void import_shrink(NodeContext& c) {
  ops::shrink::Attrs a;
  a.lambd = c.attr_float("lambd", 0.5f);
  a.bias = c.attr_float("bias", 0);
  const DType type = c.in(0)->type.dtype;
  const bool is_float = (mask_of(type) & kFloat) != 0;
  Value* x = is_float ? c.in(0) : c.b.cast(c.in(0), dtype_bits(type) > 16 ? DType::f64 : DType::f32);
  Value* y = c.b.op(OpId::shrink, a, {x});
  if (y != nullptr) c.out(0, c.b.cast(y, type));
}

void import_swiglu(NodeContext& c) {
  ops::silu::Attrs a;
  a.alpha = c.attr_float("alpha", 1);
  c.out(0, binary(c, OpId::mul, c.b.op(OpId::silu, a, {c.in(0)}), c.in(1)));
}

}  // namespace

void add_activation_ops(OpTable& table);
void add_activation_ops(OpTable& table) {
  add_lines(table, {{"Relu", import_plain<OpId::relu, 1>},
                    {"Sigmoid", import_plain<OpId::sigmoid, 1>},
                    {"Tanh", import_plain<OpId::tanh, 1>},
                    {"Softsign", import_plain<OpId::softsign, 1>},
                    {"Mish", import_plain<OpId::mish, 1>},
                    {"HardSwish", import_plain<OpId::hard_swish, 1>},
                    {"PRelu", import_plain<OpId::prelu, 2>, 1, 2},
                    {"LeakyRelu", import_leaky_relu},
                    {"Elu", import_elu},
                    {"Selu", import_selu},
                    {"Celu", import_celu},
                    {"Gelu", import_gelu},
                    {"Swish", import_swish},
                    {"SwiGLU", import_swiglu, 1, 2},
                    {"HardSigmoid", import_hard_sigmoid},
                    {"Softplus", import_softplus},
                    {"ThresholdedRelu", import_thresholded_relu},
                    {"Shrink", import_shrink}});
}

}  // namespace mote::frontends::onnx
