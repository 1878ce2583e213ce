// Convolutions, products with constant weights, pools, means of planes.

#include <algorithm>
#include <limits>

#include "mote/backends/common/op_context.h"
#include "mote/backends/common/window.h"
#include "mote/backends/xnnpack/operators.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/max_pool/max_pool.h"

namespace mote::backends::xnnpack {
namespace {

using ops::Activation;

uint32_t u(int64_t n) { return static_cast<uint32_t>(n); }
size_t z(int64_t n) { return static_cast<size_t>(n); }

// Null and *f, or why the activation cannot be had.
template <class A>
const char* finish_of(const OpView& op, const A& a, Finish* f) {
  *f = {-kInfinity, kInfinity};
  switch (static_cast<Activation>(a.activation)) {
    case Activation::kNone: return nullptr;
    case Activation::kClamp:
      f->least = a.act_a, f->most = a.act_b;
      return a.act_a < a.act_b ? nullptr : "bounds that leave one value or none";
    case Activation::kRelu: f->least = 0; return nullptr;
    case Activation::kRelu6: f->least = 0, f->most = 6; return nullptr;
    case Activation::kLeaky:
    case Activation::kElu: f->more = true; return a.act_a > 0 && a.act_a < kInfinity ? nullptr : "a slope that is not above 0";
    case Activation::kSigmoid:
    case Activation::kSilu:
    case Activation::kHardSwish: f->more = true; return nullptr;
    default: return op.outputs.empty() ? "no output" : "an activation the library has not";
  }
}

// Where the sums go: memory of their own where the residual lies in the output's, which it may.
float* sums_of(const OpView& op, Session* s) {
  const Place &y = op.outputs[0].place, r = op.has(3) ? op.inputs[3].place : Place{};
  const bool shared = op.has(3) && op.inputs[3].data == nullptr && r.buffer == y.buffer && r.offset == y.offset;
  return shared ? s->memory(z(op.outputs[0].count())) : s->at(op.outputs[0]);
}

// Residual, then activation: from the sums to the output.
template <class A>
void add_finish(const OpView& op, const A& a, const Finish& f, const float* sums, Session* s) {
  const Operand& y = op.outputs[0];
  float* at = s->at(y);
  const size_t count = z(y.count());
  if (op.has(3)) (void)add_binary(s, OpId::add, y, op.inputs[3], sums, s->at(op.inputs[3]), at, f.least, f.most);
  if (!f.more) return;
  switch (static_cast<Activation>(a.activation)) {
    case Activation::kLeaky: add_leaky(s, count, at, at, a.act_a); break;
    case Activation::kElu: add_elu(s, count, at, at, a.act_a); break;
    case Activation::kSigmoid: add_unary(s, OpId::sigmoid, count, at, at); break;
    case Activation::kHardSwish: add_unary(s, OpId::hard_swish, count, at, at); break;
    default: {
      float* sigmoid = s->memory(count);
      add_unary(s, OpId::sigmoid, count, at, sigmoid);
      (void)add_binary(s, OpId::mul, y, y, at, sigmoid, at, -kInfinity, kInfinity);
    }
  }
}

const char* check_weights(const OpView& op) {
  const Operand& w = op.inputs[1];
  if (w.data == nullptr) return "its weights are not constant";
  if ((w.dtype != DType::f32 && w.dtype != DType::f16) || op.has(4)) return "weights in another type than f32 and f16";
  if (op.has(2) && op.inputs[2].data == nullptr) return "its bias is not constant";
  if (op.has(2) && (op.inputs[2].dtype != DType::f32 || op.inputs[2].count() != op.outputs[0].dim(-1))) return "a bias of another kind";
  if (op.has(3) && op.inputs[3].count() != op.outputs[0].count()) return "a residual of another size";
  return nullptr;
}

// One dimension of a window, in 64 bits: the products of a program's numbers need them.
struct Axis {
  int64_t in, out, kernel, stride, dilation, begin;
  int64_t span() const { return (kernel - 1) * dilation + 1; }
  // Padding at the end that gives as many outputs as there are; windows beyond it, which rounding up adds, are padding to the library.
  int64_t end() const { return std::max<int64_t>(0, (out - 1) * stride + span() - in - begin); }
  // What a transposed one would give without padding at the end.
  int64_t full() const { return (in - 1) * stride + span() - begin; }
  // How many outputs the library writes, which are to be those there are.
  bool exact() const { return std::max<int64_t>(0, in + begin + end() - span()) / stride + 1 == out; }
};

constexpr int64_t kMostTaps = int64_t{1} << 28;  // of all windows of a call: the library keeps a pointer for each
constexpr int64_t kMostReach = 1 << 20;          // of a window, a step, a padding: the library counts in 32 bits

const char* axes_of(const Window2d& p, Axis* h, Axis* w) {
  *h = {p.in_h, p.out_h, p.kernel_h, p.stride_h, p.dilation_h, p.pad_h};
  *w = {p.in_w, p.out_w, p.kernel_w, p.stride_w, p.dilation_w, p.pad_w};
  for (const Axis* a : {h, w})
    if (a->kernel < 1 || a->stride < 1 || a->dilation < 1 || a->begin < 0 || a->span() > kMostReach || a->stride > kMostReach ||
        a->begin > kMostReach || a->end() > kMostReach)
      return "a window it cannot count";
  if (h->kernel > kMostTaps / w->kernel || h->out * w->out > kMostTaps / (h->kernel * w->kernel)) return "more windows than it can list";
  return nullptr;
}

template <class A>
const char* lower_window(const OpView& op, Session* s, bool transposed) {
  const A& a = op.attributes<A>();
  const Operand &x = op.inputs[0], &w = op.inputs[1];
  if (x.rank != 3 && x.rank != 4) return "three spatial dimensions";
  if (const char* why = check_weights(op)) return why;
  Finish f{};
  if (const char* why = finish_of(op, a, &f)) return why;
  const Window2d p = window_of(op, a, w.dims + 1);
  Axis h{}, v{};
  if (const char* why = axes_of(p, &h, &v)) return why;
  if (!transposed && !(h.exact() && v.exact())) return "padding that cuts off";
  const int32_t depth = p.in_c / a.groups;
  // Of a transposed one: less than without padding at the end is cut off, more is added.
  const int64_t more_h = transposed ? h.out - h.full() : 0, more_w = transposed ? v.out - v.full() : 0;
  if (more_h >= p.stride_h || more_w >= p.stride_w) return "output padding of a stride or more";
  if (std::min(more_h, more_w) < -kMostReach) return "a window it cannot count";
  if (s == nullptr) return nullptr;
  const std::vector<float> weights = plain_weights(w, p.out_c, p.kernel_h * p.kernel_w * depth);
  const float* bias = op.has(2) ? static_cast<const float*>(op.inputs[2].data) : nullptr;
  const bool last = !op.has(3) && !f.more;
  const float least = last ? f.least : -kInfinity, most = last ? f.most : kInfinity;
  xnn_operator_t o = nullptr;
  const auto create = transposed ? s->xnn.xnn_create_deconvolution2d_nhwc_f32 : s->xnn.xnn_create_convolution2d_nhwc_f32;
  const xnn_status made =
      create(u(p.pad_h), u(transposed ? std::max<int64_t>(0, -more_w) : v.end()), u(transposed ? std::max<int64_t>(0, -more_h) : h.end()),
             u(p.pad_w), u(p.kernel_h), u(p.kernel_w), u(p.stride_h), u(p.stride_w), u(p.dilation_h), u(p.dilation_w), u(a.groups),
             z(depth), z(p.out_c / a.groups), z(p.in_c), z(p.out_c), weights.data(), bias, least, most, 0, &o);
  s->add(made, o);
  if (made != xnn_status_success) return nullptr;
  const float* in = s->at(x);
  float* out = sums_of(op, s);
  if (transposed)
    s->check(s->xnn.xnn_setup_deconvolution2d_nhwc_f32(o, z(p.batch), z(p.in_h), z(p.in_w), u(std::max<int64_t>(0, more_h)),
                                                       u(std::max<int64_t>(0, more_w)), in, out, s->xnn.threads));
  else s->check(s->xnn.xnn_setup_convolution2d_nhwc_f32(o, z(p.batch), z(p.in_h), z(p.in_w), in, out, s->xnn.threads));
  add_finish(op, a, f, out, s);
  return nullptr;
}

template <class A>
const char* pool_geometry(const OpView& op, const A& a, Window2d* p, int32_t* end_h, int32_t* end_w) {
  if (op.inputs[0].rank != 3 && op.inputs[0].rank != 4) return "three spatial dimensions";
  *p = window_of(op, a, a.kernel);
  Axis h{}, v{};
  if (const char* why = axes_of(*p, &h, &v)) return why;
  if (h.kernel * v.kernel < 2) return "windows of one element";
  if (!h.exact() || !v.exact()) return "padding that cuts off";
  if (h.begin >= h.span() || h.end() >= h.span() || v.begin >= v.span() || v.end() >= v.span()) return "windows in the padding alone";
  *end_h = static_cast<int32_t>(h.end());
  *end_w = static_cast<int32_t>(v.end());
  if (p->stride_h > p->kernel_h || p->stride_w > p->kernel_w) return "strides beyond the window";
  return nullptr;
}

}  // namespace

const char* lower_conv(const OpView& op, Session* s) {
  const bool transposed = op.op == static_cast<uint16_t>(OpId::conv_transpose);
  return transposed ? lower_window<ops::conv_transpose::Attrs>(op, s, true) : lower_window<ops::conv::Attrs>(op, s, false);
}

const char* lower_product(const OpView& op, Session* s) {
  const auto& a = op.attributes<ops::matmul::Attrs>();
  const Operand &w = op.inputs[1], &y = op.outputs[0];
  if (w.data == nullptr || w.rank != 2 || a.transpose_b != 1 || a.transpose_a != 0) return "its second matrix is not constant, as (N, K)";
  if (const char* why = check_weights(op)) return why;
  const int32_t n = w.dims[0], k = w.dims[1];
  if (op.has(2) && (op.inputs[2].count() != n || op.inputs[2].dim(-1) != n)) return "a bias that is not one value per column";
  Finish f{};
  if (const char* why = finish_of(op, a, &f)) return why;
  if (s == nullptr) return nullptr;
  std::vector<float> weights = plain_weights(w, n, k);
  for (float& v : weights) v *= a.alpha;
  const bool last = !op.has(3) && !f.more;
  xnn_operator_t o = nullptr;
  const xnn_status made = s->xnn.xnn_create_fully_connected_nc_f32(z(k), z(n), z(k), z(n), weights.data(),
                                                                   op.has(2) ? static_cast<const float*>(op.inputs[2].data) : nullptr,
                                                                   last ? f.least : -kInfinity, last ? f.most : kInfinity, 0, &o);
  s->add(made, o);
  if (made != xnn_status_success) return nullptr;
  float* out = sums_of(op, s);
  s->check(s->xnn.xnn_setup_fully_connected_nc_f32(o, z(y.count() / n), s->at(op.inputs[0]), out, s->xnn.threads));
  add_finish(op, a, f, out, s);
  return nullptr;
}

const char* lower_pool(const OpView& op, Session* s) {
  const bool largest = op.op == static_cast<uint16_t>(OpId::max_pool);
  if (op.outputs.size() > 1 && op.outputs[1].present) return "indices as an output";
  Window2d p{};
  int32_t end_h = 0, end_w = 0;
  if (largest) {
    if (const char* why = pool_geometry(op, op.attributes<ops::max_pool::Attrs>(), &p, &end_h, &end_w)) return why;
  } else {
    const auto& a = op.attributes<ops::avg_pool::Attrs>();
    if (const char* why = pool_geometry(op, a, &p, &end_h, &end_w)) return why;
    if (a.divisor_override != 0) return "a divisor of its own";
    if (a.count_include_pad != 0 && p.pad_h + p.pad_w + end_h + end_w > 0) return "padding that counts";
    if (p.dilation_h != 1 || p.dilation_w != 1) return "means over dilated windows";
  }
  if (s == nullptr) return nullptr;
  const size_t c = z(p.in_c);
  const float* in = s->at(op.inputs[0]);
  float* out = s->at(op.outputs[0]);
  xnn_operator_t o = nullptr;
  const xnn_status made =
      largest ? s->xnn.xnn_create_max_pooling2d_nhwc_f32(u(p.pad_h), u(end_w), u(end_h), u(p.pad_w), u(p.kernel_h), u(p.kernel_w),
                                                         u(p.stride_h), u(p.stride_w), u(p.dilation_h), u(p.dilation_w), c, c, c,
                                                         -kInfinity, kInfinity, 0, &o)
              : s->xnn.xnn_create_average_pooling2d_nhwc_f32(u(p.pad_h), u(end_w), u(end_h), u(p.pad_w), u(p.kernel_h), u(p.kernel_w),
                                                             u(p.stride_h), u(p.stride_w), c, c, c, -kInfinity, kInfinity, 0, &o);
  s->add(made, o);
  if (made != xnn_status_success) return nullptr;
  const auto setup = largest ? s->xnn.xnn_setup_max_pooling2d_nhwc_f32 : s->xnn.xnn_setup_average_pooling2d_nhwc_f32;
  s->check(setup(o, z(p.batch), z(p.in_h), z(p.in_w), in, out, s->xnn.threads));
  return nullptr;
}

const char* lower_mean(const OpView& op, Session* s) {
  const Operand& x = op.inputs[0];
  if (op.has(1) && op.inputs[1].data == nullptr) return "its axes are known only when running";
  uint32_t mask = 0;
  int64_t bad = 0;
  const ContextOf context(op);
  if (!ops::reduced_axes(op.attributes<ops::ReduceAttrs>(), x.rank, op.has(1) ? &context.get().input(1) : nullptr, &mask, &bad))
    return "an axis it does not have";
  const uint32_t planes = x.rank >= 3 ? ((1u << x.rank) - 1) & ~1u & ~(1u << (x.rank - 1)) : 0;
  if (x.rank < 3 || mask != planes) return "a mean of something else than planes";
  if (s == nullptr) return nullptr;
  const size_t c = z(x.dim(-1)), batch = z(x.dims[0]);
  xnn_operator_t o = nullptr;
  const xnn_status made = s->xnn.xnn_create_global_average_pooling_nwc_f32(c, c, c, -kInfinity, kInfinity, 0, &o);
  s->add(made, o);
  if (made == xnn_status_success)
    s->check(s->xnn.xnn_setup_global_average_pooling_nwc_f32(o, batch, z(x.count()) / c / batch, s->at(x), s->at(op.outputs[0]),
                                                             s->xnn.threads));
  return nullptr;
}

}  // namespace mote::backends::xnnpack
