#pragma once

// For tests only: statistics of slices in double precision.

#include "mote/ops/testing/linear_cases.h"

namespace mote::optest {

struct SliceStats {
  double mean = 0, variance = 0, mean_square = 0;
};

// Of the elements that share, with index `at`, the dimensions for which inner(dimension) is false.
inline SliceStats slice_stats(
    const Array& x, const Shape& at, const std::function<bool(size_t)>& inner,
    const std::function<bool(const Shape&)>& also = [](const Shape&) { return true; }) {
  std::vector<double> values;
  for_each_index(x.shape(), [&](const Shape& i) {
    for (size_t d = 0; d < i.size(); ++d)
      if (!inner(d) && i[d] != at[d]) return;
    if (also(i)) values.push_back(x.at(i));
  });
  SliceStats s;
  const double n = static_cast<double>(values.size());
  for (double v : values) s.mean += v / n;
  for (double v : values) s.variance += (v - s.mean) * (v - s.mean) / n;
  for (double v : values) s.mean_square += v * v / n;
  return s;
}

inline const std::vector<Shape>& norm_shapes() {
  static const std::vector<Shape> shapes = {{}, {1}, {7}, {3, 5}, {2, 0, 4}, {2, 3, 0}, {2, 3, 4}, {2, 3, 2, 6}, {1, 2, 1, 2, 1, 2, 1, 4}};
  return shapes;
}

// Also runs the operator on its own input.
template <class A>
RunResult run_in_place(OpId op, const A& attrs, const std::vector<Array>& inputs) {
  RunOptions options;
  options.in_place = true;
  return run(op, attrs, inputs, options);
}

}  // namespace mote::optest
