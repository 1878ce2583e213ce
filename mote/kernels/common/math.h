#pragma once

// Elementary functions on vectors: errors of a few units in the last place of f32, NaN propagates, no intermediate result overflows.

#include <cmath>

#include "mote/kernels/common/exact.h"

namespace mote::kernels::MOTE_ISA_NAME {

// The first `count` lanes from memory, the others 0. Reads nothing behind them.
MOTE_INLINE VF load_partial(const float* p, int32_t count) {
  const F32 d;
  if (count >= kLanes) return load(p);
  if constexpr (HWY_ARCH_X86 != 0) return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, p);
  alignas(64) float buffer[kLanes] = {};
  for (int32_t i = 0; i < count; ++i) buffer[i] = p[i];
  return hn::Load(d, buffer);
}
MOTE_INLINE void store_partial(VF v, int32_t count, float* p) {
  const F32 d;
  if (count >= kLanes) return store(v, p);
  if constexpr (HWY_ARCH_X86 != 0) return hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, p);
  alignas(64) float buffer[kLanes];
  hn::Store(v, d, buffer);
  for (int32_t i = 0; i < count; ++i) p[i] = buffer[i];
}

// y[i] = f(x[i]) for contiguous rows; x and y may be the same.
template <class F>
MOTE_INLINE void map_row(const float* x, float* y, int32_t count, const F& f) {
  int32_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(f(load(x + i)), y + i);
  if (i < count) store_partial(f(load_partial(x + i, count - i)), count - i, y + i);
}

// Horner's scheme, highest coefficient first.
template <class... C>
MOTE_INLINE VF polynomial(VF x, float first, C... rest) {
  VF sum = broadcast(first);
  ((sum = hn::MulAdd(sum, x, broadcast(rest))), ...);
  return sum;
}

// 2^n for integer n in [-126, 127].
MOTE_INLINE VF power_of_two(VF n) {
  const hn::RebindToSigned<F32> di;
  return hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127))));
}

// Argument reduction x = n * ln 2 + r, so e^x = 2^n * e^r: writes n, returns e^r.
MOTE_INLINE VF exp_parts(VF x, VF* n) {
  *n = hn::Round(hn::Mul(x, broadcast(1.44269504f)));
  VF r = hn::NegMulAdd(*n, broadcast(0.693145752f), x);
  r = hn::NegMulAdd(*n, broadcast(1.42860677e-6f), r);
  const VF q = polynomial(r, 0.001395071945f, 0.008369025954f, 0.04166620237f, 0.166665177f, 0.5f);
  return hn::Add(broadcast(1.0f), hn::MulAdd(hn::Mul(r, r), q, r));
}

// Scales by 2^(n/2) twice, so that results at the ends of the range (denormals, infinity) are right.
MOTE_INLINE VF exp(VF x) {
  VF n;
  const VF e = exp_parts(smaller(broadcast(89.0f), larger(broadcast(-104.0f), x)), &n);
  const VF half = hn::Floor(hn::Mul(n, broadcast(0.5f)));
  return hn::Mul(hn::Mul(e, power_of_two(half)), power_of_two(hn::Sub(n, half)));
}

// e^x with x clamped to [-87, 87], where results are neither denormal nor infinite; error of two units in the last place.
MOTE_INLINE VF exp_normal(VF x) {
  const hn::RebindToSigned<F32> di;
  x = smaller(broadcast(87.0f), larger(broadcast(-87.0f), x));
  // The last place of `shift` is 1, so the sum is rounded to an integer n, and its low bits are n + 127: the exponent field of 2^n.
  const VF shift = broadcast(12582912.0f + 127);
  const VF sum = hn::MulAdd(x, broadcast(1.44269504f), shift), n = hn::Sub(sum, shift);
  VF r = hn::NegMulAdd(n, broadcast(0.693145752f), x);
  r = hn::NegMulAdd(n, broadcast(1.42860677e-6f), r);
  const VF e = polynomial(r, 0.008312501f, 0.04189033f, 0.16667116f, 0.4999923f, 1.0f, 1.0f);
  return hn::Mul(e, hn::BitCast(F32(), hn::ShiftLeft<23>(hn::BitCast(di, sum))));
}

// e^x for x <= 0; results that would be denormal are flushed to 0, because arithmetic on denormals is many times slower.
MOTE_INLINE VF exp_flush_denormal(VF x) { return hn::IfThenZeroElse(hn::Lt(x, broadcast(-87.0f)), exp_normal(x)); }

// 1 / x for x in [1, 2^126] by Newton's method. Correcting by the residual keeps 1 / 1 exact.
MOTE_INLINE VF reciprocal(VF x) {
  const VF one = broadcast(1.0f);
  VF r = hn::ApproximateReciprocal(x);
  r = hn::MulAdd(r, hn::NegMulAdd(x, r, one), r);
  if constexpr (kLanes < 16) r = hn::MulAdd(r, hn::NegMulAdd(x, r, one), r);  // the initial approximation has fewer bits there
  return r;
}

// e^x - 1 for x <= 0 (anything for x > 0), without cancellation near 0.
MOTE_INLINE VF expm1_negative(VF x) {
  const VF near = hn::Mul(x, polynomial(x, 1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f));
  return hn::IfThenElse(hn::Gt(x, broadcast(-0.35f)), near, hn::Sub(exp(x), broadcast(1.0f)));
}

MOTE_INLINE VF sigmoid(VF x) {
  const VF one = broadcast(1.0f);
  return reciprocal(hn::Add(one, exp_normal(hn::Neg(x))));
}

// x * sigmoid(gate). The sigmoid of minus infinity is exactly 0, so that minus infinity times it is NaN as in the portable kernel.
MOTE_INLINE VF silu(VF x, VF gate) { return hn::Mul(x, hn::IfThenElse(hn::Lt(gate, broadcast(-87.0f)), hn::Zero(F32()), sigmoid(gate))); }

// tanh |x| = (1 - e) / (1 + e) with e = exp(-2 |x|); near 0 by a polynomial, where that would cancel.
MOTE_INLINE VF tanh(VF x) {
  const VF one = broadcast(1.0f), size = hn::Abs(x);
  const VF e = exp_normal(hn::Mul(size, broadcast(-2.0f)));
  const VF far = hn::Mul(hn::Sub(one, e), reciprocal(hn::Add(one, e)));
  const VF s = hn::Mul(x, x);
  const VF near = hn::Mul(size, polynomial(s, 0.0164375789f, -0.0526718125f, 0.133207247f, -0.333329469f, 1.0f));
  return hn::CopySign(hn::IfThenElse(hn::Lt(size, broadcast(0.55f)), near, far), x);
}

// 2^-x for x >= 0; results that would be denormal are flushed to 0.
MOTE_INLINE VF exp2_negative_flush_denormal(VF x) {
  const hn::RebindToSigned<F32> di;
  const VF limit = broadcast(126.0f), shift = broadcast(12582912.0f + 127);  // as in exp_normal
  const VF size = smaller(limit, x), sum = hn::Sub(shift, size), r = hn::Add(hn::Sub(sum, shift), size);
  const VF e = polynomial(r, -0.0013264727f, 0.00967151265f, -0.0555073374f, 0.240222421f, -0.693146978f, 1.0f);
  return hn::IfThenZeroElse(hn::Gt(x, limit), hn::Mul(e, hn::BitCast(F32(), hn::ShiftLeft<23>(hn::BitCast(di, sum)))));
}

// 1 + erf(x) through erfc |x| = 2^-P(|x|), P fitted to -log2 erfc on [0, 4.2]: the absolute error is below 1e-7, and the left tail is
// within a few units in the last place.
MOTE_INLINE VF one_plus_erf(VF x) {
  const VF z = smaller(broadcast(20.0f), hn::Abs(x));
  const VF p = hn::Mul(z, polynomial(z, 4.53550916e-05f, -0.000445478817f, 0.0014893486f, 0.000774779659f, -0.0282538097f, 0.148481673f,
                                     0.918416421f, 1.62790866f));
  const VF e = exp2_negative_flush_denormal(p);  // the left tail goes to 0
  return hn::IfThenElse(hn::Lt(x, hn::Zero(F32())), e, hn::Sub(broadcast(2.0f), e));
}

// By its series near 0, where subtracting 1 from 1 + erf would cancel.
MOTE_INLINE VF erf(VF x) {
  const VF s = hn::Mul(x, x);
  const VF near = hn::Mul(
      x, polynomial(s, 0.000120554077f, -0.000854832586f, 0.00522397762f, -0.0268661706f, 0.112837917f, -0.376126389f, 1.12837917f));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), broadcast(0.6f)), near, hn::Sub(one_plus_erf(x), broadcast(1.0f)));
}

MOTE_INLINE VF gelu(VF x) { return hn::Mul(hn::Mul(x, broadcast(0.5f)), one_plus_erf(hn::Mul(x, broadcast(0.707106781f)))); }

// (1 + tanh z) / 2 is the sigmoid of 2 z.
MOTE_INLINE VF gelu_tanh(VF x) {
  return silu(x, hn::Mul(broadcast(1.595769122f), hn::MulAdd(hn::Mul(hn::Mul(x, x), x), broadcast(0.044715f), x)));
}

// log x for x > 0 and normal.
MOTE_INLINE VF log_normal(VF x) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  // x = 2^n * m with m in [sqrt(1/2), sqrt(2))
  const auto bits = hn::BitCast(di, x);
  const auto n = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const VF m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(n)));
  // log m = 2 atanh(s), s = (m - 1) / (m + 1)
  const VF one = broadcast(1.0f), s = quotient(hn::Sub(m, one), hn::Add(m, one)), s2 = hn::Mul(s, s);
  const VF series = polynomial(s2, 0.2370f, 0.28498f, 0.400006f, 0.66666667f);
  const VF log_m = hn::MulAdd(hn::Mul(s, s2), series, hn::Add(s, s));
  return hn::MulAdd(hn::ConvertTo(d, n), broadcast(0.693147181f), log_m);
}

// log x: -infinity at 0, NaN below.
MOTE_INLINE VF log(VF x) {
  const VF zero = hn::Zero(F32()), infinity = broadcast(HUGE_VALF);
  const auto tiny = hn::Lt(x, broadcast(1.17549435e-38f));
  const VF scaled = hn::IfThenElse(tiny, hn::Mul(x, broadcast(8388608.0f)), x);
  VF y = hn::Sub(log_normal(scaled), hn::IfThenElseZero(tiny, broadcast(15.9423852f)));
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  // Negative x: the square root of a negative number gives the NaN; a NaN propagates.
  return hn::IfThenElse(hn::Ge(x, zero), y, square_root(hn::Sub(x, hn::IfThenElseZero(hn::Lt(x, zero), broadcast(1.0f)))));
}

// log(1 + e^x) = max(x, 0) + log1p(e^-|x|); log1p(u) as log(w) * u / (w - 1) with w = 1 + u, which keeps small u.
MOTE_INLINE VF softplus(VF x) {
  const VF one = broadcast(1.0f), zero = hn::Zero(F32());
  const VF u = exp(hn::Neg(hn::Abs(x))), w = hn::Add(u, one), difference = hn::Sub(w, one);
  const VF log1p = hn::IfThenElse(hn::Eq(difference, zero), u, quotient(hn::Mul(log_normal(w), u), difference));
  return hn::Add(larger(zero, x), log1p);
}

}  // namespace mote::kernels::MOTE_ISA_NAME
