#include "mote/ops/clip/clip.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpClip, MatchesOracle) {
  const ops::clip::Attrs cases[] = {{}, {0, 6}, {-1, 1}, {2, INFINITY}, {3, 1}};
  for (const ops::clip::Attrs& a : cases) {
    const auto oracle = [=](double x) { return std::isnan(x) ? x : std::fmin(std::fmax(x, a.lo), a.hi); };
    check_unary(OpId::clip, a, ops::clip::Types{}, oracle);
  }
}

TEST(OpClip, BoundsFromInputsOverrideAttributes) {
  const ops::clip::Attrs wrong{100, 100};
  for (DType type : types_of(ops::clip::Types{})) {
    for (const Shape& scalar : {Shape{}, Shape{1}}) {
      const Array x = Array::from(type, {2, 3}, {0, 1, 2, 3, 4, 5});
      const Array lo = Array::from(type, scalar, {1}), hi = Array::from(type, scalar, {3});
      RunOptions options;
      options.in_place = true;
      auto r = run(OpId::clip, wrong, {x, lo, hi}, options);
      ASSERT_TRUE(r.ok()) << r.message();
      expect_values(r.outputs[0], {1, 1, 2, 3, 3, 3});
      r = run(OpId::clip, ops::clip::Attrs{}, {x, lo});
      expect_values(r.outputs[0], {1, 1, 2, 3, 4, 5});
      r = run(OpId::clip, ops::clip::Attrs{2, 100}, {x, Array::none(), hi});
      expect_values(r.outputs[0], {2, 2, 2, 3, 3, 3});
    }
  }
}

TEST(OpClip, WideIntegersKeepEveryBit) {
  Array x = Array::of<int64_t>({3}, {0, 9007199254740992.0, -4});
  ++x.bytes()[8];  // 2^53 + 1, which no double holds
  const Array lo = Array::of<int64_t>({}, {-3}), hi = Array::of<int64_t>({}, {9223372036854774784.0});
  auto r = run(OpId::clip, ops::clip::Attrs{}, {x, lo, hi});
  ASSERT_TRUE(r.ok()) << r.message();
  EXPECT_EQ(r.outputs[0].bytes()[8], 1);
  r = run(OpId::clip, ops::clip::Attrs{-3, INFINITY}, {x});
  EXPECT_EQ(r.outputs[0].bytes()[8], 1);
  expect_values(r.outputs[0], {0, x.get(1), -3});
}

TEST(OpClip, AttributesSaturateForIntegers) {
  auto r = run(OpId::clip, ops::clip::Attrs{-1e30f, 1e30f}, {Array::of<int64_t>({2}, {-9223372036854775808.0, 4611686018427387904.0})});
  expect_values(r.outputs[0], {-9223372036854775808.0, 4611686018427387904.0});
  r = run(OpId::clip, ops::clip::Attrs{-1000, 1000}, {Array::of<int8_t>({3}, {-128, 5, 127})});
  expect_values(r.outputs[0], {-128, 5, 127});
  r = run(OpId::clip, ops::clip::Attrs{-5, 1e10f}, {Array::of<uint32_t>({2}, {0, 4294967295.0})});
  expect_values(r.outputs[0], {0, 4294967295.0});
  r = run(OpId::clip, ops::clip::Attrs{-1.75f, 2.75f}, {Array::of<int32_t>({2}, {-9, 9})});
  expect_values(r.outputs[0], {-1, 2});
}

TEST(OpClip, NanInXOrInABoundGivesNan) {
  const Array x = Array::of<float>({4}, {NAN, 2, INFINITY, -INFINITY}), one = Array::of<float>({}, {1}), nan = Array::of<float>({}, {NAN});
  expect_values(run(OpId::clip, ops::clip::Attrs{0, 1}, {x}).outputs[0], {NAN, 1, 1, 0});
  expect_values(run(OpId::clip, ops::clip::Attrs{}, {x, nan, one}).outputs[0], {NAN, NAN, NAN, NAN});
  expect_values(run(OpId::clip, ops::clip::Attrs{}, {x, one, nan}).outputs[0], {NAN, NAN, NAN, NAN});
}

TEST(OpClip, ComputesARangeOfRows) {
  RunOptions options;
  options.rows = {1, 2};
  const auto r = run(OpId::clip, ops::clip::Attrs{0, 1}, {Array::of<uint8_t>({1, 3, 2}, {5, 5, 5, 0, 5, 5})}, options);
  ASSERT_TRUE(r.ok()) << r.message();
  EXPECT_EQ(r.outputs[0].get(2), 1);
  EXPECT_EQ(r.outputs[0].get(3), 0);
  EXPECT_GT(r.outputs[0].get(1), 1) << "row 0 was not asked for";
}

TEST(OpClip, RefusesBadBounds) {
  const Array x = Array::of<float>({2}, {1, 2});
  const auto why = [&](const ops::clip::Attrs& a, const Array& lo, const Array& hi) {
    return run(OpId::clip, a, {x, lo, hi}).status.why();
  };
  EXPECT_EQ(why({NAN, 1}, {}, {}), Why::kAttribute);
  EXPECT_EQ(why({0, NAN}, {}, {}), Why::kAttribute);
  EXPECT_EQ(why({}, Array::of<double>({}, {1}), {}), Why::kDTypeMismatch);
  EXPECT_EQ(why({}, {}, Array::of<int32_t>({}, {1})), Why::kDTypeMismatch);
  EXPECT_EQ(why({}, Array::of<float>({2}, {1, 1}), {}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {}, Array::of<float>({0}, {})), Why::kDimMismatch);
  EXPECT_EQ(why({}, {}, Array::of<float>({1, 1}, {1})), Why::kRank);
}

TEST(OpClip, RefusesBool) { EXPECT_EQ(run(OpId::clip, ops::clip::Attrs{}, {Array::of<bool>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
