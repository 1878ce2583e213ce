#include "mote/ops/range/range.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {
namespace range_case {
namespace {

RunResult count(DType type, double start, double limit, double delta) {
  return run(OpId::range, NoAttrs{}, {Array::scalar(type, start), Array::from(type, {1}, {limit}), Array::scalar(type, delta)});
}

}  // namespace
}  // namespace range_case

TEST(OpRange, CountsInEveryType) {
  for (DType type : types_of(NumberTypes{})) {
    const bool negative = (mask_of(type) & (kFloat | mask_of_list(SignedTypes{}))) != 0;
    for (double start : {0.0, 3.0, -4.0}) {
      for (double limit : {0.0, 10.0, 11.0, -7.0}) {
        for (double delta : {1.0, 3.0, -2.0, 100.0}) {
          if (!negative && (start < 0 || limit < 0 || delta < 0)) continue;
          std::vector<double> expected;
          for (double v = start; delta > 0 ? v < limit : v > limit; v += delta) expected.push_back(v);
          const auto r = range_case::count(type, start, limit, delta);
          ASSERT_TRUE(r.ok()) << r.message();
          expect_values(r.outputs[0], expected);
        }
      }
    }
  }
  expect_values(range_case::count(DType::f32, 1, 2, 0.25).outputs[0], {1, 1.25, 1.5, 1.75});
  expect_values(range_case::count(DType::f32, 0, -INFINITY, 1).outputs[0], {});
  expect_values(range_case::count(DType::s64, -9223372036854775808.0, 9223372036854774784.0, 9223372036854774784.0).outputs[0],
                {-9223372036854775808.0, -1024, 9223372036854773760.0});
}

TEST(OpRange, RefusesWhatLeadsNowhere) {
  for (double delta : {0.0, double{NAN}, double{INFINITY}}) EXPECT_EQ(range_case::count(DType::f32, 0, 1, delta).status.why(), Why::kValue);
  EXPECT_EQ(range_case::count(DType::f64, 0, INFINITY, 1).status.why(), Why::kShapeOverflow);
  EXPECT_EQ(range_case::count(DType::f64, INFINITY, INFINITY, 1).status.why(), Why::kValue);
  EXPECT_EQ(range_case::count(DType::f16, NAN, 1, 1).status.why(), Why::kValue);
  EXPECT_EQ(range_case::count(DType::s8, 0, 1, 0).status.why(), Why::kValue);
  EXPECT_EQ(range_case::count(DType::f64, 0, 1, 1e-300).status.why(), Why::kShapeOverflow);
  EXPECT_EQ(range_case::count(DType::s64, -9e18, 9e18, 1).status.why(), Why::kShapeOverflow);
  EXPECT_EQ(range_case::count(DType::u32, 0, 4e9, 1).status.why(), Why::kShapeOverflow);
}

TEST(OpRange, LeavesTheSizeOpenAndRefuses) {
  const Array one = Array::scalar(DType::f32, 1);
  EXPECT_EQ(infer_hidden(OpId::range, NoAttrs{}, {one, one, one}, {1}).shape(), (Shape{kDimUnknown}));
  EXPECT_EQ(refusal(OpId::range, NoAttrs{}, {one, one, Array::scalar(DType::s32, 1)}), Why::kDTypeMismatch);
  EXPECT_EQ(refusal(OpId::range, NoAttrs{}, {one, sample(DType::f32, {2}, 1), one}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::range, NoAttrs{}, {Array::scalar(DType::boolean, 1), one, one}), Why::kDType);
}

TEST(OpRange, OneElementOfAnyRank) {
  const Shape one(8, 1);
  const Array start = Array::scalar(DType::s32, 2), limit = Array::scalar(DType::s32, 9), step = Array::scalar(DType::s32, 3);
  expect_same_elements(OpId::range, NoAttrs{}, {start, limit, step}, NoAttrs{},
                       {start.reshaped(one), limit.reshaped(one), step.reshaped(one)});
}

}  // namespace mote::optest
