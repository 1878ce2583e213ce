#pragma once

// Requantization of accumulators to 8 bits, with the operator's own multipliers.

#include <cstring>

#include "mote/kernels/cortexm/dsp.h"
#include "mote/ops/common/quant_epilogue.h"

namespace mote::cortexm {

constexpr int32_t kMostSum = (1 << 30) - 1, kMostProduct = 128 * 255, kMostInputs = kMostSum / kMostProduct;

// sum * the f64 with these bits: rounded to f64, then half away from zero to an integer; saturates, 0 for NaN. In integer arithmetic,
// because the C library's soft-float functions are slower and five times as large.
inline int32_t times_real(int32_t sum, uint64_t bits) {
  const uint64_t fraction = bits & 0xfffffffffffff;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (sum == 0 || exponent == 0 || (exponent == 0x7ff && fraction != 0)) return 0;
  const bool negative = (sum < 0) != (bits >> 63 != 0);
  const uint32_t size = sum < 0 ? 0u - static_cast<uint32_t>(sum) : static_cast<uint32_t>(sum),
                 zeros = static_cast<uint32_t>(__builtin_clz(size));
  // The product is `top` and 32 bits of `low` below it; all of it is divided by 2^down.
  const uint64_t mantissa = fraction << 11 | uint64_t{1} << 63;
  uint64_t low = uint64_t{size << zeros} * static_cast<uint32_t>(mantissa);
  uint64_t top = uint64_t{size << zeros} * static_cast<uint32_t>(mantissa >> 32) + (low >> 32);
  int down = 31 + static_cast<int>(zeros) + 1023 - exponent;
  if (top >> 63 == 0) {
    low <<= 1;
    top = top << 1 | (low >> 32 & 1);
    ++down;
  }
  const uint32_t rest = static_cast<uint32_t>(top) & 0x7ff;
  const bool odd = (top & 0x800) != 0, more = static_cast<uint32_t>(low) != 0;
  top -= rest;
  if (rest > 0x400 || (rest == 0x400 && (odd || more))) top += 0x800;
  if (top == 0) top = uint64_t{1} << 63, --down;
  constexpr uint64_t kMost = 0x7fffffff;
  const uint64_t v = down > 64 ? 0 : down < 33 ? kMost + 1 : ((top >> (down - 1)) + 1) >> 1;
  if (negative) return static_cast<int32_t>(0u - static_cast<uint32_t>(v < kMost + 1 ? v : kMost + 1));
  return static_cast<int32_t>(v < kMost ? v : kMost);
}

// A parameter: one value, or one for each channel.
struct Numbers {
  const int32_t* first = nullptr;
  int32_t step = 0;

  Numbers(const OpContext& c, int operand) {
    if (!c.has_input(operand)) return;
    const Tensor& t = c.input(operand);
    first = t.as<const int32_t>();
    step = t.rank() == 0 || t.dim(0) == 1 ? 0 : 1;
  }
  int32_t operator()(int32_t i) const { return first[i * step]; }
};

// Fixed-point requantization as in QuantEpilogue, in a short form that is exact for accumulators below 2^30 after the left shift.
struct Epilogue {
  Numbers biases, multiplier, shift;
  int32_t zero, lo, hi;

  template <class A>
  Epilogue(const OpContext& c, const A& a)
      : biases(c, ops::kEpilogueBias), multiplier(c, ops::kEpilogueMultiplier), shift(c, ops::kEpilogueShift), zero(a.output_zero) {
    const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, DType::s8);
    lo = r.lo, hi = r.hi;
  }
  [[gnu::always_inline]] int32_t bias(int32_t o) const { return biases.first != nullptr ? biases(o) : 0; }
  int32_t clamped(int32_t v) const { return v < lo ? lo : v > hi ? hi : v; }
  // The operator's own requantization, for any accumulator.
  int32_t exact(int32_t sum, int32_t o) const { return ops::clamp_to(int64_t{ops::scale_by(sum, multiplier(o), shift(o))} + zero, lo, hi); }
  // The same for f64 multipliers.
  int32_t exact_real(int32_t sum, int32_t o) const {
    uint64_t bits;
    std::memcpy(&bits, multiplier.first + 2 * o * multiplier.step, 8);
    return ops::clamp_to(int64_t{times_real(sum, bits)} + zero, lo, hi);
  }

  // A channel's scaling. grown: what accumulators are multiplied by first, because high_mul halves.
  struct Scaling {
    int32_t multiplier, right, half, grown;
  };
  [[gnu::always_inline]] Scaling scaling(int32_t o) const {
    const int32_t s = shift(o), right = s < 0 ? -s : 0;
    return {multiplier(o), right, right > 0 ? 1 << (right - 1) : 0, s > 0 ? 2 << s : 2};
  }
  // Whether the short form is exact: shifts of at least `least`, accumulators of `inputs` products and the bias below 2^30.
  [[gnu::noinline]] bool tame(int32_t o, int32_t inputs, int32_t least) const {
    const int32_t s = shift(o), b = bias(o), limit = (s > 0 ? kMostSum >> (s < 7 ? s : 7) : kMostSum) - inputs * kMostProduct;
    return s <= 6 && s >= least && multiplier(o) >= 0 && b <= limit && b >= -limit;
  }
  // Channels with a constant result, such as those whose weights are all 0.
  bool constant(int32_t o, int32_t inputs) const {
    const int64_t low = int64_t{bias(o)} - int64_t{inputs} * kMostProduct, high = int64_t{bias(o)} + int64_t{inputs} * kMostProduct;
    if (low != static_cast<int32_t>(low) || high != static_cast<int32_t>(high) || multiplier(o) < 0) return false;
    return exact(static_cast<int32_t>(low), o) == exact(static_cast<int32_t>(high), o);
  }

  // Requantizes the accumulators of one channel in place. all_tame: the short form is known to be exact for every channel.
  template <int kCount>
  [[gnu::always_inline]] void elements(int32_t* sums, int32_t o, int32_t inputs, bool all_tame) const {
    if (!all_tame && !tame(o, inputs, -31)) {
      for (int i = 0; i < kCount; ++i) sums[i] = exact(sums[i], o);
      return;
    }
    const Scaling k = scaling(o);
    const int32_t minus = k.right > 0 ? -1 : 0;
    for (int i = 0; i < kCount; ++i) {
      const int32_t x = high_mul(sums[i] * k.grown, k.multiplier);
      sums[i] = clamped(((x + ((x >> 31) & minus) + k.half) >> k.right) + zero);
    }
  }
};

}  // namespace mote::cortexm
