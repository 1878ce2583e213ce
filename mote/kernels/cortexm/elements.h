#pragma once

// Element-wise 8-bit operators: lookup tables, addition, subtraction and multiplication with broadcasting, reductions.

#include "mote/kernels/cortexm/conv.h"
#include "mote/ops/common/fixed_point.h"

namespace mote::cortexm {

// Any function of one 8-bit element, as a lookup table of all 256 results that the compiler computes.
struct Table {
  const uint8_t* results;  // indexed by the element's bits
  int32_t count;
};
inline void look_up(const Table& t, const void* from, void* to) {
  const uint8_t *results = t.results, *x = static_cast<const uint8_t*>(from);
  uint8_t* y = static_cast<uint8_t*>(to);
  for (int32_t i = t.count; i > 0; --i) *y++ = results[*x++];
}

// The same row by row, for ring buffers.
struct TableRows {
  Rows x, y;
  const uint8_t* results;
};
inline void look_up_rows(const TableRows& t, const void* from, void* to, int32_t begin, int32_t end) {
  for (int32_t row = begin; row < end; ++row) {
    const uint8_t* x = static_cast<const uint8_t*>(from) + row_offset(t.x, row);
    uint8_t* y = static_cast<uint8_t*>(to) + row_offset(t.y, row);
    for (int32_t i = t.y.width; i > 0; --i, x += t.x.pixel_bytes, y += t.y.pixel_bytes)
      for (int32_t k = 0; k < t.y.channels; ++k) y[k] = t.results[x[k]];
  }
}

// Loops over two tensors and the output, in four dimensions; strides in elements, 0 where an operand is broadcast.
struct Pairs {
  int32_t dims[4], a[4], b[4], y[4];
};
template <class T, class F>
inline void each_pair(const Pairs& p, const T* a, const T* b, T* y, const F& f) {
  for (int32_t i = 0; i < p.dims[0]; ++i)
    for (int32_t j = 0; j < p.dims[1]; ++j)
      for (int32_t k = 0; k < p.dims[2]; ++k) {
        const T* u = a + i * p.a[0] + j * p.a[1] + k * p.a[2];
        const T* v = b + i * p.b[0] + j * p.b[1] + k * p.b[2];
        T* out = y + i * p.y[0] + j * p.y[1] + k * p.y[2];
        for (int32_t l = p.dims[3]; l > 0; --l, u += p.a[3], v += p.b[3], out += p.y[3]) *out = static_cast<T>(f(*u, *v));
      }
}

struct SumPairs {
  Pairs pairs;
  Sum sum;
};
template <class T>
inline void add_pairs(const SumPairs& s, const T* a, const T* b, T* y) {
  const Sum sum = s.sum;
  each_pair(s.pairs, a, b, y, [&sum](int32_t u, int32_t v) { return added(u, v, sum); });
}
template <class T>
inline void subtract_pairs(const SumPairs& s, const T* a, const T* b, T* y) {
  const Sum sum = s.sum;
  each_pair(s.pairs, a, b, y, [&sum](int32_t u, int32_t v) { return added<-1>(u, v, sum); });
}

struct MulPairs {
  Pairs pairs;
  Scale scale;
  int16_t a_zero, b_zero, y_zero, lo, hi;
};
inline void multiply_pairs(const MulPairs& m, const int8_t* a, const int8_t* b, int8_t* y) {
  const MulPairs c = m;
  each_pair(m.pairs, a, b, y, [&c](int32_t u, int32_t v) {
    const int32_t r = scaled((u - c.a_zero) * (v - c.b_zero) * 2, c.scale) + c.y_zero;
    return r < c.lo ? c.lo : r > c.hi ? c.hi : r;
  });
}

// Reduces (outer, count, inner) to (outer, inner).
struct Reduction {
  int32_t outer, count, inner;
  int32_t multiplier, shift, offset, y_zero;  // requantization; `offset` has the zero points' contribution to the sums
};
// Sums; means, with the division folded into the multiplier.
template <class T>
inline void reduce_sum(const Reduction& r, const T* x, T* y) {
  for (int32_t o = 0; o < r.outer; ++o, x += r.count * r.inner) {
    for (int32_t i = 0; i < r.inner; ++i) {
      int32_t sum = r.offset;
      const T* in = x + i;
      for (int32_t k = r.count; k > 0; --k, in += r.inner) sum += *in;
      *y++ = ops::saturate_to<T>(int64_t{ops::scale_by(sum, r.multiplier, r.shift)} + r.y_zero);
    }
  }
}

}  // namespace mote::cortexm
