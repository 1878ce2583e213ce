// Operators that ONNX had for trial before opset 10, and models of those years still hold.

#include <algorithm>
#include <climits>

#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/softplus/softplus.h"

namespace mote::frontends::onnx {
namespace {

// alpha * x + beta.
void import_affine(NodeContext& c) {
  Decompose d(c);
  c.out(0, d.add(d.mul(c.in(0), c.attr_float("alpha", 1)), c.attr_float("beta", 0)));
}

void import_scale(NodeContext& c) {
  Decompose d(c);
  c.out(0, d.mul(c.in(0), c.attr_float("scale", 1)));
}

bool is_image(NodeContext& c) {
  if (rank_of(c.in(0)) == 4) return true;
  c.fail("expected an input of rank 4 (N, C, H, W), found rank " + std::to_string(rank_of(c.in(0))));
  return false;
}

// scale * x + bias of the channel.
void import_image_scaler(NodeContext& c) {
  if (!is_image(c)) return;
  Decompose d(c);
  const std::vector<float> bias = c.attr_floats("bias");
  const int32_t channels = dims_of(c.in(0))[1];
  if (bias.size() != static_cast<size_t>(channels))
    return c.fail("attribute bias: expected a value for each of " + std::to_string(channels) + " channels, found " +
                  std::to_string(bias.size()));
  Value* scaled = d.mul(c.in(0), c.attr_float("scale", 1));
  Value* by_channel = d.cast(c.b.graph().constant<float>({1, channels, 1, 1}, bias), dtype_of_value(c.in(0)));
  c.out(0, binary(c, OpId::add, scaled, by_channel));
}

// border: left, top, right, bottom; with scale (height, width) what lies right and below of that size goes instead.
void import_crop(NodeContext& c) {
  if (!is_image(c)) return;
  Decompose d(c);
  const std::vector<int64_t> border = c.attr_ints("border"), scale = c.attr_ints("scale");
  const auto bad = [](const std::vector<int64_t>& v) {
    return std::any_of(v.begin(), v.end(), [](int64_t x) { return x < 0 || x > INT_MAX / 2; });
  };
  if (border.size() != 4 || bad(border)) return c.fail("attribute border: expected left, top, right and bottom, none negative");
  if ((!scale.empty() && scale.size() != 2) || bad(scale)) return c.fail("attribute scale: expected height and width");
  Value* y = c.in(0);
  for (int axis : {2, 3}) {
    const auto k = static_cast<size_t>(axis == 2 ? 1 : 0);
    const int64_t begin = border[k], size = dims_of(c.in(0))[static_cast<size_t>(axis)];
    if (scale.empty() && !is_fixed(c.in(0), axis)) return c.fail("crops an image of open size", "give the sizes with --shape");
    const int64_t end = scale.empty() ? size - border[k + 2] : begin + scale[1 - k];
    if (begin > end || end > size)
      return c.fail("crops " + std::to_string(begin) + " to " + std::to_string(end) + " of axis " + std::to_string(axis) + ", which has " +
                    std::to_string(size));
    y = d.slice(y, axis, begin, end);
  }
  c.out(0, y);
}

// alpha * log(exp(beta * x) + 1).
void import_parametric_softplus(NodeContext& c) {
  Decompose d(c);
  ops::softplus::Attrs a;
  a.threshold = 0;
  Value* x = d.mul(c.in(0), c.attr_float("beta", 0));
  if (x != nullptr) c.out(0, d.mul(c.b.op(OpId::softplus, a, {x}), c.attr_float("alpha", 0)));
}

// alpha * tanh(beta * x).
void import_scaled_tanh(NodeContext& c) {
  Decompose d(c);
  c.out(0, d.mul(d.op(OpId::tanh, {d.mul(c.in(0), c.attr_float("beta", 0))}), c.attr_float("alpha", 0)));
}

// The constant given, in the shape given; with an input, in the input's shape (or in the one the input holds).
void import_given_tensor_fill(NodeContext& c) {
  const std::vector<float> values = c.attr_floats("values");
  std::vector<int64_t> shape = c.attr_ints("shape");
  if (c.in(0) != nullptr && c.attr_int("input_as_shape", 0) != 0) {
    if (!known_list(c.in(0), &shape)) return c.fail("takes its shape from a value that only running tells");
  } else if (c.in(0) != nullptr) {
    for (int i = 0; i < rank_of(c.in(0)); ++i) {
      if (!is_fixed(c.in(0), i)) return c.fail("takes its shape from an input of open size", "give the sizes with --shape");
      shape.push_back(dims_of(c.in(0))[static_cast<size_t>(i)]);
    }
  }
  for (const int64_t extra : c.attr_ints("extra_shape")) shape.push_back(extra);
  uint64_t count = 1;
  for (const int64_t s : shape) count = s < 0 || s > INT_MAX || count > INT_MAX ? UINT64_MAX : count * static_cast<uint64_t>(s);
  if (count != values.size())
    return c.fail("expected values for " + std::string(count > INT_MAX ? "a shape" : std::to_string(count) + " elements") + ", found " +
                  std::to_string(values.size()));
  c.out(0, c.b.graph().constant<float>({shape.begin(), shape.end()}, values));
}

// The hidden state of one step of a GRU without output gate; a sample past its length keeps its state, or loses it.
void import_gru_unit(NodeContext& c) {
  Decompose d(c);
  Value *hidden = c.in(0), *gates = c.in(1), *lengths = c.in(2), *step = c.in(3);
  const int axis = rank_of(gates) - 1;
  if (axis < 1 || rank_of(hidden) != axis + 1 || !is_fixed(gates, axis)) return c.fail("expected gates of the hidden state's rank");
  const int64_t width = dims_of(gates)[static_cast<size_t>(axis)] / 3;
  Value* update = d.op(OpId::sigmoid, {d.slice(gates, axis, width, 2 * width)});
  Value* output = d.op(OpId::tanh, {d.slice(gates, axis, 2 * width, 3 * width)});
  // update * hidden + (1 - update) * output
  Value* next = d.add(output, d.mul(update, d.sub(hidden, output)));
  Value* valid = d.op(OpId::less, {d.cast(step, DType::s64), d.unsqueeze(d.cast(lengths, DType::s64), {1})});
  Value* past = c.attr_int("drop_states", 0) != 0 ? d.number(0, hidden) : hidden;
  c.out(0, d.op(OpId::where, {valid, next, past}));
}

void import_dynamic_slice(NodeContext& c) {
  std::vector<Value*> in{c.in(0), c.in(1), c.in(2)};
  if (c.in(3) != nullptr) in.push_back(c.in(3));
  c.out(0, import_one_as(c, "Slice", in));
}

void refuse_aten(NodeContext& c) {
  c.fail("an operator of PyTorch ('" + c.attr_string("operator", "") + "') that its exporter left as it was",
         "export again, with torch.onnx.export(..., dynamo=True), or compile the module with mote.torch.compile");
}

}  // namespace

void add_legacy_ops(OpTable& table);
void add_legacy_ops(OpTable& table) {
  add_lines(table, {{"Affine", import_affine},
                    {"Scale", import_scale},
                    {"ImageScaler", import_image_scaler},
                    {"Crop", import_crop},
                    {"ParametricSoftplus", import_parametric_softplus},
                    {"ScaledTanh", import_scaled_tanh},
                    {"GivenTensorFill", import_given_tensor_fill, 1, 0},
                    {"GRUUnit", import_gru_unit, 1, 4},
                    {"DynamicSlice", import_dynamic_slice, 1, 3},
                    {"ATen", refuse_aten, 1, 0}});
}

}  // namespace mote::frontends::onnx
