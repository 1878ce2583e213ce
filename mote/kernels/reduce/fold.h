#pragma once

// Reductions (folds) of f32 along axes. The order of additions depends on sizes alone, not on strides, so that views and dense tensors give
// the same bits. A "line" is the innermost reduced dimension; where the innermost dimension of the tensor is kept instead, several adjacent
// "columns" are reduced at once, one in each lane.

#include "mote/kernels/common/loops.h"
#include "mote/kernels/common/math.h"

namespace mote::kernels::MOTE_ISA_NAME::reduce {

// Strided loads and stores of at most kLanes elements, `stride` bytes apart.
MOTE_INLINE VF load_strided(const uint8_t* p, int64_t stride, int32_t count) {
  alignas(64) float buffer[kLanes] = {};
  for (int32_t i = 0; i < count; ++i) buffer[i] = *reinterpret_cast<const float*>(p + i * stride);
  return hn::Load(F32(), buffer);
}
MOTE_INLINE void store_strided(VF v, uint8_t* p, int64_t stride, int32_t count) {
  alignas(64) float buffer[kLanes];
  hn::Store(v, F32(), buffer);
  for (int32_t i = 0; i < count; ++i) *reinterpret_cast<float*>(p + i * stride) = buffer[i];
}

// n elements `stride` bytes apart as vectors: f(k, first, v, count), with k cycling through 0..V-1 (so that f can use V accumulators) in
// the unrolled loop, then 0. first: number of the vector's first element. Lanes from count on are 0.
template <int V, class F>
MOTE_INLINE void for_each_vector(const uint8_t* p, int64_t stride, int32_t n, const F& f) {
  int32_t i = 0;
  if (stride == 4) {
    const float* x = reinterpret_cast<const float*>(p);
    for (; i + V * kLanes <= n; i += V * kLanes)
      unroll<V>([&](auto k) MOTE_LAMBDA { f(k, i + k * kLanes, load(x + i + k * kLanes), kLanes); });
    for (; i + kLanes <= n; i += kLanes) f(Index<0>(), i, load(x + i), kLanes);
    if (i < n) f(Index<0>(), i, load_partial(x + i, n - i), n - i);
    return;
  }
  const auto at = [&](int32_t first, int32_t count) { return load_strided(p + first * stride, stride, count); };
  for (; i + V * kLanes <= n; i += V * kLanes)
    unroll<V>([&](auto k) MOTE_LAMBDA { f(k, i + k * kLanes, at(i + k * kLanes, kLanes), kLanes); });
  for (; i < n; i += kLanes) f(Index<0>(), i, at(i, n - i < kLanes ? n - i : kLanes), n - i < kLanes ? n - i : kLanes);
}

// Replaces the lanes from count on with `other`.
MOTE_INLINE VF first_lanes(VF v, int32_t count, VF other) {
  return count < kLanes ? hn::IfThenElse(hn::FirstN(F32(), static_cast<size_t>(count)), v, other) : v;
}

// Folds: neutral element, operation, and Total, which accumulates partial results: sums with compensation, so that long sums stay accurate.
struct Sum {
  static MOTE_INLINE VF neutral() { return hn::Zero(F32()); }
  static MOTE_INLINE VF add(VF a, VF b) { return hn::Add(a, b); }
  class Total {
   public:
    // Keeps the rounding error of each addition (Knuth's two-sum).
    MOTE_INLINE void add(VF v) {
      const VF sum = hn::Add(sum_, v), part = hn::Sub(sum, sum_);
      error_ = hn::Add(error_, hn::Add(hn::Sub(sum_, hn::Sub(sum, part)), hn::Sub(v, part)));
      sum_ = sum;
    }
    // With infinities or NaN the error is meaningless; the uncompensated sum has the right result.
    MOTE_INLINE VF value() const { return hn::IfThenElse(hn::IsFinite(error_), hn::Add(sum_, error_), sum_); }

   private:
    VF sum_ = hn::Zero(F32()), error_ = hn::Zero(F32());
  };
};
template <class F>
class PlainTotal {
 public:
  MOTE_INLINE void add(VF v) { value_ = F::add(value_, v); }
  MOTE_INLINE VF value() const { return value_; }

 private:
  VF value_ = F::neutral();
};
// NaN propagates: larger() and smaller() return b when b is NaN, and the test for a covers the rest.
struct Max {
  static MOTE_INLINE VF neutral() { return broadcast(-HUGE_VALF); }
  static MOTE_INLINE VF add(VF a, VF b) { return hn::IfThenElse(hn::Eq(a, a), larger(a, b), a); }
  using Total = PlainTotal<Max>;
};
struct Min {
  static MOTE_INLINE VF neutral() { return broadcast(HUGE_VALF); }
  static MOTE_INLINE VF add(VF a, VF b) { return hn::IfThenElse(hn::Eq(a, a), smaller(a, b), a); }
  using Total = PlainTotal<Min>;
};

// Folds f(first, v, count) of a line into a total; see for_each_vector.
template <class Fold, class F>
MOTE_INLINE void fold_line(typename Fold::Total& total, const uint8_t* p, int64_t stride, int32_t n, const F& f) {
  constexpr int32_t kChunk = 64 * kLanes;
  for (int32_t chunk = 0; chunk < n; chunk += kChunk, p += kChunk * stride) {
    VF part[4] = {Fold::neutral(), Fold::neutral(), Fold::neutral(), Fold::neutral()};
    for_each_vector<4>(p, stride, n - chunk < kChunk ? n - chunk : kChunk, [&](auto k, int32_t first, VF v, int32_t count) MOTE_LAMBDA {
      part[k] = Fold::add(part[k], first_lanes(f(chunk + first, v, count), count, Fold::neutral()));
    });
    total.add(Fold::add(Fold::add(part[0], part[1]), Fold::add(part[2], part[3])));
  }
}

// In f64, pairwise: short lines, whose elements are all in different lanes, stay accurate too.
MOTE_INLINE float sum_of_lanes(VF v) {
#if HWY_HAVE_FLOAT64
  const hn::Repartition<double, F32> d;
  const hn::Half<F32> half;
  return static_cast<float>(
      hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::PromoteTo(d, hn::LowerHalf(half, v)), hn::PromoteTo(d, hn::UpperHalf(half, v))))));
#else
  alignas(64) float lanes[kLanes];
  hn::Store(v, F32(), lanes);
  double sums[kLanes];
  for (int32_t i = 0; i < kLanes; ++i) sums[i] = static_cast<double>(lanes[i]);
  for (int32_t n = kLanes / 2; n > 0; n /= 2)
    for (int32_t i = 0; i < n; ++i) sums[i] += sums[i + n];
  return static_cast<float>(sums[0]);
#endif
}

// Reduces the lanes of a total to one number.
template <class Fold>
MOTE_INLINE float reduce_lanes(const typename Fold::Total& total) {
  const F32 d;
  const VF v = total.value();
  if constexpr (std::is_same_v<Fold, Sum>) return sum_of_lanes(v);
  if (!hn::AllFalse(d, hn::IsNaN(v))) return NAN;
  if constexpr (std::is_same_v<Fold, Max>) return hn::GetLane(hn::MaxOfLanes(d, v));
  return hn::GetLane(hn::MinOfLanes(d, v));
}

// The loop nest over the reduced axes, outermost first; its innermost loop is the line.
struct ReducedLoops {
  int depth = 0;
  int32_t size[kMaxRank];
  int64_t stride[kMaxRank];
  void push(int32_t n, int64_t step) {
    if (n == 1) return;
    size[depth] = n;
    stride[depth++] = step;
  }
  int32_t length() const { return depth > 0 ? size[depth - 1] : 1; }
  int64_t step() const { return depth > 0 ? stride[depth - 1] : 4; }
  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i < depth; ++i) n *= size[i];
    return n;
  }
  // Calls f(offset of the line's first element in bytes) for each line.
  template <class F>
  MOTE_INLINE void for_each_line(const F& f) const {
    if (depth < 2) return f(int64_t{0});
    int32_t index[kMaxRank] = {};
    int64_t offset = 0;
    if (count() == 0) return;
    for (;;) {
      f(offset);
      int i = depth - 2;
      for (; i >= 0; --i) {
        offset += stride[i];
        if (++index[i] < size[i]) break;
        offset -= stride[i] * size[i];
        index[i] = 0;
      }
      if (i < 0) return;
    }
  }
};

// Folds f(v, vector) of `count` adjacent columns, V vectors of them, over the reduced axes into totals[v].
template <class Fold, int V, class F>
MOTE_INLINE void fold_columns(typename Fold::Total* totals, const uint8_t* first, const ReducedLoops& lines, int32_t count, const F& f) {
  constexpr int32_t kChunk = 64;
  const int64_t step = lines.step();
  lines.for_each_line([&](int64_t offset) {
    const uint8_t* p = first + offset;
    for (int32_t n = lines.length(); n > 0; n -= kChunk) {
      VF part[V];
      unroll<V>([&](auto v) MOTE_LAMBDA { part[v] = Fold::neutral(); });
      for (int32_t i = 0; i < (n < kChunk ? n : kChunk); ++i, p += step) {
        const float* x = reinterpret_cast<const float*>(p);
        unroll<V>([&](auto v) MOTE_LAMBDA { part[v] = Fold::add(part[v], f(v, V > 1 ? load(x + v * kLanes) : load_partial(x, count))); });
      }
      unroll<V>([&](auto v) MOTE_LAMBDA { totals[v].add(part[v]); });
    }
  });
}

// Calls f(Index<V>, first column, columns) for blocks of V = 4 vectors of columns, then for single vectors, of which the last may be
// partial.
template <class F>
MOTE_INLINE void for_each_column_block(int32_t columns, const F& f) {
  int32_t i = 0;
  for (; i + 4 * kLanes <= columns; i += 4 * kLanes) f(Index<4>(), i, 4 * kLanes);
  for (; i < columns; i += kLanes) f(Index<1>(), i, columns - i < kLanes ? columns - i : kLanes);
}

// True when the innermost dimension of more than one element is among the axes of `mask`, or there is no such dimension.
inline bool innermost_is_in(const TensorDesc& d, uint32_t mask) {
  for (int i = d.rank - 1; i >= 0; --i)
    if (d.dims[i] != 1) return (mask >> i & 1) != 0;
  return true;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::reduce
