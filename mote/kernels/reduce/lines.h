#pragma once

// Sums and other folds of lines of f32. Elements are taken in an order that depends on sizes alone, not on strides, so that views and dense
// tensors give the same bits.

#include "mote/kernels/common/math.h"
#include "mote/kernels/common/nest.h"

namespace mote::kernels::MOTE_ISA_NAME {

MOTE_INLINE VF load_apart(const uint8_t* p, int64_t stride, int32_t count) {
  alignas(64) float buffer[kLanes] = {};
  for (int32_t i = 0; i < count; ++i) buffer[i] = *reinterpret_cast<const float*>(p + i * stride);
  return hn::Load(F32(), buffer);
}
MOTE_INLINE void store_apart(VF v, uint8_t* p, int64_t stride, int32_t count) {
  alignas(64) float buffer[kLanes];
  hn::Store(v, F32(), buffer);
  for (int32_t i = 0; i < count; ++i) *reinterpret_cast<float*>(p + i * stride) = buffer[i];
}

// n elements `stride` bytes apart as vectors: f(k, first, v, count) with k going round 0..V-1 while whole groups last, then 0. Lanes from
// count on are 0. first: number of the vector's first element.
template <int V, class F>
MOTE_INLINE void each_vector(const uint8_t* p, int64_t stride, int32_t n, const F& f) {
  int32_t i = 0;
  if (stride == 4) {
    const float* x = reinterpret_cast<const float*>(p);
    for (; i + V * kLanes <= n; i += V * kLanes)
      unroll<V>([&](auto k) MOTE_LAMBDA { f(k, i + k * kLanes, load(x + i + k * kLanes), kLanes); });
    for (; i + kLanes <= n; i += kLanes) f(Index<0>(), i, load(x + i), kLanes);
    if (i < n) f(Index<0>(), i, load_some(x + i, n - i), n - i);
    return;
  }
  const auto at = [&](int32_t first, int32_t count) { return load_apart(p + first * stride, stride, count); };
  for (; i + V * kLanes <= n; i += V * kLanes)
    unroll<V>([&](auto k) MOTE_LAMBDA { f(k, i + k * kLanes, at(i + k * kLanes, kLanes), kLanes); });
  for (; i < n; i += kLanes) f(Index<0>(), i, at(i, n - i < kLanes ? n - i : kLanes), n - i < kLanes ? n - i : kLanes);
}

// Lanes from count on become `other`.
MOTE_INLINE VF first_lanes(VF v, int32_t count, VF other) {
  return count < kLanes ? hn::IfThenElse(hn::FirstN(F32(), static_cast<size_t>(count)), v, other) : v;
}

// Folds: neutral element, a step, and a total of partial results that loses nothing worth mentioning.
struct Sum {
  static MOTE_INLINE VF neutral() { return hn::Zero(F32()); }
  static MOTE_INLINE VF add(VF a, VF b) { return hn::Add(a, b); }
  class Total {
   public:
    // The error of each addition is kept (Knuth's two-sum).
    MOTE_INLINE void add(VF v) {
      const VF sum = hn::Add(sum_, v), part = hn::Sub(sum, sum_);
      lost_ = hn::Add(lost_, hn::Add(hn::Sub(sum_, hn::Sub(sum, part)), hn::Sub(v, part)));
      sum_ = sum;
    }
    // Infinities and NaN make the error meaningless, while the plain sum says what they give.
    MOTE_INLINE VF value() const { return hn::IfThenElse(hn::IsFinite(lost_), hn::Add(sum_, lost_), sum_); }

   private:
    VF sum_ = hn::Zero(F32()), lost_ = hn::Zero(F32());
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
// NaN wins: the vector instructions give b when one of the two is NaN.
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

// Folds f(first, v, count) of a line into a total; see each_vector.
template <class Fold, class F>
MOTE_INLINE void fold_line(typename Fold::Total& total, const uint8_t* p, int64_t stride, int32_t n, const F& f) {
  constexpr int32_t kChunk = 64 * kLanes;
  for (int32_t chunk = 0; chunk < n; chunk += kChunk, p += kChunk * stride) {
    VF part[4] = {Fold::neutral(), Fold::neutral(), Fold::neutral(), Fold::neutral()};
    each_vector<4>(p, stride, n - chunk < kChunk ? n - chunk : kChunk, [&](auto k, int32_t first, VF v, int32_t count) MOTE_LAMBDA {
      part[k] = Fold::add(part[k], first_lanes(f(chunk + first, v, count), count, Fold::neutral()));
    });
    total.add(Fold::add(Fold::add(part[0], part[1]), Fold::add(part[2], part[3])));
  }
}

// In double, by halves: short lines, whose elements all lie in different lanes, lose nothing either.
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

// All lanes of a total in one number.
template <class Fold>
MOTE_INLINE float across(const typename Fold::Total& total) {
  const F32 d;
  const VF v = total.value();
  if constexpr (std::is_same_v<Fold, Sum>) return sum_of_lanes(v);
  if (!hn::AllFalse(d, hn::IsNaN(v))) return NAN;
  if constexpr (std::is_same_v<Fold, Max>) return hn::GetLane(hn::MaxOfLanes(d, v));
  return hn::GetLane(hn::MinOfLanes(d, v));
}

// Loops over positions, outermost first, the innermost one ("line") apart.
struct Lines {
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
  // f(offset of a line's first element in bytes)
  template <class F>
  MOTE_INLINE void each(const F& f) const {
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

// Folds f(v) of lines whose elements are V vectors of neighbouring columns: totals[v]. `count` columns are there.
template <class Fold, int V, class F>
MOTE_INLINE void fold_columns(typename Fold::Total* totals, const uint8_t* first, const Lines& lines, int32_t count, const F& f) {
  constexpr int32_t kChunk = 64;
  const int64_t step = lines.step();
  lines.each([&](int64_t offset) {
    const uint8_t* p = first + offset;
    for (int32_t n = lines.length(); n > 0; n -= kChunk) {
      VF part[V];
      unroll<V>([&](auto v) MOTE_LAMBDA { part[v] = Fold::neutral(); });
      for (int32_t i = 0; i < (n < kChunk ? n : kChunk); ++i, p += step) {
        const float* x = reinterpret_cast<const float*>(p);
        unroll<V>([&](auto v) MOTE_LAMBDA { part[v] = Fold::add(part[v], f(v, V > 1 ? load(x + v * kLanes) : load_some(x, count))); });
      }
      unroll<V>([&](auto v) MOTE_LAMBDA { totals[v].add(part[v]); });
    }
  });
}

// f(Index<V>, first column, columns) in blocks of V = 4 vectors, then single ones, the last one perhaps not full.
template <class F>
MOTE_INLINE void each_column_block(int32_t columns, const F& f) {
  int32_t i = 0;
  for (; i + 4 * kLanes <= columns; i += 4 * kLanes) f(Index<4>(), i, 4 * kLanes);
  for (; i < columns; i += kLanes) f(Index<1>(), i, columns - i < kLanes ? columns - i : kLanes);
}

// True when the innermost dimension that has several elements is among the axes of `mask` (or none has).
inline bool innermost_is_in(const TensorDesc& d, uint32_t mask) {
  for (int i = d.rank - 1; i >= 0; --i)
    if (d.dims[i] != 1) return (mask >> i & 1) != 0;
  return true;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
