#pragma once

// Loop nests over a shape that N operands share, with as few loops as their strides allow, and walks over them that threads may share.

#include "mote/kernels/common/parallel.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr int kMaxLoops = 2 * kMaxRank + 1;  // tile() needs two for each dimension; ensure_contiguous() adds one

// Loops of one iteration are left out; adjacent dimensions that are contiguous in every operand become one loop.
template <int N>
struct StridedLoopNest {
  int depth = 0;
  int32_t size[kMaxLoops];       // outermost first
  int64_t stride[kMaxLoops][N];  // bytes; 0 where an operand is broadcast
  int64_t base[N] = {};          // bytes

  MOTE_INLINE void push(int32_t n, const int64_t* steps) {
    if (n == 1) return;
    bool merges = depth > 0;
    for (int k = 0; k < N && merges; ++k) merges = stride[depth - 1][k] == n * steps[k];
    if (!merges) size[depth++] = 1;
    size[depth - 1] *= n;
    for (int k = 0; k < N; ++k) stride[depth - 1][k] = steps[k];
  }
  // Operands are broadcast to `shape` as in NumPy; dimension `skipped` (or -1: none) is not looped over.
  void make(const TensorDesc& shape, const TensorDesc* const* operands, int skipped = -1) {
    for (int i = 0; i < shape.rank; ++i) {
      if (i == skipped) continue;
      int64_t steps[N];
      for (int k = 0; k < N; ++k) {
        const int own = i - (shape.rank - operands[k]->rank);
        steps[k] = own < 0 || operands[k]->dims[own] == 1 ? 0 : operands[k]->strides[own];
      }
      push(shape.dims[i], steps);
    }
  }
  // Ensures that the innermost loop is contiguous (or broadcast) in every operand, whose elements have these widths in bytes: adds a loop
  // of one iteration where it is not.
  void ensure_contiguous(const int32_t* widths) {
    bool contiguous = depth > 0;
    for (int k = 0; k < N && contiguous; ++k) contiguous = stride[depth - 1][k] == widths[k] || stride[depth - 1][k] == 0;
    if (contiguous) return;
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

// A type-erased body(offsets, steps, length): the walks below are compiled once instead of once for each body, which keeps the library
// small.
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

// Calls body(offsets, steps, length) for `count` executions (runs) of the innermost loop from run `first` on, for elements
// [begin, begin + length) of each. offsets: bytes to the first of these elements in each operand; steps: bytes from element to element.
template <int N>
[[gnu::noinline]] void for_run_range(const StridedLoopNest<N>& nest, int64_t first, int64_t count, int32_t begin, int32_t length,
                                     RunBody body) {
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

// body(offsets, steps, length) for every run, on the caller's threads when there is enough work: `cost` steps (parallel.h) per element. Few
// long runs are split at multiples of `unit` elements.
template <int N>
[[gnu::noinline]] void for_each_run(const StridedLoopNest<N>& nest, const Threads* threads, double cost, RunBody body, int32_t unit = 64) {
  const int32_t length = nest.length();
  const int64_t runs = nest.runs();
  if (runs == 0 || length == 0) return;
  const uint32_t helpers = thread_count(threads, cost * static_cast<double>(runs) * length);
  if (helpers < 2) return for_run_range(nest, 0, runs, 0, length, body);
  const uint32_t parts = helpers * 2;
  const bool by_run = runs >= parts;
  const int32_t units = by_run ? static_cast<int32_t>(runs < 0x7fffffff ? runs : 0x7fffffff) : (length + unit - 1) / unit;
  parallel_for(threads, parts, [&](uint32_t i) {
    const Range part = part_of(units, i, parts);
    if (part.size == 0) return;
    if (by_run) return for_run_range(nest, part.first, part.size, 0, length, body);
    const int32_t begin = part.first * unit, end = (part.first + part.size) * unit;
    for_run_range(nest, 0, runs, begin, (end < length ? end : length) - begin, body);
  });
}

// The same for operands broadcast to `shape`, restricted to a range of rows (dimension 1) when a depth-first strip asks for one: rows are
// then looped over here, modulo the ring buffer of each operand that has one.
template <int N>
[[gnu::noinline]] void for_each_run(const TensorDesc& shape, const TensorDesc* const* operands, Rows rows, const Threads* threads,
                                    double cost, RunBody body) {
  int32_t widths[N];
  for (int k = 0; k < N; ++k) widths[k] = static_cast<int32_t>(dtype_bytes(operands[k]->dtype));
  StridedLoopNest<N> nest;
  if (rows.all() || shape.rank < 3) {
    nest.make(shape, operands);
    nest.ensure_contiguous(widths);
    return for_each_run(nest, threads, cost, body);
  }
  nest.make(shape, operands, 1);
  nest.ensure_contiguous(widths);
  for (int32_t row = rows.begin; row < rows.end && row < shape.dims[1]; ++row) {
    for (int k = 0; k < N; ++k) {
      const TensorDesc& d = *operands[k];
      const int own = 1 - (shape.rank - d.rank);
      const int32_t line = d.ring_rows != 0 ? row % d.ring_rows : row;
      nest.base[k] = own < 0 || d.dims[own] == 1 ? 0 : int64_t{line} * d.strides[own];
    }
    for_each_run(nest, threads, cost, body);
  }
}

// Instantiated in loops.cc alone: files compiled with -O2 and with -Os would define different weak functions of one name.
#define MOTE_LOOPS(n)                                                                                            \
  extern template void for_run_range<n>(const StridedLoopNest<n>&, int64_t, int64_t, int32_t, int32_t, RunBody); \
  extern template void for_each_run<n>(const StridedLoopNest<n>&, const Threads*, double, RunBody, int32_t);     \
  extern template void for_each_run<n>(const TensorDesc&, const TensorDesc* const*, Rows, const Threads*, double, RunBody);
MOTE_LOOPS(2)
MOTE_LOOPS(3)
MOTE_LOOPS(4)
#undef MOTE_LOOPS

}  // namespace mote::kernels::MOTE_ISA_NAME
