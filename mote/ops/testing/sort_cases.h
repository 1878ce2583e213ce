#pragma once

#include <algorithm>
#include <numeric>

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

// The positions of a line in the order sort and top_k promise, by a stable sort in double with NaN as the largest.
inline std::vector<int32_t> ordered(const std::vector<double>& line, bool descending) {
  std::vector<int32_t> order(line.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    const double va = line[static_cast<size_t>(a)], vb = line[static_cast<size_t>(b)];
    return descending ? less(vb, va) : less(va, vb);
  });
  return order;
}

// Compares values and indices with the first elements of every ordered line of x.
inline void expect_ordered(const RunResult& r, const Array& x, size_t axis, bool descending, int32_t kept) {
  ASSERT_TRUE(r.ok()) << r.message();
  Shape shape = x.shape();
  if (!shape.empty()) shape[axis] = kept;
  for (size_t o = 0; o < r.outputs.size(); ++o) {
    expect_shape(r.outputs[o], shape);
    expect_oracle(r.outputs[o], [&](const Shape& at) {
      Shape from = at;
      std::vector<double> line;
      for (int32_t i = 0; i < (shape.empty() ? 1 : x.shape()[axis]); ++i) {
        if (!shape.empty()) from[axis] = i;
        line.push_back(x.at(from));
      }
      const int32_t place = ordered(line, descending)[static_cast<size_t>(shape.empty() ? 0 : at[axis])];
      return o == 0 ? line[static_cast<size_t>(place)] : place;
    });
  }
}

}  // namespace mote::optest
