// RESCALE and TABLE: integers to integers of another scale, to the bit.

#include <algorithm>

#include "mote/compiler/frontends/tosa/op.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::frontends::tosa {
namespace {

struct Rescale {
  std::vector<int64_t> multiplier, shift;  // one, or one for each index of the last axis
  int64_t in_zero = 0, out_zero = 0;
  bool in_unsigned = false, out_unsigned = false, scale32 = false, double_round = false;
  int64_t lo = 0, hi = 0;  // of the output's type
};

bool read_range(Op& op, Rescale* r) {
  switch (op.out().dtype) {
    case DType::s8: r->lo = INT8_MIN, r->hi = INT8_MAX; break;
    case DType::s16: r->lo = INT16_MIN, r->hi = INT16_MAX; break;
    case DType::s32: r->lo = INT32_MIN, r->hi = INT32_MAX; break;
    default: op.fail("expected an output of INT8, INT16 or INT32, found " + describe(op.out())); return false;
  }
  if (r->out_unsigned) r->hi -= r->lo, r->lo = 0;
  return true;
}

bool read_rescale(Op& op, const Value* x, Rescale* r) {
  const auto& a = op.attributes<fb::RescaleAttribute>();
  if (is_float(x->type.dtype) || x->type.dtype == DType::boolean) op.fail("expected integers, found " + describe(op.in(0)));
  const size_t channels = !a.per_channel() ? 1 : x->type.dims.empty() ? 0 : static_cast<size_t>(x->type.dims.back());
  if (a.per_channel() && !is_fixed(x, x->type.rank() - 1)) op.fail("the last dimension must have one size where scales are per channel");
  if (!op.need_sizes(1, "multiplier", channels, &r->multiplier) || !op.need_sizes(2, "shift", channels, &r->shift)) return false;
  r->in_zero = op.zero(3, "input_zp");
  r->out_zero = op.zero(4, "output_zp");
  r->in_unsigned = a.input_unsigned();
  r->out_unsigned = a.output_unsigned();
  r->scale32 = a.scale32();
  r->double_round = a.rounding_mode() == fb::RoundingMode::DOUBLE_ROUND;
  // Zero points of unsigned tensors are stored with the bits of signed ones.
  const auto as_unsigned = [](int64_t zero, DType t) { return zero & (t == DType::s8 ? 0xff : 0xffff); };
  if (r->in_unsigned && r->in_zero < 0) r->in_zero = as_unsigned(r->in_zero, x->type.dtype);
  if (r->out_unsigned && r->out_zero < 0) r->out_zero = as_unsigned(r->out_zero, op.out().dtype);
  for (size_t i = 0; i < channels; ++i)
    if (r->shift[i] < 2 || r->shift[i] > 62 || r->multiplier[i] < 0)
      op.fail("expected shifts of 2 to 62 and multipliers of at least 0, found " + std::to_string(r->shift[i]) + " and " +
              std::to_string(r->multiplier[i]));
  return op.ok() && read_range(op, r);
}

// Requantize rounds as TFLite does: the high half of the product first, then the shift. That is double rounding where the shift is above
// 31, single rounding at 31, and the same as single rounding below 31 where the left shift cannot overflow, which 8 and 16 bits allow.
bool is_requantize(const Value* x, const Rescale& r) {
  const DType t = x->type.dtype;
  const bool narrow = t == DType::s8 || t == DType::s16;
  if (!r.scale32 || (!narrow && t != DType::s32) || (r.in_unsigned && t != DType::s8)) return false;
  if (r.out_unsigned && r.hi > 255) return false;
  return std::all_of(r.shift.begin(), r.shift.end(), [&](int64_t s) { return s <= 31 ? s == 31 || (narrow && s >= 17) : r.double_round; });
}

Value* as_requantize(Op& op, Value* x, const Rescale& r) {
  std::vector<int32_t> multiplier, shift;
  for (size_t i = 0; i < r.shift.size(); ++i) {
    multiplier.push_back(static_cast<int32_t>(std::min<int64_t>(r.multiplier[i], INT32_MAX)));
    shift.push_back(static_cast<int32_t>(31 - r.shift[i]));
  }
  ops::requantize::Attrs a;
  a.to = static_cast<uint32_t>(r.out_unsigned ? DType::u8 : op.out().dtype);
  a.input_zero = static_cast<int32_t>(r.in_zero);
  a.output_zero = static_cast<int32_t>(r.out_zero);
  a.axis = std::max(0, x->type.rank() - 1);
  const Dims dims{static_cast<int32_t>(shift.size())};
  if (r.in_unsigned) x = op.bitcast(x, DType::u8);
  Value* y = op.b.op(OpId::requantize, a, {x, op.constant_s32(multiplier, dims), op.constant_s32(shift, dims)});
  return op.bitcast(y, op.out().dtype);
}

// The definition in 64 bits.
Value* as_arithmetic(Op& op, Value* x, const Rescale& r) {
  ir::Graph& g = op.b.graph();
  const DType t = x->type.dtype, to = op.out().dtype;
  const Dims dims = r.shift.size() == 1 ? Dims{} : Dims{static_cast<int32_t>(r.shift.size())};
  if (r.in_unsigned) x = op.bitcast(x, t == DType::s8 ? DType::u8 : t == DType::s16 ? DType::u16 : DType::u32);
  std::vector<int64_t> half, more;
  for (const int64_t s : r.shift) {
    half.push_back(int64_t{1} << (s - 1));
    more.push_back(r.scale32 && r.double_round && s > 31 ? int64_t{1} << 30 : 0);
  }
  Value* v = op.cast(x, DType::s64);
  if (r.in_zero != 0) v = op.sub(v, g.scalar<int64_t>(r.in_zero));
  Value* sum = op.add(op.mul(v, g.constant<int64_t>(dims, r.multiplier)), g.constant<int64_t>(dims, half));
  if (std::any_of(more.begin(), more.end(), [](int64_t m) { return m != 0; })) {
    Value* negative = op.op(OpId::less, {v, g.scalar<int64_t>(0)});
    Value* up = g.constant<int64_t>(dims, more);
    sum = op.where(negative, op.sub(sum, up), op.add(sum, up));
  }
  Value* y = op.op(OpId::shift_right, {sum, g.constant<int64_t>(dims, r.shift)});
  if (r.out_zero != 0) y = op.add(y, g.scalar<int64_t>(r.out_zero));
  y = op.clamp(y, r.lo, r.hi);
  if (!r.out_unsigned) return op.cast(y, to);
  return op.bitcast(op.cast(y, to == DType::s8 ? DType::u8 : to == DType::s16 ? DType::u16 : DType::u32), to);
}

// (base << 7) + slope * fraction between the 513 entries of a 16-bit table.
Value* interpolate(Op& op, Value* x, Value* table) {
  ir::Graph& g = op.b.graph();
  Value* v = op.cast(x, DType::s32);
  Value* index = op.shift_right(op.add(v, g.scalar<int32_t>(32768)), 7);
  Value* fraction = op.op(OpId::bitwise_and, {v, g.scalar<int32_t>(127)});
  table = op.cast(table, DType::s32);
  Value *base = op.gather(table, index, 0), *next = op.gather(table, op.add(index, g.scalar<int32_t>(1)), 0);
  return op.add(op.mul(base, g.scalar<int32_t>(128)), op.mul(op.sub(next, base), fraction));
}

}  // namespace

void import_rescale(Op& op) {
  Value* x = op.value(0);
  Rescale r;
  if (!op.ok() || !read_rescale(op, x, &r)) return;
  op.set(is_requantize(x, r) ? as_requantize(op, x, r) : as_arithmetic(op, x, r));
}

void import_table(Op& op) {
  Value *x = op.value(0), *table = op.value(1);
  if (!op.ok()) return;
  const int32_t entries = x->type.dtype == DType::s8 ? 256 : x->type.dtype == DType::s16 ? 513 : 0;
  if (entries == 0 || table->type.dims != Dims{entries} || table->type.dtype != x->type.dtype)
    return op.fail("expected INT8 with a table of 256 entries or INT16 with 513, found a table of " + describe(op.in(1)));
  if (entries == 513) return op.set(interpolate(op, x, table));
  // q_lut's table goes by the bits of the element: non-negative ones first.
  op.set(op.op(OpId::q_lut, {x, op.concat({op.slice(table, 0, 128, 256), op.slice(table, 0, 0, 128)}, 0)}));
}

}  // namespace mote::frontends::tosa
