#pragma once

// Cutting work into parts for the threads that the caller lends.

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Calls body(i, thread) for i in [0, count), on the caller's threads where there are any.
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

// How many of `threads` some work deserves: a part of less than `kWorthwhile` steps is not worth handing over. A step is what a product of
// f32 takes on a fast core, about 20 ps: an element that is read, computed with a dozen instructions and written, takes ten.
inline uint32_t useful_threads(const Threads* threads, double steps) {
  constexpr double kWorthwhile = 100e3;
  if (threads == nullptr || threads->count < 2 || steps < 2 * kWorthwhile) return 1;
  const double most = steps / kWorthwhile;
  return most < threads->count ? static_cast<uint32_t>(most) : threads->count;
}

// Parts [first, first + size) of a range for each of `count` parts.
struct Range {
  int32_t first, size;
};
inline Range part_of(int32_t total, uint32_t part, uint32_t parts) {
  const auto edge = [&](uint32_t i) { return static_cast<int32_t>(int64_t{total} * i / parts); };
  return {edge(part), edge(part + 1) - edge(part)};
}

// Calls body(row) for every row in [0, rows), in parts of neighbouring rows where threads share them. `work`: steps in all.
template <class F>
inline void split_rows(const Threads* threads, int32_t rows, double work, const F& body) {
  const uint32_t helpers = useful_threads(threads, work);
  const uint32_t parts = helpers < 2 ? 1 : helpers * 4 < static_cast<uint32_t>(rows) ? helpers * 4 : static_cast<uint32_t>(rows);
  parallel_for(helpers < 2 ? nullptr : threads, parts, [&](uint32_t i) {
    const Range r = part_of(rows, i, parts);
    for (int32_t row = r.first; row < r.first + r.size; ++row) body(row);
  });
}

// Bytes that a product reads and writes, each counted once.
struct Traffic {
  int64_t rows = 0, weights = 0, outputs = 0;
};

// A rectangle of row tiles and output panels, cut into parts of at most `tiles_per_part` tiles; with threads into a few parts for each,
// along the rows (whose values a thread likely has in its cache) or, where weights are most of the bytes, along the outputs: a thread that
// takes some rows reads all weights of its outputs.
class Split {
 public:
  Split(int32_t tiles, int32_t tiles_per_part, int32_t panels, int32_t panel_unit, double work, const Threads* threads,
        const Traffic& bytes = {})
      : tiles_(tiles), panels_(panels), unit_(panel_unit), units_((panels + panel_unit - 1) / panel_unit), threads_(threads) {
    constexpr int64_t kWeightsInCache = 512 * 1024;
    const int32_t helpers = static_cast<int32_t>(useful_threads(threads, work)), wanted = helpers * 4;
    int32_t rows = (tiles + tiles_per_part - 1) / tiles_per_part, outputs = 1;
    const auto at_least = [](int32_t* parts, int32_t count, int32_t most) {
      if (*parts < count) *parts = count < most ? count : most;
    };
    if (helpers < 2) {
      threads_ = nullptr;
    } else if (bytes.weights > 2 * (bytes.rows + bytes.outputs) ||
               (bytes.weights > bytes.rows && uneven(tiles, helpers) > 1.05 * uneven(units_, helpers))) {
      // Every part reads all rows: not more of them than it takes to share the outputs evenly.
      const int32_t each = units_ / helpers / 2;
      at_least(&outputs, helpers * (each < 1 ? 1 : each > 4 ? 4 : each), units_);
      at_least(&rows, (wanted + outputs - 1) / outputs, tiles);
    } else {
      at_least(&rows, bytes.weights > kWeightsInCache ? helpers : wanted, tiles);
      at_least(&outputs, (wanted + rows - 1) / rows, units_);
      at_least(&rows, (wanted + outputs - 1) / outputs, tiles);
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
  // What the thread with most of n equal pieces takes longer than an even share.
  static double uneven(int32_t n, int32_t threads) { return static_cast<double>((n + threads - 1) / threads * threads) / n; }

  int32_t tiles_, panels_, unit_, units_;
  uint32_t row_parts_ = 1, output_parts_ = 1;
  const Threads* threads_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
