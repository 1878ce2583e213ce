#include "mote/compiler/emit/tosa/match.h"

#include <cstring>

#include "mote/compiler/ir/infer.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/q_conv/q_conv.h"

namespace mote::emit::tosa {
namespace {

const Node* made_by(const Value* v, OpId id) {
  return v != nullptr && v->producer != nullptr && v->producer->is(id) ? v->producer : nullptr;
}

bool constants(const Value* v, std::vector<int64_t>* out) { return v != nullptr && v->is_constant() && ir::known_ints(*v, out); }

bool scalar(const Value* v, int64_t* out) {
  std::vector<int64_t> all;
  if (!constants(v, &all) || all.size() != 1) return false;
  *out = all[0];
  return true;
}

// v is `id` of something and constants; the something.
const Value* with_constants(const Value* v, OpId id, std::vector<int64_t>* out) {
  const Node* n = made_by(v, id);
  if (n == nullptr) return nullptr;
  if (constants(n->inputs[1], out)) return n->inputs[0];
  return (id == OpId::add || id == OpId::mul) && constants(n->inputs[0], out) ? n->inputs[1] : nullptr;
}

const Value* with_scalar(const Value* v, OpId id, int64_t* out) {
  std::vector<int64_t> all;
  const Value* x = with_constants(v, id, &all);
  if (x == nullptr || all.size() != 1) return nullptr;
  *out = all[0];
  return x;
}

const Value* without_cast(const Value* v) {
  const Node* n = made_by(v, OpId::cast);
  return n != nullptr && v->type.dtype == DType::s64 ? n->inputs[0] : v;
}

// y = clamp((x - in_zero) * multiplier + half >> shift) + out_zero).
struct Scaling {
  const Value* x = nullptr;
  const Value* factor = nullptr;  // MUL: the second operand in place of multipliers
  std::vector<int64_t> multiplier, shift;
  Dims dims;  // of the multipliers
  int64_t in_zero = 0, out_zero = 0, lo = INT64_MIN, hi = INT64_MAX;
  bool twice = false;
};

// where(v < 0, sum - up, sum + up), of rounding twice.
const Value* without_second_rounding(const Value* v, Scaling* s) {
  const Node* n = made_by(v, OpId::where);
  if (n == nullptr) return v;
  std::vector<int64_t> up, down;
  const Value *more = with_constants(n->inputs[2], OpId::add, &up), *less = with_constants(n->inputs[1], OpId::sub, &down);
  s->twice = true;
  return more == less && up == down ? more : nullptr;
}

bool match_scaling(const Node& root, Scaling* s) {
  if (!root.is(OpId::cast) || root.inputs[0]->type.dtype != DType::s64) return false;
  const Value* v = root.inputs[0];
  int64_t bound = 0;
  if (const Value* inner = with_scalar(v, OpId::minimum, &bound)) {
    s->hi = bound;
    v = with_scalar(inner, OpId::maximum, &s->lo);
  }
  if (v != nullptr && made_by(v, OpId::add) != nullptr) v = with_scalar(v, OpId::add, &s->out_zero);
  if (v != nullptr) v = with_constants(v, OpId::shift_right, &s->shift);
  if (v != nullptr) v = without_second_rounding(v, s);
  std::vector<int64_t> half;
  if (v != nullptr) v = with_constants(v, OpId::add, &half);
  if (v == nullptr || half.size() != s->shift.size()) return false;
  for (size_t i = 0; i < half.size(); ++i)
    if (s->shift[i] < 1 || s->shift[i] > 62 || half[i] != int64_t{1} << (s->shift[i] - 1)) return false;
  const Node* product = made_by(v, OpId::mul);
  if (product == nullptr) return false;
  if (const Value* x = with_constants(v, OpId::mul, &s->multiplier)) {
    s->dims = product->inputs[x == product->inputs[0] ? 1 : 0]->type.dims;
    if (s->multiplier.size() != s->shift.size()) return false;
    if (const Value* inner = with_scalar(x, OpId::sub, &s->in_zero)) x = inner;
    s->x = without_cast(x);
    return true;
  }
  s->x = without_cast(product->inputs[0]);
  s->factor = without_cast(product->inputs[1]);
  return s->shift.size() == 1 && s->lo == INT64_MIN;
}

// --- averages ---

struct Average {
  const Value* x = nullptr;
  std::vector<int32_t> kernel, stride{1, 1}, pad{0, 0, 0, 0};
  int64_t in_zero = 0;
};

bool match_sums(const Value* sums, Average* a) {
  if (const Node* n = made_by(sums, OpId::q_conv)) {
    const auto attrs = n->attributes<ops::q_conv::Attrs>();
    const Value* ones = n->inputs[1];
    if (!ones->is_constant() || ones->type.rank() != 4 || attrs.groups != ones->type.dims[0] || n->input(2) != nullptr) return false;
    for (size_t i = 0; i < ones->data.size; ++i)
      if (ones->data.data[i] != 1) return false;
    a->x = n->inputs[0];
    a->kernel = {ones->type.dims[1], ones->type.dims[2]};
    a->stride = {attrs.strides[0], attrs.strides[1]};
    a->pad = {attrs.pads_begin[0], attrs.pads_end[0], attrs.pads_begin[1], attrs.pads_end[1]};
    a->in_zero = attrs.input_zero;
    return true;
  }
  const Node* n = made_by(sums, OpId::reduce_sum);
  if (n == nullptr) return false;
  const auto attrs = n->attributes<ops::ReduceAttrs>();
  if (attrs.axis_count != 2 || attrs.axes[0] != 1 || attrs.axes[1] != 2 || n->inputs[0]->type.rank() != 4) return false;
  const Value* x = n->inputs[0];
  if (const Value* inner = with_scalar(x, OpId::sub, &a->in_zero)) x = inner;
  const Node* cast = made_by(x, OpId::cast);
  if (cast == nullptr) return false;
  a->x = cast->inputs[0];
  a->kernel = {a->x->type.dims[1], a->x->type.dims[2]};
  return true;
}

// The multipliers are those of TOSA's reciprocal_scale for the positions that lie inside.
bool match_average(const Scaling& s, Average* a) {
  if (s.dims.size() != 3 || s.dims[2] != 1 || s.in_zero != 0 || s.twice || !match_sums(s.x, a)) return false;
  const DType t = a->x->type.dtype;
  if (t != DType::s8 && t != DType::s16) return false;
  const auto inside = [&](size_t i, int64_t o) {
    const int64_t first = o * a->stride[i] - a->pad[2 * i];
    return std::max<int64_t>(1, std::min<int64_t>(first + a->kernel[i], a->x->type.dims[i + 1]) - std::max<int64_t>(first, 0));
  };
  for (int32_t i = 0; i < s.dims[0]; ++i)
    for (int32_t j = 0; j < s.dims[1]; ++j) {
      const int64_t count = inside(0, i) * inside(1, j);
      const size_t at = static_cast<size_t>(i) * static_cast<size_t>(s.dims[1]) + static_cast<size_t>(j);
      int64_t k = 0;
      while (int64_t{1} << k < count) ++k;
      if (s.shift[at] != 30 + k || s.multiplier[at] != (((int64_t{1} << 30) + 1) << k) / count) return false;
    }
  return true;
}

void lower_average(Writer& w, const Node& root, const Scaling& s, const Average& a) {
  const Operand x = w.of(a.x);
  if (!w.ok()) return;
  const auto kind = fb::CreateAvgPool2dAttributeDirect(w.b, &a.kernel, &a.stride, &a.pad, fb::DType::INT32).Union();
  w.bind(root.outputs[0], w.op(fb::Op::AVG_POOL2D, fb::Attribute::AvgPool2dAttribute, kind,
                               {x, w.zero(x.type, static_cast<double>(a.in_zero)), w.zero(x.type, static_cast<double>(s.out_zero))}, x.type,
                               root.outputs[0]->type.dims));
}

// --- RESCALE, MUL ---

void lower_scaling(Writer& w, const Node& root, const Scaling& s) {
  const Operand x = w.of(s.x);
  const DType to = root.outputs[0]->type.dtype;
  const fb::DType type = type_of(to);
  const int64_t top = to == DType::s8    ? INT8_MAX
                      : to == DType::u8  ? UINT8_MAX
                      : to == DType::s16 ? INT16_MAX
                      : to == DType::u16 ? UINT16_MAX
                                         : INT32_MAX;
  const int64_t bottom = is_unsigned(to) ? 0 : -top - 1;
  const int32_t n = static_cast<int32_t>(s.shift.size());
  if (s.lo > bottom || s.hi < top) w.fail("RESCALE has the bounds of its type");
  if (n > 1 && s.dims != Dims{s.x->type.dims.empty() ? 0 : s.x->type.dims.back()}) w.fail("TOSA scales along the last dimension");
  bool scale32 = s.twice;
  for (const int64_t m : s.multiplier) scale32 = scale32 || m > INT16_MAX;
  if (scale32 && x.type == fb::DType::INT48) w.fail("RESCALE of INT48 has multipliers of 16 bits");
  if (!w.ok()) return;
  const auto mode = s.twice ? fb::RoundingMode::DOUBLE_ROUND : fb::RoundingMode::SINGLE_ROUND;
  const auto kind = fb::CreateRescaleAttribute(w.b, scale32, mode, n > 1, is_unsigned(s.x->type.dtype), is_unsigned(to)).Union();
  const auto stored = [&](int64_t zero, fb::DType t) {
    const int64_t limit = t == fb::DType::INT8 ? INT8_MAX : t == fb::DType::INT16 ? INT16_MAX : INT64_MAX;
    return w.zero(t, static_cast<double>(zero > limit ? zero - 2 * (limit + 1) : zero));
  };
  const Operand multiplier =
      w.numbers(scale32 ? fb::DType::INT32 : fb::DType::INT16, {n}, std::vector<double>(s.multiplier.begin(), s.multiplier.end()));
  const Operand shift = w.numbers(fb::DType::INT8, {n}, std::vector<double>(s.shift.begin(), s.shift.end()));
  w.bind(root.outputs[0], w.op(fb::Op::RESCALE, fb::Attribute::RescaleAttribute, kind,
                               {x, multiplier, shift, stored(s.in_zero, x.type), stored(s.out_zero, type)}, type, x.dims));
}

void lower_mul(Writer& w, const Node& root, const Scaling& s) {
  const int rank = root.outputs[0]->type.rank();
  const Operand x = w.of(s.x, rank), y = w.of(s.factor, rank);
  if (x.type != fb::DType::INT32 || y.type != fb::DType::INT32) w.fail("MUL shifts products of 32 bits");
  if (w.ok())
    w.bind(root.outputs[0], w.op(fb::Op::MUL, {x, y, w.zero(fb::DType::INT8, static_cast<double>(s.shift[0]))}, fb::DType::INT32,
                                 root.outputs[0]->type.dims));
}

// --- CLZ: cast(min(1054 - (bits of double(u32 x) >> 52), 32)) ---

const Value* match_clz(const Node& root) {
  int64_t most = 0, count = 0, top = 0;
  const Value* v = root.is(OpId::cast) ? with_scalar(root.inputs[0], OpId::minimum, &most) : nullptr;
  const Node* sub = made_by(v, OpId::sub);
  if (sub == nullptr || most != 32 || !scalar(sub->inputs[0], &top) || top != 1054) return nullptr;
  const Node* bits = made_by(with_scalar(sub->inputs[1], OpId::shift_right, &count), OpId::bitcast);
  const Node* real = bits == nullptr || count != 52 ? nullptr : made_by(bits->inputs[0], OpId::cast);
  const Node* whole = real == nullptr || real->outputs[0]->type.dtype != DType::f64 ? nullptr : made_by(real->inputs[0], OpId::bitcast);
  return whole != nullptr && whole->inputs[0]->type.dtype == DType::s32 ? whole->inputs[0] : nullptr;
}

// --- sums of 48 bits ---

// A product of matrices of INT16.
struct WideProduct {
  const Value *x = nullptr, *y = nullptr;
};

// Behind casts to 64 bits, one of them below a PAD of zeros.
const Value* without_pad(const Value* v, WideSums* s) {
  v = without_cast(v);
  const Node* n = made_by(v, OpId::pad);
  if (n == nullptr || n->input(2) != nullptr || v->type.rank() != 4) return v;
  const auto a = n->attributes<ops::pad::Attrs>();
  int64_t with = 0;
  if (a.mode != ops::pad::kConstant || a.value != 0.0f || (n->input(1) != nullptr && (!scalar(n->inputs[1], &with) || with != 0))) return v;
  for (size_t i = 0; i < 2; ++i) {
    s->before[i] = a.begin[i + 1];
    s->behind[i] = a.end[i + 1];
  }
  s->pad = n;
  return without_cast(n->inputs[0]);
}

// v is an integer that was made a double, less a zero point.
const Value* integer_of(const Value* v, DType type, double* zero) {
  const Node* sub = made_by(v, OpId::sub);
  std::vector<double> all;
  if (sub != nullptr && ir::known_floats(*sub->inputs[1], &all) && all.size() == 1) {
    *zero = all[0];
    v = sub->inputs[0];
  }
  const Node* cast = made_by(v, OpId::cast);
  return cast != nullptr && cast->inputs[0]->type.dtype == type ? cast->inputs[0] : nullptr;
}

bool match_wide_sums(const Node& root, WideSums* found) {
  if (!root.is(OpId::add) || root.outputs[0]->type.dtype != DType::s64) return false;
  for (size_t i = 0; i < 2; ++i) {
    WideSums s;
    s.bias = root.inputs[1 - i];
    const Value* v = without_pad(root.inputs[i], &s);
    s.product = v->producer;
    if (s.product == nullptr || s.product->input(2) != nullptr) continue;
    if (s.product->is(OpId::q_conv) || s.product->is(OpId::q_conv_transpose)) {
      s.x = s.product->inputs[0];
      s.weights = s.product->inputs[1];
      if (s.x->type.dtype != DType::s16 || s.product->outputs[0]->type.dtype != DType::s32) continue;
    } else if ((s.product->is(OpId::conv) || s.product->is(OpId::conv_transpose)) && s.product->outputs[0]->type.dtype == DType::f64) {
      s.x = integer_of(s.product->inputs[0], DType::s16, &s.x_zero);
      s.weights = integer_of(s.product->inputs[1], DType::s8, &s.w_zero);
      if (s.x == nullptr || s.weights == nullptr) continue;
    } else {
      continue;
    }
    if (s.pad != nullptr && !s.product->is(OpId::q_conv_transpose) && !s.product->is(OpId::conv_transpose)) continue;
    *found = s;
    return true;
  }
  return false;
}

bool match_wide_product(const Node& root, WideProduct* s) {
  if (!root.is(OpId::matmul) || root.outputs[0]->type.dtype != DType::s64 || root.input(2) != nullptr) return false;
  const auto a = root.attributes<ops::matmul::Attrs>();
  *s = {without_cast(root.inputs[0]), without_cast(root.inputs[1])};
  return a.transpose_a == 0 && a.transpose_b == 0 && s->x->type.dtype == DType::s16 && s->y->type.dtype == DType::s16;
}

// --- tables of 8 bits ---

bool match_table(const Node& root, std::vector<uint8_t>* table) {
  if (!root.is(OpId::q_lut) || root.inputs[0]->type.dtype != DType::s8 || root.outputs[0]->type.dtype != DType::s8) return false;
  const ir::Bytes* data = ir::known_data(*root.inputs[1]);
  if (data == nullptr || data->size != 256) return false;
  table->assign(data->data + 128, data->data + 256);
  table->insert(table->end(), data->data, data->data + 128);
  return true;
}

}  // namespace

std::vector<const Value*> matched_operands(const Node& root) {
  std::vector<uint8_t> table;
  if (match_table(root, &table)) return {root.inputs[0]};
  if (const Value* x = match_clz(root)) return {x};
  if (const Node* first = inner_transform(root)) return {first->inputs[0]};
  WideSums sums;
  if (match_wide_sums(root, &sums)) return {sums.x, sums.weights, sums.bias};
  WideProduct product;
  if (match_wide_product(root, &product)) return {product.x, product.y};
  Scaling s;
  if (!match_scaling(root, &s)) return {};
  if (s.factor != nullptr) return {s.x, s.factor};
  Average a;
  return {match_average(s, &a) ? a.x : s.x};
}

void lower_matched(Writer& w, const Node& root) {
  std::vector<uint8_t> table;
  const Value* out = root.outputs[0];
  if (match_table(root, &table)) {
    const Operand x = w.of(root.inputs[0]), entries = w.bytes(fb::DType::INT8, {256}, table.data(), table.size());
    if (w.ok()) w.bind(out, w.op(fb::Op::TABLE, {x, entries}, fb::DType::INT8, x.dims));
    return;
  }
  if (const Value* x = match_clz(root)) {
    const Operand v = w.of(x);
    if (w.ok()) w.bind(out, w.op(fb::Op::CLZ, {v}, fb::DType::INT32, v.dims));
    return;
  }
  if (const Node* first = inner_transform(root)) {
    const Operand y = image_transform(w, *first);
    if (w.ok()) w.bind(out, y);
    return;
  }
  WideSums sums;
  WideProduct product;
  const bool many = match_wide_sums(root, &sums);
  if (many || match_wide_product(root, &product)) {
    const Operand y = many ? wide_sums(w, sums) : wide_product(w, root, product.x, product.y);
    if (w.ok()) w.bind(out, y);
    return;
  }
  Scaling s;
  Average a;
  if (!match_scaling(root, &s)) return w.fail("not a group that TOSA has");
  if (s.factor != nullptr) lower_mul(w, root, s);
  else if (match_average(s, &a)) lower_average(w, root, s, a);
  else lower_scaling(w, root, s);
}

}  // namespace mote::emit::tosa
