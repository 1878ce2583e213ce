// q_add, q_sub and q_mul of 8-bit tensors with broadcasting, four vectors at a time.

#include "mote/kernels/common/merge_rows.h"
#include "mote/kernels/int8/requantize/bytes.h"
#include "mote/kernels/int8/requantize/scaled_difference.h"
#include "mote/ops/q_add/q_add.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/q_sub/q_sub.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

constexpr int32_t kBlock = 4 * kIntLanes, kMaxPeriod = 2048, kMaxScaledPeriod = 1536;

// Converts stored bytes to values less their zero point: (byte ^ flip) - offset. s8 are loaded as u8 with the sign bit flipped, so that one
// loop serves both types.
struct ByteDecoder {
  ByteDecoder(DType type, int32_t zero) : flip(type == DType::s8 ? 128 : 0), offset(zero + flip) {}
  // Negates the values: -v is ~v + 1.
  void negate() { flip = ~flip, offset = -1 - offset; }
  int32_t flip, offset;
};

// An operator: which input is the first operand, how operands are decoded, and the clamp of the output.
struct BinaryOp {
  template <class A>
  BinaryOp(const A& a, DType type)
      : first(type, a.a_zero), second(type, a.b_zero), bounds(ClampRange(a.clamp_lo, a.clamp_hi, a.y_zero, type), type) {}
  void swap_operands() {
    const ByteDecoder old_first = first;
    first = second, second = old_first, first_input = 1;
  }
  ByteDecoder first, second;
  ByteClampRange bounds;
  int first_input = 0;
  int32_t broadcast_multiplier = 0, broadcast_right_shift = 0;  // of q_mul, where a broadcast operand can be multiplied beforehand; else 0
};

// The arithmetic on values without zero points. For sums in fixed point, TFLite's multiplier of the operand with the larger scale is 1/2:
// that operand comes first and is only shifted.
struct AddShifted {
  static constexpr bool kUnrolled = true;
  AddShifted(const ops::QuantBinaryAttrs& a, int32_t multiplier, int32_t shift, bool negative)
      : a_factor(set_ints(1 << (a.left_shift - 1))),
        scale_b(multiplier, shift, a.left_shift, negative),
        scale_sum(a.y_multiplier, a.y_shift) {}
  MOTE_INLINE VI operator()(VI a, VI b) const { return scale_sum(hn::Add(hn::Mul(a, a_factor), scale_b(b))); }
  VI a_factor;
  ScaledDifference scale_b;
  FastFixedPointScale<true> scale_sum;
};
struct MulRightShift {
  static constexpr bool kUnrolled = true;
  explicit MulRightShift(const ops::q_mul::Attrs& a) : scale(a.multiplier, a.shift) {}
  MOTE_INLINE VI operator()(VI a, VI b) const { return scale(hn::Mul(a, b)); }
  FastFixedPointScale<true> scale;
};
// Generic path: any multipliers and shifts; used where the specialised functions reject them.
struct GenericFixedPoint {
  static constexpr bool kUnrolled = false;
  explicit GenericFixedPoint(const ops::q_mul::Attrs& m) : y(FixedPointScale::make(m.multiplier, m.shift)), product(true) {}
  GenericFixedPoint(const ops::QuantBinaryAttrs& s, int32_t sign)
      : a(FixedPointScale::make(s.a_multiplier, s.a_shift)),
        b(FixedPointScale::make(s.b_multiplier, s.b_shift)),
        y(FixedPointScale::make(s.y_multiplier, s.y_shift)),
        left_shift(s.left_shift),
        b_sign(sign) {}
  MOTE_INLINE VI operator()(VI p, VI q) const {
    if (product) return y.scale<false>(hn::Mul(p, q));
    const VI shift = set_ints(left_shift);
    return y.scale<false>(hn::Add(a.scale<false>(hn::Shl(p, shift)), hn::Mul(b.scale<false>(hn::Shl(q, shift)), set_ints(b_sign))));
  }
  FixedPointScale a, b, y;
  int32_t left_shift = 0, b_sign = 1;
  bool product = false;
};
// Real scales with quotients below 10^6, which need no checks: a product with the reciprocal and two Markstein corrections.
struct RealScale {
  static constexpr bool kUnrolled = true;
  static bool supports(float a, float b, float y, bool product) {
    const auto magnitude = [](float v) { return v < 0 ? -v : v; };
    const float p = 255 * magnitude(a), q = 255 * magnitude(b);
    return magnitude(y) > 1e-9f && magnitude(y) < 1e9f && (product ? p * q : p + q) < 1e6f * magnitude(y);
  }
  RealScale(float a, float b, float y, bool is_product) : a_scale(a), b_scale(b), y_scale(y), reciprocal(1.0f / y), product(is_product) {}
  MOTE_INLINE VI operator()(VI a, VI b) const {
    const FloatOfInts d;
    const VFI p = hn::Mul(hn::ConvertTo(d, a), hn::Set(d, a_scale)), q = hn::Mul(hn::ConvertTo(d, b), hn::Set(d, b_scale));
    const VFI divisor = hn::Set(d, y_scale), v = product ? hn::Mul(p, q) : hn::Add(p, q);
    if constexpr (HWY_NATIVE_FMA == 0) return round_half_even(quotient(v, divisor));
    const VFI reciprocals = hn::Set(d, reciprocal), estimate = hn::Mul(v, reciprocals),
              refined = hn::MulAdd(hn::NegMulAdd(estimate, divisor, v), reciprocals, estimate);
    return round_half_even(hn::MulAdd(hn::NegMulAdd(refined, divisor, v), reciprocals, refined));
  }
  float a_scale, b_scale, y_scale, reciprocal;
  bool product;
};

// Reads the bytes of an operand block by block. A broadcast operand is replicated until it fills whole blocks, which are read cyclically.
struct OperandBytes {
  // period: bytes of a broadcast operand, 0 for others.
  [[gnu::noinline]] OperandBytes(const uint8_t* bytes, int32_t period, uint8_t* copies) : next(bytes) {
    if (period == 0) return;
    wrap_bytes = (kBlock + period - 1) / period * period;
    const int32_t replicated = wrap_bytes + kBlock;
    if (period == 1) fill_bytes(copies, *bytes, replicated);
    else
      for (int32_t i = 0; i < replicated; i += period) copy_bytes(copies + i, bytes, replicated - i < period ? replicated - i : period);
    next = copies, end = copies + wrap_bytes;
  }
  MOTE_INLINE void advance() {
    next += kBlock;
    if (next >= end && end != nullptr) next -= wrap_bytes;
  }
  // The tail as a block: `count` bytes, copied to `copy` where bytes behind them belong to others.
  [[gnu::noinline]] void copy_tail(int32_t count, uint8_t* copy) {
    if (end != nullptr) return;
    copy_bytes(copy, next, count);
    next = copy;
  }
  const uint8_t *next, *end = nullptr;
  int32_t wrap_bytes = 0;
};

MOTE_INLINE VI decode(const uint8_t* p, VI flip, VI offset) {
  const VI v = hn::PromoteTo(I32(), hn::LoadU(hn::Rebind<uint8_t, I32>(), p));
  return hn::Sub(hn::Xor(v, flip), offset);
}

// Computes `count` blocks and advances a and b behind what was read.
using BlocksFn = void (*)(const BinaryOp&, const void* function, OperandBytes* a, OperandBytes* b, uint8_t* y, int32_t count);
template <class F>
void binary_blocks(const BinaryOp& op, const void* function, OperandBytes* a, OperandBytes* b, uint8_t* y, int32_t count) {
  const F f = *static_cast<const F*>(function);
  const VI a_flip = set_ints(op.first.flip), a_offset = set_ints(op.first.offset), b_flip = set_ints(op.second.flip),
           b_offset = set_ints(op.second.offset);
  const ByteClampRange bounds = op.bounds;
  OperandBytes p = *a, q = *b;
  for (; count > 0; --count, y += kBlock, p.advance(), q.advance()) {
    VI v[4];
    const auto compute_vector = [&](int k) MOTE_LAMBDA {
      return f(decode(p.next + k * kIntLanes, a_flip, a_offset), decode(q.next + k * kIntLanes, b_flip, b_offset));
    };
    if constexpr (F::kUnrolled) unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = compute_vector(k); });
    else
      for (int k = 0; k < 4; ++k) v[k] = compute_vector(k);
    store_bytes<4>(v, bounds, kBlock, y);
  }
  *a = p, *b = q;
}

// q_mul with a broadcast operand: its values times the multiplier (40 bits) are computed once and split into `high` and `low` (23 bits).
// With the product x * (high * 2^23 + low) / 2^23, both roundings of FixedPointScale come to adding 2^7 + 2^(7 + right_shift), subtracting
// 2^8 where the product is negative, and a shift.
bool can_scale_beforehand(int32_t multiplier, int32_t shift) { return multiplier >= 0 && shift < 0 && shift >= -23; }
void mul_by_broadcast(const BinaryOp& op, const ByteDecoder& decoder, const uint8_t* x, const ByteDecoder& broadcast_decoder,
                      const uint8_t* pattern, int32_t period, uint8_t* y, int32_t n) {
  alignas(64) int32_t high[kMaxScaledPeriod + 2 * kBlock], low[kMaxScaledPeriod + 2 * kBlock];
  const int32_t wrap_bytes = (kBlock + period - 1) / period * period;
  for (int32_t i = 0, k = 0; i < wrap_bytes + kBlock; ++i) {
    const int64_t factor = int64_t{(pattern[k] ^ broadcast_decoder.flip) - broadcast_decoder.offset} * op.broadcast_multiplier;
    high[i] = static_cast<int32_t>(factor >> 23);
    low[i] = static_cast<int32_t>(factor & 0x7fffff);
    k = k + 1 == period ? 0 : k + 1;
  }
  const VI flip = set_ints(decoder.flip), offset = set_ints(decoder.offset), right_shift = set_ints(op.broadcast_right_shift),
           add = set_ints((1 << 7) + (1 << (7 + op.broadcast_right_shift)));
  const ByteClampRange bounds = op.bounds;
  alignas(64) uint8_t tail[128];
  for (int32_t i = 0, at = 0; i < n; i += kBlock) {
    const uint8_t* from = x + i;
    if (n - i < kBlock) copy_bytes(tail, from, n - i), from = tail;
    VI v[4];
    unroll<4>([&](auto k) MOTE_LAMBDA {
      const VI value = decode(from + k * kIntLanes, flip, offset);
      const VI lower = hn::ShiftRight<23>(hn::Mul(value, load_ints(low + at + k * kIntLanes)));
      const VI product = hn::Add(hn::Mul(value, load_ints(high + at + k * kIntLanes)), lower);
      v[k] = shift_right(hn::Add(hn::ShiftRight<8>(hn::Add(product, add)), hn::ShiftRight<31>(product)), right_shift);
    });
    store_bytes<4>(v, bounds, n - i, y + i);
    at = at + kBlock >= wrap_bytes ? at + kBlock - wrap_bytes : at + kBlock;
  }
}

// A row of n results; periods as OperandBytes has them.
void binary_row(const BinaryOp& op, const void* function, BlocksFn blocks_fn, const uint8_t* a, int32_t a_period, const uint8_t* b,
                int32_t b_period, uint8_t* y, int32_t n) {
  const int32_t period = a_period + b_period;
  if (op.broadcast_right_shift != 0 && period > 0 && period <= kMaxScaledPeriod && n >= 8 * (period + 2 * kBlock)) {
    if (a_period == 0) return mul_by_broadcast(op, op.first, a, op.second, b, period, y, n);
    return mul_by_broadcast(op, op.second, b, op.first, a, period, y, n);
  }
  alignas(64) uint8_t copies[kMaxPeriod + 192], tail[3][128];
  OperandBytes p(a, a_period, copies), q(b, b_period, copies);
  const int32_t full_bytes = n / kBlock * kBlock;
  blocks_fn(op, function, &p, &q, y, n / kBlock);
  if (full_bytes == n) return;
  p.copy_tail(n - full_bytes, tail[0]), q.copy_tail(n - full_bytes, tail[1]);
  blocks_fn(op, function, &p, &q, tail[2], 1);
  __builtin_memcpy(y + full_bytes, tail[2], static_cast<size_t>(n - full_bytes));
}

Status run_binary(const OpContext& c, const BinaryOp& op, const void* function, BlocksFn blocks_fn, double cost) {
  const Tensor &a = c.input(op.first_input), &b = c.input(1 - op.first_input), &y = c.output(0);
  const TensorDesc* operands[] = {a.desc, b.desc, y.desc};
  int32_t period = 0;
  int broadcast_operand = 0;
  const auto binary_run = [&](const int64_t* at, const int64_t* steps, int32_t n) {
    const int32_t own_period = period == 0 ? 1 : period;
    binary_row(op, function, blocks_fn, a.as<const uint8_t>() + at[0], steps[0] == 0 ? own_period : 0, b.as<const uint8_t>() + at[1],
               steps[1] == 0 ? own_period : 0, y.as<uint8_t>() + at[2], n);
  };
  if (!c.rows.all()) return for_each_run<3>(*y.desc, operands, c.rows, c.threads, cost, binary_run), Status::kOk;
  const int32_t widths[] = {1, 1, 1};
  StridedLoopNest<3> nest;
  nest.make(*y.desc, operands);
  nest.ensure_contiguous(widths);
  period = merge_broadcast_rows(&nest, widths, kMaxPeriod, &broadcast_operand);
  for_each_run(nest, c.threads, cost, binary_run, period == 0 ? 64 : period);
  return Status::kOk;
}

template <class F>
Status run_with(const OpContext& c, const BinaryOp& op, const F& function, double cost) {
  return run_binary(c, op, &function, &binary_blocks<F>, cost);
}

constexpr int32_t kOneHalf = 1 << 30;

Status add_or_sub(const OpContext& c, int32_t b_sign) {
  const auto& a = c.attrs<ops::QuantBinaryAttrs>();
  BinaryOp op(a, c.input(0).dtype());
  if (a.mode == static_cast<uint32_t>(ops::QuantMode::kReal)) {
    if (b_sign < 0) op.second.negate();
    return run_with(c, op, RealScale(a.a_scale, a.b_scale, a.y_scale, false), 10);
  }
  const bool a_is_half = a.a_multiplier == kOneHalf && a.a_shift == 0, b_is_half = a.b_multiplier == kOneHalf && a.b_shift == 0;
  const int32_t multiplier = a_is_half ? a.b_multiplier : a.a_multiplier, shift = a_is_half ? a.b_shift : a.a_shift;
  if ((!a_is_half && !b_is_half) || !ScaledDifference::supports(multiplier, shift, a.left_shift) ||
      !FixedPointScale::right_shift_only(a.y_multiplier, a.y_shift))
    return run_with(c, op, GenericFixedPoint(a, b_sign), 40);
  if (b_sign < 0) op.second.negate();
  if (!a_is_half) op.swap_operands();
  return run_with(c, op, AddShifted(a, multiplier, shift, b_sign < 0 && a_is_half), 15);
}
Status q_add_s8(const OpContext& c) noexcept { return add_or_sub(c, 1); }
Status q_sub_s8(const OpContext& c) noexcept { return add_or_sub(c, -1); }

Status q_mul_s8(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_mul::Attrs>();
  BinaryOp op(a, c.input(0).dtype());
  if (a.mode != 0) return run_with(c, op, RealScale(a.a_scale, a.b_scale, a.y_scale, true), 10);
  if (can_scale_beforehand(a.multiplier, a.shift)) op.broadcast_multiplier = a.multiplier, op.broadcast_right_shift = -a.shift;
  if (!FixedPointScale::right_shift_only(a.multiplier, a.shift)) return run_with(c, op, GenericFixedPoint(a), 20);
  return run_with(c, op, MulRightShift(a), 10);
}

bool is_byte(DType t) { return t == DType::s8 || t == DType::u8; }
KernelFn select_add_or_sub(const OpContext& c, KernelFn kernel) {
  const auto& a = c.attrs<ops::QuantBinaryAttrs>();
  const ops::QuantMode mode = static_cast<ops::QuantMode>(a.mode);
  const bool supports =
      mode == ops::QuantMode::kReal ? RealScale::supports(a.a_scale, a.b_scale, a.y_scale, false) : mode != ops::QuantMode::kShift;
  return supports && is_byte(c.input(0).dtype()) ? kernel : nullptr;
}

}  // namespace

KernelFn select_q_add(const OpContext& c) noexcept { return select_add_or_sub(c, &q_add_s8); }
KernelFn select_q_sub(const OpContext& c) noexcept { return select_add_or_sub(c, &q_sub_s8); }
KernelFn select_q_mul(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_mul::Attrs>();
  return is_byte(c.input(0).dtype()) && (a.mode == 0 || RealScale::supports(a.a_scale, a.b_scale, a.y_scale, true)) ? &q_mul_s8 : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
