// Convolutions and matrix products: integers into sums of 32 bits (48 for INT16), floats into their own type.

#include <algorithm>

#include "mote/compiler/frontends/tosa/op.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_conv_transpose/q_conv_transpose.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::frontends::tosa {
namespace {

struct Geometry {
  int spatial = 2;
  int32_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, begin[3] = {}, end[3] = {};
  int32_t groups = 1;
};

template <class T>
bool read_geometry(Op& op, const T& from, int spatial, Geometry* g) {
  int32_t pad[6] = {};
  const uint32_t n = static_cast<uint32_t>(spatial);
  g->spatial = spatial;
  if (!op.list(from.stride(), "stride", n, 1, g->stride) || !op.list(from.dilation(), "dilation", n, 1, g->dilation) ||
      !op.list(from.pad(), "pad", 2 * n, 0, pad))
    return false;
  for (int i = 0; i < spatial; ++i) g->begin[i] = pad[2 * i], g->end[i] = pad[2 * i + 1];
  return true;
}

template <class A>
void set_window(const Geometry& g, A* a) {
  std::copy_n(g.stride, 3, a->strides);
  std::copy_n(g.dilation, 3, a->dilations);
  std::copy_n(g.begin, 3, a->pads_begin);
  std::copy_n(g.end, 3, a->pads_end);
  a->groups = g.groups;
}

// What a convolution takes, checked.
struct Operands {
  Value *x = nullptr, *weights = nullptr, *bias = nullptr;
  int64_t x_zero = 0, w_zero = 0;
};

bool read_operands(Op& op, int spatial, Operands* o) {
  o->x = op.value(0);
  o->weights = op.value(1);
  o->bias = op.value(2);
  o->x_zero = op.zero(3, "input_zp");
  o->w_zero = op.zero(4, "weight_zp");
  if (!op.ok()) return false;
  if (rank_of(o->x) != spatial + 2 || rank_of(o->weights) != spatial + 2 || rank_of(o->bias) != 1)
    op.fail("expected an input and weights of rank " + std::to_string(spatial + 2) + " and a bias of rank 1");
  const DType x = o->x->type.dtype, w = o->weights->type.dtype;
  if (is_float(x) ? w != x : (x != DType::s8 && x != DType::s16) || w != DType::s8)
    op.fail("expected INT8 or INT16 with INT8 or INT4 weights, or floats of one type, found " + describe(op.in(0)) + " and " +
            describe(op.in(1)));
  return op.ok();
}

Value* whole_bias(Op& op, Value* bias, int32_t channels) {
  return bias != nullptr && bias->type.dims == Dims{1} && channels != 1 ? op.expand(bias, {channels}) : bias;
}

// Weights (O, kernel, C / groups).
template <class Float, class Quant>
Value* convolve(Op& op, const Operands& o, const Geometry& g, OpId float_op, OpId quant_op) {
  if (!op.ok() || o.weights == nullptr) return nullptr;
  const int32_t channels = o.weights->type.dims[0];
  if (is_float(o.x->type.dtype)) {
    Float a;
    set_window(g, &a);
    return op.b.op(float_op, a, {o.x, o.weights, whole_bias(op, o.bias, channels)});
  }
  Quant q;
  set_window(g, &q);
  q.to = static_cast<uint32_t>(DType::s32);
  q.input_zero = static_cast<int32_t>(std::clamp<int64_t>(o.x_zero, INT32_MIN, INT32_MAX));
  q.weight_zero = static_cast<int32_t>(std::clamp<int64_t>(o.w_zero, INT32_MIN, INT32_MAX));
  if (o.x->type.dtype == DType::s8) return op.b.op(quant_op, q, {o.x, o.weights, o.bias});
  // 48-bit sums: few products fit 32 bits, many are exact in doubles.
  const int64_t products = o.weights->type.count() / std::max(1, channels);
  Value* sums;
  if (products <= (o.w_zero == 0 ? 511 : 256) && o.x_zero == 0) {
    sums = op.cast(op.b.op(quant_op, q, {o.x, o.weights}), DType::s64);
  } else {
    Float a;
    set_window(g, &a);
    const auto real = [&](Value* v, int64_t zero) {
      return op.op(OpId::sub, {op.cast(v, DType::f64), op.number(static_cast<double>(zero), DType::f64)});
    };
    sums = op.cast(op.b.op(float_op, a, {real(o.x, o.x_zero), real(o.weights, o.w_zero)}), DType::s64);
  }
  return op.add(sums, o.bias);
}

Value* forward(Op& op, const Operands& o, const Geometry& g) {
  return convolve<ops::conv::Attrs, ops::q_conv::Attrs>(op, o, g, OpId::conv, OpId::q_conv);
}

}  // namespace

void import_conv2d(Op& op) {
  Operands o;
  Geometry g;
  if (read_operands(op, 2, &o) && read_geometry(op, op.attributes<fb::Conv2dAttribute>(), 2, &g)) op.set(forward(op, o, g));
}

void import_conv3d(Op& op) {
  Operands o;
  Geometry g;
  if (read_operands(op, 3, &o) && read_geometry(op, op.attributes<fb::Conv3dAttribute>(), 3, &g)) op.set(forward(op, o, g));
}

// Weights (H, W, C, M) to (C * M, H, W, 1).
void import_depthwise_conv2d(Op& op) {
  Operands o;
  Geometry g;
  if (!read_operands(op, 2, &o) || !read_geometry(op, op.attributes<fb::DepthwiseConv2dAttribute>(), 2, &g)) return;
  const Dims w = o.weights->type.dims;
  if (w[2] < 1 || !o.weights->type.is_static()) return op.fail("expected weights (H, W, C, M) of a fixed size");
  g.groups = w[2];
  o.weights = op.reshape(op.transpose(o.weights, {2, 3, 0, 1}), {int64_t{w[2]} * w[3], w[0], w[1], 1});
  op.set(forward(op, o, g));
}

// out_pad is added to the output, or cut off where it is negative.
void import_transpose_conv2d(Op& op) {
  const auto& a = op.attributes<fb::TransposeConv2dAttribute>();
  Operands o;
  Geometry g;
  int32_t pad[4] = {};
  if (!read_operands(op, 2, &o) || !op.list(a.stride(), "stride", 2, 1, g.stride) ||
      !op.list(a.out_pad(), "out_pad", 4, INT32_MIN + 1, pad))
    return;
  std::vector<int64_t> before(4, 0), after(4, 0);
  bool padded = false;
  for (size_t i = 0; i < 2; ++i) {
    g.begin[i] = std::max(0, -pad[2 * i]);
    g.end[i] = std::max(0, -pad[2 * i + 1]);
    before[i + 1] = std::max(0, pad[2 * i]);
    after[i + 1] = std::max(0, pad[2 * i + 1]);
    padded = padded || pad[2 * i] > 0 || pad[2 * i + 1] > 0;
  }
  Value* bias = whole_bias(op, o.bias, o.weights->type.dims[0]);
  // The bias counts in what is added too: it comes last there.
  if (padded) o.bias = op.ok() ? op.number(0, bias) : nullptr;
  if (padded) o.bias = op.expand(o.bias, {o.weights->type.dims[0]});
  Value* y = convolve<ops::conv_transpose::Attrs, ops::q_conv_transpose::Attrs>(op, o, g, OpId::conv_transpose, OpId::q_conv_transpose);
  op.set(padded ? op.add(op.pad(y, before, after), bias) : y);
}

// (N, H, C) by (N, C, W).
void import_matmul(Op& op) {
  Value *x = op.value(0), *y = op.value(1);
  const int64_t x_zero = op.zero(2, "a_zp"), y_zero = op.zero(3, "b_zp");
  if (!op.ok()) return;
  const DType t = x->type.dtype;
  if (rank_of(x) != 3 || rank_of(y) != 3 || y->type.dtype != t || (!is_float(t) && t != DType::s8 && t != DType::s16))
    return op.fail("expected two tensors of rank 3 of floats, INT8 or INT16, found " + describe(op.in(0)) + " and " + describe(op.in(1)));
  if (is_float(t)) {
    const DType to = op.out().dtype == DType::f32 ? DType::f32 : t;
    return op.set(op.matmul(op.cast(x, to), op.cast(y, to)));
  }
  if (t == DType::s8) {
    ops::q_matmul::Attrs a;
    a.to = static_cast<uint32_t>(DType::s32);
    a.input_zero = static_cast<int32_t>(std::clamp<int64_t>(x_zero, INT32_MIN, INT32_MAX));
    a.weight_zero = static_cast<int32_t>(std::clamp<int64_t>(y_zero, INT32_MIN, INT32_MAX));
    Value* columns = op.transpose(y, {0, 2, 1});
    if (op.ok()) op.set(op.b.op(OpId::q_matmul, a, {x, columns}));
    return;
  }
  const auto wide = [&](Value* v, int64_t zero) {
    v = op.cast(v, DType::s64);
    return zero == 0 ? v : op.sub(v, op.number(static_cast<double>(zero), DType::s64));
  };
  op.set(op.matmul(wide(x, x_zero), wide(y, y_zero)));
}

}  // namespace mote::frontends::tosa
