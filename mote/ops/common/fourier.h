#pragma once

#include <cmath>

#include "mote/core/op.h"

namespace mote::ops {

template <class C>
struct Complex {
  C re, im;
};
template <class C>
Complex<C> operator*(const Complex<C>& a, const Complex<C>& b) noexcept {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

constexpr int64_t kMaxFourier = 1 << 24;  // points; keeps the working memory below 32 bits

// Discrete Fourier transform of n points, n of any factors: each prime factor p costs n * p products, so powers of two are fast.
// Fill input(), call transform(), read its result. Nothing is divided by n.
template <class C>
class Fourier {
 public:
  // Working memory, in numbers of C.
  static uint64_t scratch_numbers(int64_t n) noexcept { return static_cast<uint64_t>(n) * 8; }

  Fourier(int32_t n, bool inverse, void* scratch) noexcept
      : n_(n), input_(static_cast<Complex<C>*>(scratch)), result_(input_ + n), roots_(result_ + n), column_(roots_ + n) {
    const double sign = inverse ? 1 : -1;
    for (int32_t k = 0; k < n; ++k) {
      const double angle = 6.283185307179586476925 * k / n;
      roots_[k] = {static_cast<C>(std::cos(angle)), static_cast<C>(sign * std::sin(angle))};
    }
    // Quarter turns are exact.
    if (n % 2 == 0) roots_[n / 2] = {C(-1), C(0)};
    if (n % 4 == 0) roots_[n / 4] = {C(0), static_cast<C>(sign)}, roots_[n / 4 * 3] = {C(0), static_cast<C>(-sign)};
  }
  Complex<C>* input() const noexcept { return input_; }
  const Complex<C>* transform() noexcept {
    pass(n_, 1, input_, result_);
    return result_;
  }

 private:
  static int32_t smallest_factor(int32_t n) noexcept {
    for (int32_t p = 2; p * p <= n; ++p)
      if (n % p == 0) return p;
    return n;
  }
  // Transforms n points that lie `stride` apart: p transforms of every p-th point, then n/p small ones across them.
  void pass(int32_t n, int32_t stride, const Complex<C>* in, Complex<C>* out) noexcept {
    if (n == 1) {
      *out = *in;
      return;
    }
    const int32_t p = smallest_factor(n), m = n / p;
    for (int32_t q = 0; q < p; ++q) pass(m, stride * p, in + static_cast<ptrdiff_t>(q) * stride, out + static_cast<ptrdiff_t>(q) * m);
    for (int32_t k = 0; k < m; ++k) {
      for (int32_t q = 0; q < p; ++q) column_[q] = out[q * m + k] * roots_[q * k * stride];
      for (int32_t s = 0; s < p; ++s) {
        Complex<C> sum = column_[0];
        for (int32_t q = 1; q < p; ++q) {
          const int64_t turn = static_cast<int64_t>(q) * s % p;
          const Complex<C> term = column_[q] * roots_[turn * (n_ / p)];
          sum.re += term.re;
          sum.im += term.im;
        }
        out[s * m + k] = sum;
      }
    }
  }

  int32_t n_;
  Complex<C>*input_, *result_, *roots_, *column_;
};

}  // namespace mote::ops
