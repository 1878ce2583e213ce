#include <numeric>

#include "mote/compiler/emit/tosa/products.h"
#include "mote/compiler/ir/infer.h"

namespace mote::emit::tosa {
namespace {

constexpr int32_t kMostGroups = 512;  // each is an operator of its own

fb::DType accumulator_of(fb::DType t) { return is_float(t) ? fb::DType::FP32 : sum_of(t); }

// In the type of the sums, of rank 1.
Operand bias_of(Writer& w, const Value* v, fb::DType sum) {
  Operand x;
  std::vector<int64_t> wide;
  if (v == nullptr) return w.numbers(sum, {1}, {0});
  if (sum == fb::DType::INT48 && v->is_constant() && ir::known_ints(*v, &wide))
    x = w.numbers(sum, v->type.dims, {wide.begin(), wide.end()});
  else x = w.of(v);
  if (w.ok() && x.type != sum) w.fail("the bias has another type than the sums");
  return w.ok() && x.dims.empty() ? w.reshape(x, {1}) : x;
}

// One operator, dense or depthwise.
Operand one_convolution(Writer& w, const Terms& t, Operand weights, const Operand& bias, const Window& g, const Dims& out) {
  const auto acc = accumulator_of(t.x.type);
  fb::Op code = fb::Op::CONV2D;
  fb::Attribute kind = fb::Attribute::Conv2dAttribute;
  flatbuffers::Offset<void> a;
  if (g.groups != 1) {
    const int32_t deep = t.x.dims.back(), each = weights.dims[0] / deep;
    weights = w.transpose(w.reshape(weights, {deep, each, g.kernel[0], g.kernel[1]}), {2, 3, 0, 1});
    code = fb::Op::DEPTHWISE_CONV2D;
    kind = fb::Attribute::DepthwiseConv2dAttribute;
    a = fb::CreateDepthwiseConv2dAttributeDirect(w.b, &g.pad, &g.stride, &g.dilation, false, acc).Union();
  } else if (g.spatial() == 3) {
    code = fb::Op::CONV3D;
    kind = fb::Attribute::Conv3dAttribute;
    a = fb::CreateConv3dAttributeDirect(w.b, &g.pad, &g.stride, &g.dilation, false, acc).Union();
  } else {
    a = fb::CreateConv2dAttributeDirect(w.b, &g.pad, &g.stride, &g.dilation, false, acc).Union();
  }
  return w.op(code, kind, a, {t.x, weights, bias, w.zero(t.x.type, t.x_zero), w.zero(weights.type, t.w_zero)}, sum_of(t.x.type), out);
}

// One dimension as two, the first of size 1.
Dims two_dimensions(const Dims& d) { return {d[0], 1, d[1], d[2]}; }

// Terms of one group: its channels of x, its rows of the weights and of the bias.
struct Group {
  Terms terms;
  Operand bias;
};
Group group_of(Writer& w, const Terms& t, const Operand& bias, int32_t i, int32_t groups) {
  Group g{t, bias};
  const int32_t in = t.x.dims.back() / groups, out = t.weights.dims[0] / groups;
  g.terms.x = part(w, t.x, t.x.dims.size() - 1, i * in, in);
  g.terms.weights = part(w, t.weights, 0, i * out, out);
  if (bias.dims[0] != 1) g.bias = part(w, bias, 0, i * out, out);
  return g;
}

// Zeros between the rows of a kernel.
Operand spread(Writer& w, Operand weights, size_t axis, int32_t dilation, double zero) {
  if (dilation == 1 || weights.dims[axis] == 1) return weights;
  Dims dims = weights.dims;
  const int32_t rows = dims[axis];
  int32_t before = 1, after = 1;
  for (size_t i = 0; i < dims.size(); ++i) (i < axis ? before : after) *= i == axis ? 1 : dims[i];
  if (int64_t{rows} * dilation > INT32_MAX / 2 / std::max(1, before) / std::max(1, after)) w.fail("the kernel reaches too far");
  if (!w.ok()) return weights;
  weights = filled(w, w.reshape(weights, {before, rows, 1, after}), {0, 0, 0, 0, 0, dilation - 1, 0, 0}, zero);
  dims[axis] = rows * dilation;
  return part(w, w.reshape(weights, dims), axis, 0, (rows - 1) * dilation + 1);
}

// Two dimensions, dense. TOSA cuts off less than a kernel at each side: a slice does the rest.
Operand one_transposed(Writer& w, const Terms& t, const Operand& bias, const Window& g, const int32_t* extra, const Dims& out) {
  std::vector<int32_t> out_pad;
  Dims full = out;
  std::vector<int64_t> start(4, 0);
  for (size_t i = 0; i < g.pad.size(); ++i) {
    const int32_t kernel = t.weights.dims[i / 2 + 1], add = -g.pad[i] + (i % 2 != 0 ? extra[i / 2] : 0), least = 1 - kernel;
    out_pad.push_back(std::max(add, least));
    full[i / 2 + 1] += out_pad.back() - add;
    if (i % 2 == 0) start[i / 2 + 1] = out_pad.back() - add;
  }
  const auto a = fb::CreateTransposeConv2dAttributeDirect(w.b, &out_pad, &g.stride, false, accumulator_of(t.x.type)).Union();
  const Operand y = w.op(fb::Op::TRANSPOSE_CONV2D, fb::Attribute::TransposeConv2dAttribute, a,
                         {t.x, t.weights, bias, w.zero(t.x.type, t.x_zero), w.zero(t.weights.type, t.w_zero)}, sum_of(t.x.type), full);
  return full == out ? y : w.op(fb::Op::SLICE, {y, w.shape(start), w.shape({out.begin(), out.end()})}, y.type, out);
}

void check_groups(Writer& w, const Window& g, const char* what) {
  if (g.groups > kMostGroups)
    w.fail(std::string("TOSA has ") + what + "; at most " + std::to_string(kMostGroups) + " groups become one each, found " +
           std::to_string(g.groups));
}

}  // namespace

fb::DType sum_of(fb::DType t) { return t == fb::DType::INT8 ? fb::DType::INT32 : t == fb::DType::INT16 ? fb::DType::INT48 : t; }

Operand convolve(Writer& w, const Terms& t, Window g, const Dims& out) {
  if (!w.ok()) return {};
  Terms now = t;
  if (g.spatial() == 1) {
    add_dimension(w, &g, &now.x);
    now.weights = w.reshape(now.weights, two_dimensions(now.weights.dims));
    return w.reshape(convolve(w, now, g, two_dimensions(out)), out);
  }
  const bool depthwise = g.groups != 1 && g.groups == t.x.dims.back() && g.spatial() == 2;
  if (g.groups != 1 && !depthwise) check_groups(w, g, "dense and depthwise convolutions");
  fit_window(w, &g, &now.x, out);
  const Operand bias = bias_of(w, t.bias, sum_of(t.x.type));
  if (!w.ok()) return {};
  if (g.groups == 1 || depthwise) return one_convolution(w, now, now.weights, bias, g, out);
  std::vector<Operand> parts;
  const int32_t groups = std::exchange(g.groups, 1);
  Dims dims = out;
  dims.back() /= groups;
  for (int32_t i = 0; i < groups; ++i) {
    const Group one = group_of(w, now, bias, i, groups);
    parts.push_back(one_convolution(w, one.terms, one.terms.weights, one.bias, g, dims));
  }
  return joined(w, parts, out.size() - 1);
}

Operand convolve_back(Writer& w, const Terms& t, Window g, const int32_t* extra, const Dims& out) {
  if (!w.ok()) return {};
  Terms now = t;
  if (g.spatial() == 1) {
    const int32_t behind[] = {0, extra[0]};
    add_dimension(w, &g, &now.x);
    now.weights = w.reshape(now.weights, two_dimensions(now.weights.dims));
    return w.reshape(convolve_back(w, now, g, behind, two_dimensions(out)), out);
  }
  if (g.spatial() != 2) w.fail("TOSA has transposed convolutions over 2 dimensions");
  check_groups(w, g, "dense transposed convolutions");
  const Operand bias = bias_of(w, t.bias, sum_of(t.x.type));
  if (!w.ok()) return {};
  for (size_t i = 0; i < 2; ++i) now.weights = spread(w, now.weights, i + 1, g.dilation[i], t.w_zero);
  if (!w.ok()) return {};
  std::vector<Operand> parts;
  Dims dims = out;
  dims.back() /= g.groups;
  for (int32_t i = 0; i < g.groups; ++i) {
    const Group one = g.groups == 1 ? Group{now, bias} : group_of(w, now, bias, i, g.groups);
    parts.push_back(one_transposed(w, one.terms, one.bias, g, extra, dims));
  }
  return joined(w, parts, out.size() - 1);
}

Operand multiply(Writer& w, const Terms& t, bool turn_x, bool turn_y, const Dims& out) {
  if (!w.ok()) return {};
  const size_t rank = out.size();
  int32_t batch = 1;
  for (size_t i = 0; i + 2 < rank; ++i) batch *= out[i];
  const auto three = [&](Operand v, bool turn) {
    const size_t own_rank = v.dims.size();
    // Batches that differ are repeated where one operand has fewer of them.
    Dims dims(out.begin(), out.end() - 2);
    int32_t own = 1;
    for (size_t i = 0; i + 2 < own_rank; ++i) own *= v.dims[i];
    const Dims last{v.dims[own_rank - 2], v.dims.back()};
    if (own != batch) {
      dims.insert(dims.end(), last.begin(), last.end());
      Dims padded(rank - own_rank, 1);
      padded.insert(padded.end(), v.dims.begin(), v.dims.end());
      std::vector<int64_t> times;
      for (size_t i = 0; i < rank; ++i) times.push_back(padded[i] == 0 ? 1 : dims[i] / padded[i]);
      v = w.op(fb::Op::TILE, {w.reshape(v, padded), w.shape(times)}, v.type, dims);
    }
    v = w.reshape(v, {batch, last[0], last[1]});
    return turn ? w.transpose(v, {0, 2, 1}) : v;
  };
  const Operand x = three(t.x, turn_x), y = three(t.weights, turn_y);
  const fb::DType sum = x.type == fb::DType::BF16 ? fb::DType::FP32 : sum_of(x.type);
  Operand z = w.op(fb::Op::MATMUL, {x, y, w.zero(x.type, t.x_zero), w.zero(y.type, t.w_zero)}, sum, {batch, x.dims[1], y.dims[2]});
  return w.reshape(x.type == fb::DType::BF16 ? w.cast(z, fb::DType::BF16) : z, out);
}

}  // namespace mote::emit::tosa
