#include "mote/ops/slice/slice.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using SliceAttrs = ops::slice::Attrs;

TEST(OpSlice, TakesRangesOfEveryType) {
  for (DType type : all_types()) {
    const Array x = sample(type, {4, 5, 6}, 8);
    const auto r = run(OpId::slice, SliceAttrs{{-3, 4}, {9, 0}, {0, -1}, {2, -3}, 2}, {x});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_shape(r.outputs[0], {2, 5, 2});
    expect_oracle(r.outputs[0], [&](const Shape& i) { return x.at({1 + 2 * i[0], i[1], 4 - 3 * i[2]}); });
  }
}

// An oracle that walks: start and end as ONNX clamps them.
TEST(OpSlice, ClampsAsOnnxDoes) {
  const Array x = Array::of<int32_t>({5}, {0, 1, 2, 3, 4});
  for (int32_t start : {-100, -6, -5, -2, 0, 1, 4, 5, 6, 0x7fffffff, -0x7fffffff - 1}) {
    for (int32_t end : {-100, -6, -5, -2, 0, 1, 4, 5, 6, 0x7fffffff, -0x7fffffff - 1}) {
      for (int32_t step : {1, 2, 7, 0x7fffffff, -1, -2, -7, -0x7fffffff - 1}) {
        int64_t s = start < 0 ? int64_t{start} + 5 : start, e = end < 0 ? int64_t{end} + 5 : end;
        s = step > 0 ? std::min<int64_t>(std::max<int64_t>(s, 0), 5) : std::min<int64_t>(std::max<int64_t>(s, 0), 4);
        e = step > 0 ? std::min<int64_t>(std::max<int64_t>(e, 0), 5) : std::min<int64_t>(std::max<int64_t>(e, -1), 4);
        std::vector<double> expected;
        for (int64_t i = s; step > 0 ? i < e : i > e; i += step) expected.push_back(static_cast<double>(i));
        const auto r = run(OpId::slice, SliceAttrs{{start}, {end}, {0}, {step}, 1}, {x});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_values(r.outputs[0], expected);
      }
    }
  }
}

TEST(OpSlice, EmptyScalarAndRank8) {
  EXPECT_TRUE(run(OpId::slice, SliceAttrs{{1}, {9}, {0}, {-1}, 1}, {Array(DType::f32, {0, 3})}).ok());
  expect_values(run(OpId::slice, SliceAttrs{}, {Array::scalar(DType::f32, 3)}).outputs[0], {3});
  const Array x = sample(DType::s8, {1, 2, 1, 2, 1, 2, 1, 3}, 1);
  const auto r = run(OpId::slice, SliceAttrs{{1, 2}, {2, -4}, {3, 7}, {1, -2}, 2}, {x});
  expect_shape(r.outputs[0], {1, 2, 1, 1, 1, 2, 1, 2});
  expect_oracle(r.outputs[0], [&](const Shape& i) { return x.at({0, i[1], 0, 1, 0, i[5], 0, 2 - 2 * i[7]}); });
}

TEST(OpSlice, TakesRunTimeRanges) {
  const Array x = sample(DType::f32, {4, 5}, 2);
  auto r = run(OpId::slice, SliceAttrs{}, {x, s64({1, -2}), s64({9e18, 5})});
  expect_shape(r.outputs[0], {3, 2});
  expect_oracle(r.outputs[0], [&](const Shape& i) { return x.at({1 + i[0], 3 + i[1]}); });
  r = run(OpId::slice, SliceAttrs{}, {x, s32({-1}), s32({-9}), s32({1}), s32({-2})});
  expect_shape(r.outputs[0], {4, 3});
  expect_oracle(r.outputs[0], [&](const Shape& i) { return x.at({i[0], 4 - 2 * i[1]}); });
  // Run-time starts and ends with axes and steps that are attributes.
  r = run(OpId::slice, SliceAttrs{{}, {}, {1}, {2}, 1}, {x, s64({1}), s64({4})});
  expect_shape(r.outputs[0], {4, 2});
  expect_oracle(r.outputs[0], [&](const Shape& i) { return x.at({i[0], 1 + 2 * i[1]}); });
}

TEST(OpSlice, LeavesSizesOpenWhileTheyAreUnknown) {
  const Array x(DType::f32, {4, 5});
  const std::vector<Array> in = {x, s64({1}), s64({2}), s64({1}), s64({1})};
  EXPECT_EQ(infer_hidden(OpId::slice, SliceAttrs{}, in, {1}).shape(), (Shape{4, kDimUnknown}));
  EXPECT_EQ(infer_hidden(OpId::slice, SliceAttrs{}, in, {4}).shape(), (Shape{4, kDimUnknown}));
  EXPECT_EQ(infer_hidden(OpId::slice, SliceAttrs{}, in, {3}).shape(), (Shape{kDimUnknown, kDimUnknown}));
}

TEST(OpSlice, Refuses) {
  const Array x = sample(DType::f32, {4, 5}, 2);
  EXPECT_EQ(refusal(OpId::slice, SliceAttrs{{0}, {1}, {2}, {1}, 1}, {x}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::slice, SliceAttrs{{0, 0}, {1, 1}, {1, -1}, {1, 1}, 2}, {x}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::slice, SliceAttrs{{0}, {1}, {0}, {0}, 1}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::slice, SliceAttrs{{}, {}, {}, {}, 9}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::slice, SliceAttrs{{}, {}, {}, {}, -1}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::slice, SliceAttrs{}, {x, s64({1}), s64({1, 2})}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::slice, SliceAttrs{}, {x, s64({1}), s64({2}), s64({0, 1})}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::slice, SliceAttrs{}, {x, s64({1}), s64({2}), s64({0}), s64({0})}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::slice, SliceAttrs{}, {x, x}), Why::kDType);
  EXPECT_EQ(refusal(OpId::slice, SliceAttrs{}, {x, Array(DType::s64, {1, 1})}), Why::kRank);
}

}  // namespace mote::optest
