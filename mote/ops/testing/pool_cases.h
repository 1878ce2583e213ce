#pragma once

// For tests only: geometries that every pool must get right, and an oracle that lists the elements of a window.

#include "mote/ops/testing/linear_cases.h"

namespace mote::optest {

struct PoolCase {
  const char* name;
  Shape x, y;
  std::vector<int32_t> kernel, strides, dilations, pads_begin, pads_end;
  uint32_t ceil_mode;

  template <class A>
  A attrs() const {
    A a;
    std::copy(kernel.begin(), kernel.end(), a.kernel);
    std::copy(strides.begin(), strides.end(), a.strides);
    std::copy(dilations.begin(), dilations.end(), a.dilations);
    std::copy(pads_begin.begin(), pads_begin.end(), a.pads_begin);
    std::copy(pads_end.begin(), pads_end.end(), a.pads_end);
    a.ceil_mode = ceil_mode;
    return a;
  }
};

inline const std::vector<PoolCase>& pool_cases() {
  static const std::vector<PoolCase> cases = {
      {"1d", {2, 8, 3}, {2, 4, 3}, {2}, {2}, {1}, {0}, {0}, 0},
      {"1d ceil", {1, 8, 2}, {1, 4, 2}, {3}, {2}, {1}, {0}, {0}, 1},
      {"ceil starts in the padding", {1, 5, 1}, {1, 3, 1}, {1}, {2}, {1}, {0}, {2}, 1},
      {"2d overlapping", {2, 5, 6, 2}, {2, 5, 6, 2}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 0},
      {"2d uneven", {1, 6, 7, 3}, {1, 3, 3, 3}, {3, 2}, {2, 3}, {1, 2}, {0, 1}, {2, 2}, 0},
      {"2d ceil", {1, 6, 6, 2}, {1, 4, 4, 2}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 1},
      {"3d", {1, 4, 3, 4, 2}, {1, 2, 3, 3, 2}, {2, 3, 2}, {2, 1, 1}, {1, 1, 1}, {0, 1, 0}, {0, 1, 0}, 0},
      {"whole plane", {1, 3, 4, 2}, {1, 1, 1, 2}, {3, 4}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 0},
      {"windows in the padding alone", {1, 1, 2}, {1, 5, 2}, {1}, {1}, {1}, {2}, {2}, 0},
      {"ceil, window larger than the input", {1, 3, 2}, {1, 1, 2}, {5}, {3}, {1}, {0}, {0}, 1},
      {"2d ceil, window larger than the padded input", {1, 2, 3, 17}, {1, 1, 1, 17}, {5, 4}, {4, 2}, {1, 1}, {1, 0}, {0, 0}, 1},
      {"ceil, a whole stride is missing", {1, 3, 2}, {1, 0, 2}, {5}, {2}, {1}, {0}, {0}, 1},
      {"no batch", {0, 4, 2}, {0, 4, 2}, {1}, {1}, {1}, {0}, {0}, 0},
      {"no channels", {1, 4, 0}, {1, 3, 0}, {2}, {1}, {1}, {0}, {0}, 0}};
  return cases;
}

// Calls visit(position in x) for every element of the window of output position `at`, in row-major order; gives the number of taps
// that lie inside the padded input.
inline int32_t pool_window(const PoolCase& t, const Shape& at, const std::function<void(const Shape&)>& visit) {
  int32_t padded = 0;
  for_each_index(Shape(t.kernel.begin(), t.kernel.end()), [&](const Shape& k) {
    Shape from = at;
    bool inside = true, in_padding = true;
    for (size_t d = 0; d < k.size(); ++d) {
      from[d + 1] = at[d + 1] * t.strides[d] - t.pads_begin[d] + k[d] * t.dilations[d];
      inside = inside && from[d + 1] >= 0 && from[d + 1] < t.x[d + 1];
      in_padding = in_padding && from[d + 1] < t.x[d + 1] + t.pads_end[d];
    }
    if (inside) visit(from);
    padded += in_padding ? 1 : 0;
  });
  return padded;
}

// What every pool refuses.
template <class A>
void check_pool_refusals(OpId op, DType wrong_type) {
  const auto with = [&](auto change) {
    A a;
    a.kernel[0] = 2;
    change(a);
    return run(op, a, {Array::random(DType::f32, {1, 4, 2}, 1)}).status.why();
  };
  EXPECT_EQ(with([](A& a) { a.kernel[0] = 0; }), Why::kWindow);
  EXPECT_EQ(with([](A& a) { a.kernel[0] = 5; }), Why::kWindow);
  EXPECT_EQ(with([](A& a) { a.strides[0] = 0; }), Why::kWindow);
  EXPECT_EQ(with([](A& a) { a.dilations[0] = 0; }), Why::kWindow);
  EXPECT_EQ(with([](A& a) { a.pads_begin[0] = -1; }), Why::kWindow);
  EXPECT_EQ(with([](A& a) { a.pads_end[0] = 0x7fffffff; }), Why::kWindow);
  EXPECT_EQ(with([](A& a) { a.kernel[0] = 0x7fffffff; }), Why::kWindow);
  EXPECT_EQ(with([](A& a) { a.ceil_mode = 2; }), Why::kAttribute);
  EXPECT_EQ(run(op, A{}, {Array::random(wrong_type, {1, 4, 2}, 1)}).status.why(), Why::kDType);
  EXPECT_EQ(run(op, A{}, {Array::random(DType::f32, {4, 2}, 1)}).status.why(), Why::kRank);
  EXPECT_EQ(run(op, A{}, {Array::random(DType::f32, {1, 1, 1, 1, 1, 1}, 1)}).status.why(), Why::kRank);
  A many;
  for (int32_t& k : many.kernel) k = 1 << 12;
  for (int32_t& p : many.pads_end) p = 1 << 13;
  EXPECT_EQ(run(op, many, {Array::random(DType::f32, {1, 1, 1, 1, 1}, 1)}).status.why(), Why::kWindow);
}

}  // namespace mote::optest
