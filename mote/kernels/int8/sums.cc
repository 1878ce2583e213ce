// Sums, differences and products of bytes with broadcasting, four vectors at a time.

#include "mote/kernels/common/joined.h"
#include "mote/kernels/int8/bytes.h"
#include "mote/kernels/int8/scaled.h"
#include "mote/ops/q_add/q_add.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/q_sub/q_sub.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

constexpr int32_t kBlock = 4 * kIntLanes, kMostRepeated = 2048, kMostScaled = 1536;

// From a byte to the number it stands for: s8 are read as u8 and flipped, so that one loop serves both.
struct Reading {
  Reading(DType type, int32_t zero) : flip(type == DType::s8 ? 128 : 0), less(zero + flip) {}
  // The sign changed: -v is ~v + 1.
  void negate() { flip = ~flip, less = -1 - less; }
  int32_t flip, less;
};

// An operator: which input is the first operand, how both are read, and what results may be.
struct Operator {
  template <class A>
  Operator(const A& a, DType type)
      : first(type, a.a_zero), second(type, a.b_zero), bounds(Bounds(a.clamp_lo, a.clamp_hi, a.y_zero, type), type) {}
  void exchange() {
    const Reading was = first;
    first = second, second = was, first_input = 1;
  }
  Reading first, second;
  ByteBounds bounds;
  int first_input = 0;
  int32_t multiplier = 0, right = 0;  // of products with an operand that repeats, or 0
};

// The operators as functions of numbers. In fixed point, TFLite's factor of the operand with the larger scale is 1/2: that operand comes
// first and is only shifted.
struct QuickSum {
  static constexpr bool kQuick = true;
  QuickSum(const ops::QuantBinaryAttrs& a, int32_t multiplier, int32_t shift, bool negative)
      : left(set_ints(1 << (a.left_shift - 1))), widen(multiplier, shift, a.left_shift, negative), shrink(a.y_multiplier, a.y_shift) {}
  MOTE_INLINE VI operator()(VI a, VI b) const { return shrink(hn::Add(hn::Mul(a, left), widen(b))); }
  VI left;
  Widen widen;
  SmallScale<true> shrink;
};
struct QuickProduct {
  static constexpr bool kQuick = true;
  explicit QuickProduct(const ops::q_mul::Attrs& a) : shrink(a.multiplier, a.shift) {}
  MOTE_INLINE VI operator()(VI a, VI b) const { return shrink(hn::Mul(a, b)); }
  SmallScale<true> shrink;
};
// Any factors and shifts.
struct Fixed {
  static constexpr bool kQuick = false;
  explicit Fixed(const ops::q_mul::Attrs& m) : y(Factor::make(m.multiplier, m.shift)), product(true) {}
  Fixed(const ops::QuantBinaryAttrs& s, int32_t sign)
      : a(Factor::make(s.a_multiplier, s.a_shift)),
        b(Factor::make(s.b_multiplier, s.b_shift)),
        y(Factor::make(s.y_multiplier, s.y_shift)),
        left(s.left_shift),
        b_sign(sign) {}
  MOTE_INLINE VI operator()(VI p, VI q) const {
    if (product) return y.scale<false>(hn::Mul(p, q));
    const VI shift = set_ints(left);
    return y.scale<false>(hn::Add(a.scale<false>(hn::Shl(p, shift)), hn::Mul(b.scale<false>(hn::Shl(q, shift)), set_ints(b_sign))));
  }
  Factor a, b, y;
  int32_t left = 0, b_sign = 1;
  bool product = false;
};
// Scales whose quotients have few bits, so that dividing takes no care: the reciprocal's product, put right twice (Markstein).
struct Real {
  static constexpr bool kQuick = true;
  static bool can(float a, float b, float y, bool product) {
    const auto size = [](float v) { return v < 0 ? -v : v; };
    const float p = 255 * size(a), q = 255 * size(b);
    return size(y) > 1e-9f && size(y) < 1e9f && (product ? p * q : p + q) < 1e6f * size(y);
  }
  Real(float a, float b, float y, bool is_product) : a_scale(a), b_scale(b), y_scale(y), reciprocal(1.0f / y), product(is_product) {}
  MOTE_INLINE VI operator()(VI a, VI b) const {
    const FloatOfInts d;
    const VFI p = hn::Mul(hn::ConvertTo(d, a), hn::Set(d, a_scale)), q = hn::Mul(hn::ConvertTo(d, b), hn::Set(d, b_scale));
    const VFI by = hn::Set(d, y_scale), v = product ? hn::Mul(p, q) : hn::Add(p, q);
    if constexpr (HWY_NATIVE_FMA == 0) return nearest_small(quotient(v, by));
    const VFI part = hn::Set(d, reciprocal), first = hn::Mul(v, part), near = hn::MulAdd(hn::NegMulAdd(first, by, v), part, first);
    return nearest_small(hn::MulAdd(hn::NegMulAdd(near, by, v), part, near));
  }
  float a_scale, b_scale, y_scale, reciprocal;
  bool product;
};

// The bytes of an operand, a block at a time. Those that repeat are copied until they fill whole blocks, and read over and over.
struct Bytes {
  // period: how many there are before they repeat, 0 where they do not.
  [[gnu::noinline]] Bytes(const uint8_t* bytes, int32_t period, uint8_t* copies) : at(bytes) {
    if (period == 0) return;
    back = (kBlock + period - 1) / period * period;
    const int32_t all = back + kBlock;
    if (period == 1) fill_bytes(copies, *bytes, all);
    else
      for (int32_t i = 0; i < all; i += period) copy_bytes(copies + i, bytes, all - i < period ? all - i : period);
    at = copies, end = copies + back;
  }
  MOTE_INLINE void advance() {
    at += kBlock;
    if (at >= end && end != nullptr) at -= back;
  }
  // The last `count` bytes as a block, in memory of its own where what follows them belongs to others.
  [[gnu::noinline]] void rest(int32_t count, uint8_t* copy) {
    if (end != nullptr) return;
    copy_bytes(copy, at, count);
    at = copy;
  }
  const uint8_t *at, *end = nullptr;
  int32_t back = 0;
};

MOTE_INLINE VI read(const uint8_t* p, VI flip, VI less) {
  const VI v = hn::PromoteTo(I32(), hn::LoadU(hn::Rebind<uint8_t, I32>(), p));
  return hn::Sub(hn::Xor(v, flip), less);
}

// Whole blocks of results; leaves a and b behind what was read.
using Blocks = void (*)(const Operator&, const void* function, Bytes* a, Bytes* b, uint8_t* y, int32_t count);
template <class F>
void blocks(const Operator& op, const void* function, Bytes* a, Bytes* b, uint8_t* y, int32_t count) {
  const F f = *static_cast<const F*>(function);
  const VI a_flip = set_ints(op.first.flip), a_less = set_ints(op.first.less), b_flip = set_ints(op.second.flip),
           b_less = set_ints(op.second.less);
  const ByteBounds bounds = op.bounds;
  Bytes p = *a, q = *b;
  for (; count > 0; --count, y += kBlock, p.advance(), q.advance()) {
    VI v[4];
    const auto part = [&](int k)
                          MOTE_LAMBDA { return f(read(p.at + k * kIntLanes, a_flip, a_less), read(q.at + k * kIntLanes, b_flip, b_less)); };
    if constexpr (F::kQuick) unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = part(k); });
    else
      for (int k = 0; k < 4; ++k) v[k] = part(k);
    store_bytes<4>(v, bounds, kBlock, y);
  }
  *a = p, *b = q;
}

// Products with an operand that repeats: that one's numbers times the multiplier, of 40 bits, are made once and cut in two, the lower part
// of 23 bits. A product of x with them, over 2^23, plus 2^7 + 2^(7 + right) and less 2^8 where it is negative, has both roundings of Factor
// in it and is only shifted.
bool can_repeat(int32_t multiplier, int32_t shift) { return multiplier >= 0 && shift < 0 && shift >= -23; }
void repeated_products(const Operator& op, const Reading& reading, const uint8_t* x, const Reading& repeated, const uint8_t* pattern,
                       int32_t period, uint8_t* y, int32_t n) {
  alignas(64) int32_t high[kMostScaled + 2 * kBlock], low[kMostScaled + 2 * kBlock];
  const int32_t back = (kBlock + period - 1) / period * period;
  for (int32_t i = 0, k = 0; i < back + kBlock; ++i) {
    const int64_t factor = int64_t{(pattern[k] ^ repeated.flip) - repeated.less} * op.multiplier;
    high[i] = static_cast<int32_t>(factor >> 23);
    low[i] = static_cast<int32_t>(factor & 0x7fffff);
    k = k + 1 == period ? 0 : k + 1;
  }
  const VI flip = set_ints(reading.flip), less = set_ints(reading.less), right = set_ints(op.right),
           add = set_ints((1 << 7) + (1 << (7 + op.right)));
  const ByteBounds bounds = op.bounds;
  alignas(64) uint8_t rest[128];
  for (int32_t i = 0, at = 0; i < n; i += kBlock) {
    const uint8_t* from = x + i;
    if (n - i < kBlock) copy_bytes(rest, from, n - i), from = rest;
    VI v[4];
    unroll<4>([&](auto k) MOTE_LAMBDA {
      const VI number = read(from + k * kIntLanes, flip, less);
      const VI lower = hn::ShiftRight<23>(hn::Mul(number, load_ints(low + at + k * kIntLanes)));
      const VI product = hn::Add(hn::Mul(number, load_ints(high + at + k * kIntLanes)), lower);
      v[k] = shift_right(hn::Add(hn::ShiftRight<8>(hn::Add(product, add)), hn::ShiftRight<31>(product)), right);
    });
    store_bytes<4>(v, bounds, n - i, y + i);
    at = at + kBlock >= back ? at + kBlock - back : at + kBlock;
  }
}

// A row of n results; periods as above.
void row(const Operator& op, const void* function, Blocks blocks_of, const uint8_t* a, int32_t a_period, const uint8_t* b, int32_t b_period,
         uint8_t* y, int32_t n) {
  const int32_t period = a_period + b_period;
  if (op.right != 0 && period > 0 && period <= kMostScaled && n >= 8 * (period + 2 * kBlock)) {
    if (a_period == 0) return repeated_products(op, op.first, a, op.second, b, period, y, n);
    return repeated_products(op, op.second, b, op.first, a, period, y, n);
  }
  alignas(64) uint8_t copies[kMostRepeated + 192], rest[3][128];
  Bytes p(a, a_period, copies), q(b, b_period, copies);
  const int32_t whole = n / kBlock * kBlock;
  blocks_of(op, function, &p, &q, y, n / kBlock);
  if (whole == n) return;
  p.rest(n - whole, rest[0]), q.rest(n - whole, rest[1]);
  blocks_of(op, function, &p, &q, rest[2], 1);
  __builtin_memcpy(y + whole, rest[2], static_cast<size_t>(n - whole));
}

Status run(const OpContext& c, const Operator& op, const void* function, Blocks blocks_of, double cost) {
  const Tensor &a = c.input(op.first_input), &b = c.input(1 - op.first_input), &y = c.output(0);
  const TensorDesc* operands[] = {a.desc, b.desc, y.desc};
  int32_t period = 0;
  int repeated = 0;
  const auto body = [&](const int64_t* at, const int64_t* steps, int32_t n) {
    const int32_t whole = period == 0 ? 1 : period;
    row(op, function, blocks_of, a.as<const uint8_t>() + at[0], steps[0] == 0 ? whole : 0, b.as<const uint8_t>() + at[1],
        steps[1] == 0 ? whole : 0, y.as<uint8_t>() + at[2], n);
  };
  if (!c.rows.all()) return each_run<3>(*y.desc, operands, c.rows, c.threads, cost, body), Status::kOk;
  const int32_t widths[] = {1, 1, 1};
  Nest<3> nest;
  nest.make(*y.desc, operands);
  nest.close(widths);
  period = join_rows(&nest, widths, kMostRepeated, &repeated);
  each_run(nest, c.threads, cost, body, period == 0 ? 64 : period);
  return Status::kOk;
}

template <class F>
Status run_with(const OpContext& c, const Operator& op, const F& function, double cost) {
  return run(c, op, &function, &blocks<F>, cost);
}

constexpr int32_t kHalf = 1 << 30;

Status sum(const OpContext& c, int32_t b_sign) {
  const auto& a = c.attrs<ops::QuantBinaryAttrs>();
  Operator op(a, c.input(0).dtype());
  if (a.mode == static_cast<uint32_t>(ops::QuantMode::kReal)) {
    if (b_sign < 0) op.second.negate();
    return run_with(c, op, Real(a.a_scale, a.b_scale, a.y_scale, false), 10);
  }
  const bool a_plain = a.a_multiplier == kHalf && a.a_shift == 0, b_plain = a.b_multiplier == kHalf && a.b_shift == 0;
  const int32_t multiplier = a_plain ? a.b_multiplier : a.a_multiplier, shift = a_plain ? a.b_shift : a.a_shift;
  if ((!a_plain && !b_plain) || !Widen::can(multiplier, shift, a.left_shift) || !Factor::is_simple(a.y_multiplier, a.y_shift))
    return run_with(c, op, Fixed(a, b_sign), 40);
  if (b_sign < 0) op.second.negate();
  if (!a_plain) op.exchange();
  return run_with(c, op, QuickSum(a, multiplier, shift, b_sign < 0 && a_plain), 15);
}
Status run_add(const OpContext& c) noexcept { return sum(c, 1); }
Status run_sub(const OpContext& c) noexcept { return sum(c, -1); }

Status run_mul(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_mul::Attrs>();
  Operator op(a, c.input(0).dtype());
  if (a.mode != 0) return run_with(c, op, Real(a.a_scale, a.b_scale, a.y_scale, true), 10);
  if (can_repeat(a.multiplier, a.shift)) op.multiplier = a.multiplier, op.right = -a.shift;
  if (!Factor::is_simple(a.multiplier, a.shift)) return run_with(c, op, Fixed(a), 20);
  return run_with(c, op, QuickProduct(a), 10);
}

bool is_byte(DType t) { return t == DType::s8 || t == DType::u8; }
KernelFn select_sum(const OpContext& c, KernelFn kernel) {
  const auto& a = c.attrs<ops::QuantBinaryAttrs>();
  const ops::QuantMode mode = static_cast<ops::QuantMode>(a.mode);
  const bool can = mode == ops::QuantMode::kReal ? Real::can(a.a_scale, a.b_scale, a.y_scale, false) : mode != ops::QuantMode::kShift;
  return can && is_byte(c.input(0).dtype()) ? kernel : nullptr;
}

}  // namespace

KernelFn select_q_add(const OpContext& c) noexcept { return select_sum(c, &run_add); }
KernelFn select_q_sub(const OpContext& c) noexcept { return select_sum(c, &run_sub); }
KernelFn select_q_mul(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_mul::Attrs>();
  return is_byte(c.input(0).dtype()) && (a.mode == 0 || Real::can(a.a_scale, a.b_scale, a.y_scale, true)) ? &run_mul : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
