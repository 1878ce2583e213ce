#pragma once

// For tests: arg_max and arg_min.

#include <algorithm>

#include "mote/ops/common/arg_reduce.h"
#include "mote/ops/testing/harness.h"

namespace mote::optest {

// sign: 1 looks for the largest, -1 for the smallest element.
inline void check_arg(OpId op, const std::vector<DType>& types, double sign) {
  const Shape shapes[] = {{}, {7}, {3, 5}, {0, 3}, {2, 3, 4}, {1, 2, 1, 2, 1, 2, 1, 3}};
  for (DType type : types) {
    SCOPED_TRACE(dtype_name(type));
    for (const Shape& shape : shapes) {
      const int rank = static_cast<int>(shape.size());
      const Array x = Array::random(type, shape, 3, -3, 3);
      for (int axis = shape == Shape{0, 3} ? 1 : 0; axis < std::max(1, rank); ++axis) {
        for (int bits = 0; bits < 16; ++bits) {
          const ops::ArgAttrs a{bits % 3 == 0 ? axis - std::max(1, rank) : axis, bits & 1, bits >> 1 & 1, x.count() > 0 ? bits >> 2 & 1 : 0,
                                bits >> 3 & 1};
          const auto r = run(op, a, {x});
          ASSERT_TRUE(r.ok()) << r.message();
          ASSERT_EQ(r.outputs[0].dtype(), a.index_type == 0 ? DType::s64 : DType::s32);
          Shape kept = shape;
          for (int i = rank - 1; i >= 0; --i) {
            if (a.flat == 0 && i != axis) continue;
            if (a.keep_dims != 0) kept[static_cast<size_t>(i)] = 1;
            else kept.erase(kept.begin() + i);
          }
          expect_shape(r.outputs[0], kept);
          expect_oracle(r.outputs[0], [&](const Shape& at) {
            Shape i = a.flat != 0 ? Shape(shape.size()) : at;
            if (a.flat == 0 && a.keep_dims == 0 && rank > 0) i.insert(i.begin() + axis, 0);
            const int64_t n = a.flat != 0 ? x.count() : rank > 0 ? shape[static_cast<size_t>(axis)] : 1;
            int64_t best = -1;
            double value = 0;
            for (int64_t k = 0; k < n; ++k) {
              if (a.flat == 0 && rank > 0) i[static_cast<size_t>(axis)] = static_cast<int32_t>(k);
              const double v = sign * (a.flat != 0 ? x.get(k) : x.at(i));
              if (best < 0 || v > value || (v == value && a.select_last != 0)) value = v, best = k;
            }
            return static_cast<double>(best);
          });
        }
      }
    }
  }
}

// NaN is the extreme; of several, the first or the last one counts.
inline void check_arg_nan(OpId op) {
  const Array x = Array::of<float>({3, 4}, {1, NAN, 2, NAN, NAN, INFINITY, -INFINITY, 1, -INFINITY, INFINITY, INFINITY, -INFINITY});
  ops::ArgAttrs a{1, 0, 0, 0, 0};
  const bool largest = op == OpId::arg_max;
  expect_values(run(op, a, {x}).outputs[0], {1, 0, largest ? 1.0 : 0.0});
  a.select_last = 1;
  expect_values(run(op, a, {x}).outputs[0], {3, 0, largest ? 2.0 : 3.0});
}

inline void check_arg_refusals(OpId op) {
  const Array x(DType::f32, {2, 3});
  auto why = [&](const ops::ArgAttrs& a, const Array& in) { return run(op, a, {in}).status.why(); };
  EXPECT_EQ(why({}, Array(DType::s4, {2})), Why::kDType);
  EXPECT_EQ(why({2, 1, 0, 0, 0}, x), Why::kAxis);
  EXPECT_EQ(why({-3, 1, 0, 0, 0}, x), Why::kAxis);
  EXPECT_EQ(why({1, 0, 0, 0, 0}, Array(DType::f32, {})), Why::kAxis);
  for (const ops::ArgAttrs& bad : {ops::ArgAttrs{0, 2, 0, 0, 0}, {0, 1, 2, 0, 0}, {0, 1, 0, -1, 0}, {0, 1, 0, 0, 2}})
    EXPECT_EQ(why(bad, x), Why::kAttribute);
  EXPECT_EQ(why({0, 1, 0, 0, 0}, Array(DType::f32, {0, 3})), Why::kDimMismatch);
  EXPECT_EQ(why({1, 1, 0, 1, 0}, Array(DType::f32, {0, 3})), Why::kDimMismatch);
}

}  // namespace mote::optest
