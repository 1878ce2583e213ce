#pragma once

// Splitting work among the threads that the caller lends (OpContext::threads).

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"
#include "mote/kernels/common/tuning.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Calls body(i, thread) for i in [0, count), in parallel where the caller lends threads.
template <class F>
inline void parallel_for_thread(const Threads* threads, uint32_t count, const F& body) {
  if (threads == nullptr || threads->count < 2 || count < 2) {
    for (uint32_t i = 0; i < count; ++i) body(i, 0u);
    return;
  }
  threads->parallel_for(
      threads->self, count, [](void* f, uint32_t i, uint32_t thread) { (*static_cast<const F*>(f))(i, thread); }, const_cast<F*>(&body));
}
template <class F>
inline void parallel_for(const Threads* threads, uint32_t count, const F& body) {
  parallel_for_thread(threads, count, [&](uint32_t i, uint32_t) { body(i); });
}

// How many of `threads` to split work among, so that each has at least kMinStepsPerThread of the steps that tuning.h counts.
inline uint32_t thread_count(const Threads* threads, double steps) {
  if (threads == nullptr || threads->count < 2 || steps < 2 * kMinStepsPerThread) return 1;
  const double wanted = steps / kMinStepsPerThread;
  return wanted < threads->count ? static_cast<uint32_t>(wanted) : threads->count;
}

// Part number `part` of `parts` nearly equal parts of [0, total).
struct Range {
  int32_t first, size;
};
inline Range part_of(int32_t total, uint32_t part, uint32_t parts) {
  const auto edge = [&](uint32_t i) { return static_cast<int32_t>(int64_t{total} * i / parts); };
  return {edge(part), edge(part + 1) - edge(part)};
}

// Calls body(row) for every row in [0, rows); threads share them in blocks of adjacent rows. work: steps of all rows together.
template <class F>
inline void split_rows(const Threads* threads, int32_t rows, double work, const F& body) {
  const uint32_t helpers = thread_count(threads, work);
  const uint32_t parts = helpers < 2 ? 1 : helpers * 4 < static_cast<uint32_t>(rows) ? helpers * 4 : static_cast<uint32_t>(rows);
  parallel_for(helpers < 2 ? nullptr : threads, parts, [&](uint32_t i) {
    const Range r = part_of(rows, i, parts);
    for (int32_t row = r.first; row < r.first + r.size; ++row) body(row);
  });
}

// Bytes that a GEMM reads and writes, each counted once.
struct BytesMoved {
  int64_t rows = 0, weights = 0, outputs = 0;
};

// Partitions the row tiles and output panels of a GEMM into rectangles of at most `tiles_per_part` tiles, and into a few for each thread.
// The split is along rows, whose values a thread likely has in its cache; or along outputs where weights are most of the bytes, because
// each rectangle reads all weights of its outputs.
class TilePartition {
 public:
  TilePartition(int32_t tiles, int32_t tiles_per_part, int32_t panels, int32_t panel_unit, double work, const Threads* threads,
                const BytesMoved& bytes = {})
      : tiles_(tiles), panels_(panels), unit_(panel_unit), units_((panels + panel_unit - 1) / panel_unit), threads_(threads) {
    constexpr int64_t kWeightsInCache = 512 * 1024;
    const int32_t helpers = static_cast<int32_t>(thread_count(threads, work)), wanted = helpers * 4;
    int32_t rows = (tiles + tiles_per_part - 1) / tiles_per_part, outputs = 1;
    const auto raise_to = [](int32_t* parts, int32_t count, int32_t limit) {
      if (*parts < count) *parts = count < limit ? count : limit;
    };
    if (helpers < 2) {
      threads_ = nullptr;
    } else if (bytes.weights > 2 * (bytes.rows + bytes.outputs) ||
               (bytes.weights > bytes.rows && imbalance(tiles, helpers) > 1.05 * imbalance(units_, helpers))) {
      // Every part along the outputs reads all rows, so there are no more of them than an even share needs.
      const int32_t parts_per_thread = units_ / helpers / 2;
      raise_to(&outputs, helpers * (parts_per_thread < 1 ? 1 : parts_per_thread > 4 ? 4 : parts_per_thread), units_);
      raise_to(&rows, (wanted + outputs - 1) / outputs, tiles);
    } else {
      raise_to(&rows, bytes.weights > kWeightsInCache ? helpers : wanted, tiles);
      raise_to(&outputs, (wanted + rows - 1) / rows, units_);
      raise_to(&rows, (wanted + outputs - 1) / outputs, tiles);
    }
    row_parts_ = static_cast<uint32_t>(rows);
    output_parts_ = static_cast<uint32_t>(outputs);
  }

  template <class F>
  void run(const F& body) const {
    parallel_for(threads_, row_parts_ * output_parts_, [&](uint32_t i) {
      const Range rows = part_of(tiles_, i / output_parts_, row_parts_), units = part_of(units_, i % output_parts_, output_parts_);
      const int32_t first = units.first * unit_, end = (units.first + units.size) * unit_;
      if (rows.size > 0 && units.size > 0) body(rows.first, rows.size, first, (end < panels_ ? end : panels_) - first);
    });
  }

 private:
  // Load of the busiest thread relative to an even share, when n equal pieces are distributed.
  static double imbalance(int32_t n, int32_t threads) { return static_cast<double>((n + threads - 1) / threads * threads) / n; }

  int32_t tiles_, panels_, unit_, units_;
  uint32_t row_parts_ = 1, output_parts_ = 1;
  const Threads* threads_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
