#pragma once

// For tests: cases that every running total must pass.

#include "mote/ops/common/scan.h"
#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

// The total of the values met so far, in the order in which they were met.
template <class A>
void check_scan(OpId op, A attrs, const std::vector<DType>& types, double lo, double hi, double scale, const ReduceOracle& oracle) {
  const Shape shapes[] = {{}, {1}, {7}, {0}, {3, 5}, {2, 0, 3}, {2, 3, 4}, {1, 2, 1, 2, 1, 2, 1, 3}};
  RunOptions options;
  options.in_place = true;
  for (DType type : types) {
    SCOPED_TRACE(dtype_name(type));
    for (const Shape& shape : shapes) {
      const int rank = static_cast<int>(shape.size()), lines = std::max(1, rank);
      const Array x = Array::random(type, shape, 5, lo, hi);
      for (int i = 0; i < lines * 4; ++i) {
        const int axis = i / 4;
        ops::ScanAttrs& a = attrs;
        a = {i % 2 == 0 ? axis : axis - lines, i & 1, i >> 1 & 1};
        const auto r = run(op, attrs, {x}, options);
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], shape);
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              std::vector<double> values;
              const int n = rank > 0 ? shape[static_cast<size_t>(axis)] : 1, mine = rank > 0 ? at[static_cast<size_t>(axis)] : 0;
              for (int k = a.reverse != 0 ? n - 1 : 0; k != mine; k += a.reverse != 0 ? -1 : 1) {
                Shape other = at;
                other[static_cast<size_t>(axis)] = k;
                values.push_back(x.at(other));
              }
              if (a.exclusive == 0) values.push_back(x.at(at));
              return wrapped(type, oracle(type, values));
            },
            scale);
        const int32_t given = a.axis;
        a.axis = 99;
        const auto by_tensor =
            run(op, attrs, {x, Array::from(i % 2 == 0 ? DType::s32 : DType::s64, i % 3 == 0 ? Shape{1} : Shape{}, {double(given)})});
        ASSERT_TRUE(by_tensor.ok()) << by_tensor.message();
        EXPECT_EQ(by_tensor.outputs[0].bytes(), r.outputs[0].bytes());
      }
    }
  }
}

template <class A>
void check_scan_refusals(OpId op, A attrs) {
  const Array x(DType::f32, {2, 3}), none = Array::none();
  ops::ScanAttrs& a = attrs;
  auto why = [&](const Array& in, const Array& axis) { return run(op, attrs, {in, axis}).status.why(); };
  EXPECT_EQ(why(Array(DType::boolean, {2}), none), Why::kDType);
  EXPECT_EQ(why(x, Array(DType::f32, {})), Why::kDType);
  EXPECT_EQ(why(x, Array(DType::s32, {1, 1})), Why::kRank);
  EXPECT_EQ(why(x, Array(DType::s32, {2})), Why::kDimMismatch);
  for (int32_t bad : {2, -3}) {
    EXPECT_EQ(why(x, Array::of<int64_t>({}, {double(bad)})), Why::kAxis);
    a = {bad, 0, 0};
    EXPECT_EQ(why(x, none), Why::kAxis);
  }
  for (const ops::ScanAttrs& bad : {ops::ScanAttrs{0, 2, 0}, {0, 0, -1}}) {
    a = bad;
    EXPECT_EQ(why(x, none), Why::kAttribute);
  }
  a = {0, 0, 0};
  BareCall call(op, &attrs, {2, 3}, {});
  EXPECT_TRUE(call.infer_unknown().ok());
  EXPECT_TRUE(call.run_with(-1, DType::f32, {2, 3}).ok());
  EXPECT_EQ(call.run_with(2, DType::f32, {2, 3}).why(), Why::kAxis);
}

}  // namespace mote::optest
