#pragma once

// Loops over a shape that several operands share, as few as their strides allow.

#include "mote/kernels/common/parallel.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr int kMaxLoops = 2 * kMaxRank + 1;  // twice a tensor's dimensions (repetitions), and close()

// Dimensions of one element are left out; neighbours that lie one behind the other in every operand are one.
template <int N>
struct Nest {
  int depth = 0;
  int32_t size[kMaxLoops];       // outermost first
  int64_t stride[kMaxLoops][N];  // bytes; 0 where an operand is broadcast
  int64_t base[N] = {};          // bytes

  MOTE_INLINE void push(int32_t n, const int64_t* steps) {
    if (n == 1) return;
    bool joins = depth > 0;
    for (int k = 0; k < N && joins; ++k) joins = stride[depth - 1][k] == n * steps[k];
    if (!joins) size[depth++] = 1;
    size[depth - 1] *= n;
    for (int k = 0; k < N; ++k) stride[depth - 1][k] = steps[k];
  }
  // Operands broadcast to `shape` as numpy does it, dimension `left_out` (or -1) not looped over.
  void make(const TensorDesc& shape, const TensorDesc* const* operands, int left_out = -1) {
    for (int i = 0; i < shape.rank; ++i) {
      if (i == left_out) continue;
      int64_t steps[N];
      for (int k = 0; k < N; ++k) {
        const int own = i - (shape.rank - operands[k]->rank);
        steps[k] = own < 0 || operands[k]->dims[own] == 1 ? 0 : operands[k]->strides[own];
      }
      push(shape.dims[i], steps);
    }
  }
  // Makes sure that elements of the innermost loop are neighbours (or the same one) in every operand, each as wide as told.
  void close(const int32_t* widths) {
    bool neighbours = depth > 0;
    for (int k = 0; k < N && neighbours; ++k) neighbours = stride[depth - 1][k] == widths[k] || stride[depth - 1][k] == 0;
    if (neighbours) return;
    size[depth] = 1;
    for (int k = 0; k < N; ++k) stride[depth][k] = widths[k];
    ++depth;
  }
  int32_t length() const { return size[depth - 1]; }
  int64_t runs() const {
    int64_t n = 1;
    for (int i = 0; i + 1 < depth; ++i) n *= size[i];
    return n;
  }
};

// body(offsets, steps, length) of the walks below, by its address: they are there once for all bodies.
class RunBody {
 public:
  template <class F>
  RunBody(const F& body)
      : body_(&body), call_([](const void* f, const int64_t* offsets, const int64_t* steps, int32_t length) {
          (*static_cast<const F*>(f))(offsets, steps, length);
        }) {}
  void operator()(const int64_t* offsets, const int64_t* steps, int32_t length) const { call_(body_, offsets, steps, length); }

 private:
  const void* body_;
  void (*call_)(const void*, const int64_t*, const int64_t*, int32_t);
};

// Calls body(offsets, steps, length) for `count` runs of the innermost loop from run `first` on; elements [begin, begin + length) of each.
// Offsets and steps from element to element in bytes.
template <int N>
[[gnu::noinline]] void walk_runs(const Nest<N>& nest, int64_t first, int64_t count, int32_t begin, int32_t length, RunBody body) {
  const int last = nest.depth - 1;
  int32_t index[kMaxLoops];
  int64_t offset[N];
  for (int k = 0; k < N; ++k) offset[k] = nest.base[k] + begin * nest.stride[last][k];
  for (int i = last - 1; i >= 0; --i) {
    index[i] = static_cast<int32_t>(first % nest.size[i]);
    first /= nest.size[i];
    for (int k = 0; k < N; ++k) offset[k] += index[i] * nest.stride[i][k];
  }
  for (;;) {
    body(offset, nest.stride[last], length);
    if (--count <= 0) return;
    for (int i = last - 1; i >= 0; --i) {
      const bool wraps = ++index[i] == nest.size[i];
      for (int k = 0; k < N; ++k) offset[k] += (wraps ? 1 - nest.size[i] : 1) * nest.stride[i][k];
      if (!wraps) break;
      index[i] = 0;
    }
  }
}

// body(offsets, steps, length) for every run, on the caller's threads when the elements cost enough: `cost` steps (parallel.h) each.
// Where a run is cut, parts begin at multiples of `unit` elements.
template <int N>
[[gnu::noinline]] void each_run(const Nest<N>& nest, const Threads* threads, double cost, RunBody body, int32_t unit = 64) {
  const int32_t length = nest.length();
  const int64_t runs = nest.runs();
  if (runs == 0 || length == 0) return;
  const uint32_t helpers = useful_threads(threads, cost * static_cast<double>(runs) * length);
  if (helpers < 2) return walk_runs(nest, 0, runs, 0, length, body);
  const uint32_t parts = helpers * 2;
  const bool by_run = runs >= parts;
  const int32_t units = by_run ? static_cast<int32_t>(runs < 0x7fffffff ? runs : 0x7fffffff) : (length + unit - 1) / unit;
  parallel_for(threads, parts, [&](uint32_t i) {
    const Range part = part_of(units, i, parts);
    if (part.size == 0) return;
    if (by_run) return walk_runs(nest, part.first, part.size, 0, length, body);
    const int32_t begin = part.first * unit, end = (part.first + part.size) * unit;
    walk_runs(nest, 0, runs, begin, (end < length ? end : length) - begin, body);
  });
}

// The same for a row range: with rows that a strip asks for, dimension 1 is looped over here, modulo the ring of each operand that has one.
template <int N>
[[gnu::noinline]] void each_run(const TensorDesc& shape, const TensorDesc* const* operands, Rows rows, const Threads* threads, double cost,
                                RunBody body) {
  int32_t widths[N];
  for (int k = 0; k < N; ++k) widths[k] = static_cast<int32_t>(dtype_bytes(operands[k]->dtype));
  Nest<N> nest;
  if (rows.all() || shape.rank < 3) {
    nest.make(shape, operands);
    nest.close(widths);
    return each_run(nest, threads, cost, body);
  }
  nest.make(shape, operands, 1);
  nest.close(widths);
  for (int32_t row = rows.begin; row < rows.end && row < shape.dims[1]; ++row) {
    for (int k = 0; k < N; ++k) {
      const TensorDesc& d = *operands[k];
      const int own = 1 - (shape.rank - d.rank);
      const int32_t line = d.ring_rows != 0 ? row % d.ring_rows : row;
      nest.base[k] = own < 0 || d.dims[own] == 1 ? 0 : int64_t{line} * d.strides[own];
    }
    each_run(nest, threads, cost, body);
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME
