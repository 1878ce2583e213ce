#pragma once

#include "mote/ops/common/axes_walk.h"

namespace mote::ops {

// Up to eight nested loops over byte strides.
struct LoopNest {
  int depth = 0;
  int32_t size[kMaxRank] = {};
  int32_t stride[kMaxRank] = {};

  void push(int32_t n, int32_t step) {
    size[depth] = n;
    stride[depth++] = step;
  }
  int32_t count() const {
    int32_t n = 1;
    for (int i = 0; i < depth; ++i)
      if (size[i] == 0) return 0;  // the other sizes may be too large to multiply
    for (int i = 0; i < depth; ++i) n *= size[i];
    return n;
  }
  // Moves on by one step of loop `level`, or of the loops outside it; false when all are through.
  bool advance(int32_t* index, int level) const {
    for (int i = level; i >= 0; --i) {
      if (++index[i] < size[i]) return true;
      index[i] = 0;
    }
    return false;
  }
};

// Visits the elements of a reduction's result y. `mask` holds the axes of x that are reduced.
class ReduceWalk {
 public:
  ReduceWalk(const TensorDesc& x, const TensorDesc& y, uint32_t mask, bool keep_dims) : kept_(x, ~mask, {&x, &result_}) {
    int at = 0;
    for (int i = 0; i < x.rank; ++i) {
      const bool reduced = (mask >> i & 1) != 0;
      if (reduced) inner.push(x.dims[i], x.strides[i]);
      else result_.strides[i] = at < y.rank ? y.strides[at] : 0;
      if (reduced && !keep_dims) continue;
      fits_ = fits_ && at < y.rank && y.dims[at] == (reduced ? 1 : x.dims[i]);
      ++at;
    }
    fits_ = fits_ && at == y.rank;
  }
  ReduceWalk(const ReduceWalk&) = delete;

  // True when y has the shape of the result.
  bool fits() const { return fits_; }

  // Moves to the first, then to each following element of y. False when there is none left.
  bool next() { return kept_.next(); }
  int32_t x_offset() const { return kept_.offset[0]; }  // bytes
  int32_t y_offset() const { return kept_.offset[1]; }

  LoopNest inner;  // over the elements of x that make one element of y

 private:
  TensorDesc result_{};  // y's strides at the dimensions of x
  AxesWalk<2> kept_;
  bool fits_ = true;
};

// The innermost runs of a nest that starts at `first`.
class LoopRuns {
 public:
  LoopRuns(const LoopNest& loops, const uint8_t* first)
      : length(loops.depth > 0 ? loops.size[loops.depth - 1] : 1),
        step(loops.depth > 0 ? loops.stride[loops.depth - 1] : 0),
        loops_(loops),
        first_(loops.count() > 0 ? first : nullptr) {}

  // The first element of the next run; null when there is none left.
  [[gnu::noinline]] const uint8_t* next() {
    if (first_ == nullptr) return nullptr;
    const int last = loops_.depth - 1;
    const uint8_t* p = first_;
    for (int i = 0; i < last; ++i) p += static_cast<ptrdiff_t>(index_[i]) * loops_.stride[i];
    if (!loops_.advance(index_, last - 1)) first_ = nullptr;
    return p;
  }

  const int32_t length;
  const ptrdiff_t step;  // bytes

 private:
  const LoopNest& loops_;
  const uint8_t* first_;
  int32_t index_[kMaxRank] = {};
};

// The elements of x that make one element of the result, in row-major order.
template <class T>
class Reduced {
 public:
  Reduced(const Tensor& x, const ReduceWalk& walk)
      : first_(x.at<const uint8_t>(walk.x_offset())), loops_(walk.inner), count_(loops_.count()) {}

  int32_t count() const { return count_; }

  // Calls f(v) with each element, in the type it is computed in.
  template <class F>
  void each(F f) const {
    LoopRuns runs(loops_, first_);
    while (const uint8_t* p = runs.next())
      for (int32_t i = 0; i < runs.length; ++i, p += runs.step) f(value_at(p));
  }

 private:
  static Compute<T> value_at(const uint8_t* p) {
    if constexpr (std::is_same_v<T, bool>) return *p != 0;
    else return static_cast<Compute<T>>(*reinterpret_cast<const T*>(p));
  }

  const uint8_t* first_;
  const LoopNest& loops_;
  int32_t count_;
};

}  // namespace mote::ops
