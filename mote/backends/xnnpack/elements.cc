// Element-wise operators and softmax.

#include <algorithm>
#include <limits>

#include "mote/backends/xnnpack/operators.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/div/div.h"
#include "mote/ops/elu/elu.h"
#include "mote/ops/leaky_relu/leaky_relu.h"
#include "mote/ops/softmax/softmax.h"

namespace mote::backends::xnnpack {
namespace {

using CreateUnary = decltype(Api::xnn_create_abs_nc_f32);
using SetupUnary = decltype(Api::xnn_setup_abs_nc_f32);
struct Unary {
  OpId op;
  CreateUnary Api::*create;
  SetupUnary Api::*setup;
};
#define MOTE_UNARY(op, name) \
  { OpId::op, &Api::xnn_create_##name##_nc_f32, &Api::xnn_setup_##name##_nc_f32 }
const Unary kUnary[] = {MOTE_UNARY(abs, abs),          MOTE_UNARY(neg, negate),
                        MOTE_UNARY(ceil, ceiling),     MOTE_UNARY(floor, floor),
                        MOTE_UNARY(trunc, truncation), MOTE_UNARY(round, bankers_rounding),
                        MOTE_UNARY(sqrt, square_root), MOTE_UNARY(square, square),
                        MOTE_UNARY(sigmoid, sigmoid),  MOTE_UNARY(hard_swish, hardswish)};
#undef MOTE_UNARY

const Unary* find_unary(OpId op) {
  for (const Unary& u : kUnary)
    if (u.op == op) return &u;
  return nullptr;
}

using SetupBinary = decltype(Api::xnn_setup_add_nd_f32);
using CreateClamped = decltype(Api::xnn_create_add_nd_f32);
using CreateFree = decltype(Api::xnn_create_maximum_nd_f32);
struct Binary {
  OpId op;
  CreateClamped Api::*clamped;  // or free
  CreateFree Api::*free;
  SetupBinary Api::*setup;
};
const Binary kBinary[] = {
    {OpId::add, &Api::xnn_create_add_nd_f32, nullptr, &Api::xnn_setup_add_nd_f32},
    {OpId::sub, &Api::xnn_create_subtract_nd_f32, nullptr, &Api::xnn_setup_subtract_nd_f32},
    {OpId::mul, &Api::xnn_create_multiply_nd_f32, nullptr, &Api::xnn_setup_multiply_nd_f32},
    {OpId::div, &Api::xnn_create_divide_nd_f32, nullptr, &Api::xnn_setup_divide_nd_f32},
    {OpId::maximum, nullptr, &Api::xnn_create_maximum_nd_f32, &Api::xnn_setup_maximum_nd_f32},
    {OpId::minimum, nullptr, &Api::xnn_create_minimum_nd_f32, &Api::xnn_setup_minimum_nd_f32},
    {OpId::squared_difference, nullptr, &Api::xnn_create_squared_difference_nd_f32, &Api::xnn_setup_squared_difference_nd_f32},
};

std::vector<size_t> shape_of(const Operand& o) {
  std::vector<size_t> shape(o.dims, o.dims + o.rank);
  if (shape.empty()) shape.push_back(1);
  return shape;
}

// A bound of clip, which a constant may replace. False when it is computed.
bool bound(const OpView& op, size_t i, float* out) {
  if (!op.has(i)) return true;
  if (op.inputs[i].data == nullptr || op.inputs[i].dtype != DType::f32) return false;
  if (op.inputs[i].count() > 0) *out = *static_cast<const float*>(op.inputs[i].data);
  return true;
}

// Runs `setup` where the creation went well.
template <class F>
void finish(Session* s, xnn_status created, xnn_operator_t op, const F& setup) {
  s->add(created, op);
  if (created == xnn_status_success) s->check(setup(op));
}

}  // namespace

bool add_unary(Session* s, OpId op, size_t count, const float* in, float* out) {
  const Unary* u = find_unary(op);
  if (u == nullptr) return false;
  xnn_operator_t x = nullptr;
  const xnn_status created = (s->xnn.*u->create)(count, count, count, 0, &x);
  finish(s, created, x, [&](xnn_operator_t o) { return (s->xnn.*u->setup)(o, 1, in, out, s->xnn.threads); });
  return true;
}

void add_clamp(Session* s, size_t count, const float* in, float* out, float least, float most) {
  xnn_operator_t x = nullptr;
  const xnn_status created = s->xnn.xnn_create_clamp_nc_f32(count, count, count, least, most, 0, &x);
  finish(s, created, x, [&](xnn_operator_t o) { return s->xnn.xnn_setup_clamp_nc_f32(o, 1, in, out, s->xnn.threads); });
}

void add_leaky(Session* s, size_t count, const float* in, float* out, float slope) {
  xnn_operator_t x = nullptr;
  const xnn_status created = s->xnn.xnn_create_leaky_relu_nc_f32(count, count, count, slope, 0, &x);
  finish(s, created, x, [&](xnn_operator_t o) { return s->xnn.xnn_setup_leaky_relu_nc_f32(o, 1, in, out, s->xnn.threads); });
}

void add_elu(Session* s, size_t count, const float* in, float* out, float alpha) {
  xnn_operator_t x = nullptr;
  const xnn_status created = s->xnn.xnn_create_elu_nc_f32(count, count, count, alpha, 0, &x);
  finish(s, created, x, [&](xnn_operator_t o) { return s->xnn.xnn_setup_elu_nc_f32(o, 1, in, out, s->xnn.threads); });
}

const char* add_binary(Session* s, OpId op, const Operand& a, const Operand& b, const float* a_at, const float* b_at, float* out,
                       float least, float most) {
  if (a.rank > kMostDims || b.rank > kMostDims) return "more than six dimensions";
  for (const Binary& k : kBinary) {
    if (k.op != op) continue;
    if (s == nullptr) return nullptr;
    const std::vector<size_t> left = shape_of(a), right = shape_of(b);
    xnn_operator_t x = nullptr;
    const xnn_status created = k.clamped != nullptr ? (s->xnn.*k.clamped)(least, most, 0, &x) : (s->xnn.*k.free)(0, &x);
    finish(s, created, x, [&](xnn_operator_t o) {
      return (s->xnn.*k.setup)(o, left.size(), left.data(), right.size(), right.data(), a_at, b_at, out, s->xnn.threads);
    });
    return nullptr;
  }
  return "it has no kernel there";
}

const char* lower_unary(const OpView& op, Session* s) {
  const auto id = static_cast<OpId>(op.op);
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  float least = 0, most = kInfinity;
  if (id == OpId::clip) {
    const auto& a = op.attributes<ops::clip::Attrs>();
    least = a.lo, most = a.hi;
    if (!bound(op, 1, &least) || !bound(op, 2, &most)) return "its bounds are computed";
    if (!(least < most)) return "bounds that leave one value or none";
  }
  const bool leaky = id == OpId::leaky_relu, elu = id == OpId::elu, clamp = id == OpId::relu || id == OpId::clip;
  const float slope = leaky ? op.attributes<ops::leaky_relu::Attrs>().negative_slope : 1;
  if (!(slope > 0) || slope == kInfinity) return "a slope that is not above 0";
  const ops::elu::Attrs e = elu ? op.attributes<ops::elu::Attrs>() : ops::elu::Attrs{};
  if (e.scale != 1 || e.input_scale != 1 || !(e.alpha > 0) || e.alpha == kInfinity) return "scales besides alpha";
  if (!leaky && !elu && !clamp && find_unary(id) == nullptr) return "it has no kernel there";
  if (s == nullptr) return nullptr;
  const auto count = static_cast<size_t>(x.count());
  const float* in = s->at(x);
  float* out = s->at(y);
  if (leaky) add_leaky(s, count, in, out, slope);
  else if (elu) add_elu(s, count, in, out, e.alpha);
  else if (clamp) add_clamp(s, count, in, out, least, most);
  else add_unary(s, id, count, in, out);
  return nullptr;
}

const char* lower_binary(const OpView& op, Session* s) {
  const Operand &a = op.inputs[0], &b = op.inputs[1];
  const auto id = static_cast<OpId>(op.op);
  if (id == OpId::div && op.attributes<ops::div::Attrs>().rounding != 0) return "a quotient that is rounded";
  if (id != OpId::prelu)
    return add_binary(s, id, a, b, s != nullptr ? s->at(a) : nullptr, s != nullptr ? s->at(b) : nullptr,
                      s != nullptr ? s->at(op.outputs[0]) : nullptr, -kInfinity, kInfinity);
  if (b.data == nullptr || a.rank == 0 || b.count() != a.dim(-1) || (b.rank > 0 && b.dim(-1) != a.dim(-1)) ||
      a.count() != op.outputs[0].count())
    return "slopes that are not one constant per channel";
  if (s == nullptr) return nullptr;
  const auto channels = static_cast<size_t>(a.dim(-1)), rows = static_cast<size_t>(a.count()) / channels;
  xnn_operator_t x = nullptr;
  const xnn_status created = s->xnn.xnn_create_prelu_nc_f32(channels, channels, channels, s->at(b), 0, &x);
  finish(s, created, x,
         [&](xnn_operator_t o) { return s->xnn.xnn_setup_prelu_nc_f32(o, rows, s->at(a), s->at(op.outputs[0]), s->xnn.threads); });
  return nullptr;
}

const char* lower_softmax(const OpView& op, Session* s) {
  const Operand& x = op.inputs[0];
  const int32_t axis = op.attributes<ops::softmax::Attrs>().axis;
  if (op.op != static_cast<uint16_t>(OpId::softmax)) return "it has no kernel there";
  if (x.rank == 0 || (axis != -1 && axis != x.rank - 1)) return "an axis that is not the last";
  if (s == nullptr) return nullptr;
  const auto channels = static_cast<size_t>(x.dim(-1)), rows = static_cast<size_t>(x.count()) / channels;
  xnn_operator_t o = nullptr;
  const xnn_status created = s->xnn.xnn_create_softmax_nc_f32(channels, channels, channels, 0, &o);
  finish(s, created, o,
         [&](xnn_operator_t k) { return s->xnn.xnn_setup_softmax_nc_f32(k, rows, s->at(x), s->at(op.outputs[0]), s->xnn.threads); });
  return nullptr;
}

}  // namespace mote::backends::xnnpack
