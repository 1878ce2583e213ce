#pragma once

// SVDF and LSTM for Armv8.1-M with Helium (MVE).

#include "mote/kernels/cortexm/helium.h"
#include "mote/kernels/cortexm/recurrent.h"

namespace mote::cortexm::helium {

// exp(n) of eight numbers, bit-exact with exp_of_negative16.
template <int kBits>
inline int16x8_t exp_of_negative16(int16x8_t n) {
  constexpr int kFraction = 15 - kBits;
  constexpr int16_t kQuarter = 1 << (kFraction - 2);
  const int16x8_t near = vsubq_n_s16(vandq_s16(n, vdupq_n_s16(kQuarter - 1)), kQuarter), rest = vsubq_s16(near, n);
  const int16x8_t x = vaddq_n_s16(vshlq_n_s16(near, kBits), 4096), x2 = vqrdmulhq_s16(x, x), x3 = vqrdmulhq_s16(x2, x);
  const int16x8_t x4 = vqrdmulhq_s16(x2, x2);
  const int16x8_t tail = vrshrq_n_s16(vaddq_s16(vqrdmulhq_n_s16(vaddq_s16(vrshrq_n_s16(x4, 2), x3), 10923), x2), 1);
  int16x8_t r = vqaddq_n_s16(vqrdmulhq_n_s16(vaddq_s16(x, tail), 28918), 28918);
#pragma GCC unroll 8
  for (int e = -2; e <= 4 && e < kBits; ++e) {
    const mve_pred16_t set = vcmpneq_n_s16(vandq_s16(rest, vdupq_n_s16(static_cast<int16_t>(1 << (kFraction + e)))), 0);
    r = vpselq_s16(vqrdmulhq_n_s16(r, static_cast<int16_t>(kPowersOfE[e + 2])), r, set);
  }
  if constexpr (kBits > 5) r = vpselq_s16(vdupq_n_s16(0), r, vcmpltq_n_s16(n, static_cast<int16_t>(-(1 << (20 - kBits)))));
  return r;
}
inline int16x8_t reciprocal_of_half_sum16(int16x8_t e) {
  const int16x8_t half = vrhaddq_s16(e, vdupq_n_s16(32767));
  int16x8_t x = vaddq_n_s16(vqrdmulhq_n_s16(half, -15420), 23130);
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) x = vaddq_s16(x, vshlq_n_s16(vqrdmulhq_s16(x, vsubq_s16(vdupq_n_s16(8192), vqrdmulhq_s16(half, x))), 2));
  return x;
}
inline int16x8_t logistic16(int16x8_t a) {
  const mve_pred16_t above = vcmpgtq_n_s16(a, 0);
  const int16x8_t x = reciprocal_of_half_sum16(exp_of_negative16<3>(vpselq_s16(vnegq_s16(a), a, above)));
  const int16x8_t r = vqshlq_n_s16(x, 1), both = vpselq_s16(r, vsubq_s16(vdupq_n_s16(32767), r), above);
  return vpselq_s16(vdupq_n_s16(1 << 14), both, vcmpeqq_n_s16(a, 0));
}
template <int kBits>
inline int16x8_t tanh16(int16x8_t a) {
  const mve_pred16_t below = vcmpltq_n_s16(a, 0);
  const int16x8_t x = reciprocal_of_half_sum16(exp_of_negative16<kBits + 1>(vpselq_s16(a, vnegq_s16(a), below)));
  const int16x8_t r = vqshlq_n_s16(vsubq_n_s16(x, 8192), 2), both = vpselq_s16(vnegq_s16(r), r, below);
  return vpselq_s16(vdupq_n_s16(0), both, vcmpeqq_n_s16(a, 0));
}

// The vector of matrix-vector products.
struct Products {
  using Weight = int8_t;  // as dot_4 reads them, K padded to a multiple of 16
  const int8_t* x;
  int32_t full;
  bool rest;
  alignas(16) int8_t last[16];

  Products(const int8_t* in, int32_t inputs) : x(in), full(inputs / 16), rest(inputs % 16 != 0) {
    if (rest) copy(x + full * 16, last, inputs % 16), fill(0, last + inputs % 16, 16 - inputs % 16);
  }
  void four(const int8_t*& w, int32_t* sums) const {
    if (full > 0) vstrwq_s32(sums, dot_4(x, w, full, sums));
    if (rest) vstrwq_s32(sums, dot_4(last, w, 1, sums));
  }
  static int32_t shift_and_multiply(const int16_t* old, const int16_t* w, int32_t memory, int32_t newest, int16_t* to) {
    int32_t sum = newest * w[memory - 1];
    for (int32_t m = 0; m + 1 < memory; m += 8) {
      const mve_pred16_t p = vctp16q(static_cast<uint32_t>(memory - 1 - m));
      const int16x8_t v = vldrhq_z_s16(old + m + 1, p);
      vstrhq_p_s16(to + m, v, p);
      sum = vmladavaq_s16(sum, v, vldrhq_z_s16(w + m, p));
    }
    to[memory - 1] = static_cast<int16_t>(newest);
    return sum;
  }
  template <class F>
  static void each(const int16_t* x, int32_t count, int16_t* y, const F& f) {
    for (; count > 0; count -= 8, x += 8, y += 8) {
      const mve_pred16_t p = vctp16q(static_cast<uint32_t>(count));
      vstrhq_p_s16(y, f(vldrhq_z_s16(x, p)), p);
    }
  }
  static void logistic(int16_t* x, int32_t count) { each(x, count, x, logistic16); }
  template <int kBits>
  static void tanh(const int16_t* x, int32_t count, int16_t* y) {
    each(x, count, y, tanh16<kBits>);
  }
};

inline void svdf(const Svdf& s, const int16_t* old, const int8_t* x, int16_t* state, int8_t* y) {
  svdf_with<Products>(s, old, x, state, y);
}
template <int kCellBits>
inline void lstm(const Lstm& l, const int8_t* x, const int8_t* hidden0, const int16_t* cell0, int8_t* y, int8_t* hidden, int16_t* cell,
                 int16_t* gates) {
  lstm_with<Products, kCellBits>(l, x, hidden0, cell0, y, hidden, cell, gates);
}

}  // namespace mote::cortexm::helium
