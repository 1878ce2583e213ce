#include "mote/ops/split/split.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {
namespace split_case {
namespace {

void expect_parts(const RunResult& r, const Array& x, size_t axis, const std::vector<int32_t>& sizes) {
  ASSERT_TRUE(r.ok()) << r.message();
  ASSERT_EQ(r.outputs.size(), sizes.size());
  int32_t start = 0;
  for (size_t o = 0; o < sizes.size(); ++o) {
    EXPECT_EQ(r.outputs[o].shape()[axis], sizes[o]);
    expect_oracle(r.outputs[o], [&](const Shape& at) {
      Shape from = at;
      from[axis] += start;
      return x.at(from);
    });
    start += sizes[o];
  }
}

}  // namespace
}  // namespace split_case

TEST(OpSplit, GivesEqualPartsOrTheSizesAsked) {
  for (DType type : all_types()) {
    const Array x = sample(type, {3, 7, 2}, 4);
    split_case::expect_parts(run(OpId::split, ops::split::Attrs{1}, {x}, 3), x, 1, {3, 3, 1});
    split_case::expect_parts(run(OpId::split, ops::split::Attrs{-1}, {x}, 2), x, 2, {1, 1});
    split_case::expect_parts(run(OpId::split, ops::split::Attrs{0}, {x}, 1), x, 0, {3});
    split_case::expect_parts(run(OpId::split, ops::split::Attrs{-2}, {x, s64({5, 0, 2})}, 3), x, 1, {5, 0, 2});
    split_case::expect_parts(run(OpId::split, ops::split::Attrs{0}, {x, s32({1, 2})}, 2), x, 0, {1, 2});
  }
  const Array empty(DType::f32, {0, 2});
  split_case::expect_parts(run(OpId::split, ops::split::Attrs{0}, {empty}, 2), empty, 0, {0, 0});
  const Array line = sample(DType::s8, {7}, 3), deep = sample(DType::f32, {1, 2, 1, 2, 1, 5, 1, 2}, 4);
  split_case::expect_parts(run(OpId::split, ops::split::Attrs{0}, {line}, 2), line, 0, {4, 3});
  split_case::expect_parts(run(OpId::split, ops::split::Attrs{-3}, {deep}, 2), deep, 5, {3, 2});
}

TEST(OpSplit, LeavesSizesOpenWhileTheyAreUnknown) {
  const auto r = infer_hidden(OpId::split, ops::split::Attrs{0}, {Array(DType::f32, {4, 2}), s64({1, 3})}, {1}, 2);
  ASSERT_TRUE(r.status.ok());
  EXPECT_EQ(r.shape(1), (Shape{kDimUnknown, 2}));
}

TEST(OpSplit, Refuses) {
  const Array x = sample(DType::f32, {5}, 1);
  EXPECT_EQ(refusal(OpId::split, ops::split::Attrs{1}, {x}, 2), Why::kAxis);
  EXPECT_EQ(refusal(OpId::split, ops::split::Attrs{0}, {x}, 4), Why::kNegativeDim);
  EXPECT_EQ(refusal(OpId::split, ops::split::Attrs{0}, {x, s64({2, 2})}, 2), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::split, ops::split::Attrs{0}, {x, s64({7, -2})}, 2), Why::kNegativeDim);
  EXPECT_EQ(refusal(OpId::split, ops::split::Attrs{0}, {x, s64({5})}, 2), Why::kOutputCount);
  EXPECT_EQ(refusal(OpId::split, ops::split::Attrs{0}, {x, s64({1, 1, 3})}, 2), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::split, ops::split::Attrs{0}, {x, Array::of<float>({2}, {2, 3})}, 2), Why::kDType);
}

}  // namespace mote::optest
