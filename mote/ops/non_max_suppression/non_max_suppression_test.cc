#include "mote/ops/non_max_suppression/non_max_suppression.h"

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {
namespace non_max_suppression_case {
namespace {

using ops::non_max_suppression::Attrs;

RunResult pick(const Attrs& a, const std::vector<Array>& in, int bound = 100) {
  RunOptions o;
  o.bounds = {{bound, 3}};
  return run(OpId::non_max_suppression, a, in, o);
}

}  // namespace
}  // namespace non_max_suppression_case

TEST(OpNonMaxSuppression, AgreesWithOnnxInEveryType) {
  using namespace non_max_suppression_case;
  for (DType type : types_of(ops::non_max_suppression::Types{})) {
    const Array boxes = Array::from(
        type, {2, 8, 4}, {0.5,   0.75,  0.25,  0.5,   0.875, 0.875, 0.125, 0.25,  0,     0.5,  0,    0.5,  0.625, 0.25,  0.625, 0.625,
                          0,     0.5,   0.25,  0.375, 0.25,  0.75,  0.5,   0.125, 0.5,   0.75, 0.25, 0.25, 0.375, 0.875, 1,     0.625,
                          0.875, 0.875, 0.375, 0.125, 0.625, 0.5,   0.375, 0.25,  0.375, 0.5,  0.25, 0.25, 0.5,   0.875, 0.625, 0.25,
                          0.25,  0.5,   0.25,  0.25,  0.5,   0.125, 0.5,   0.375, 0.75,  0.75, 0.75, 0.75, 0.375, 0.625, 0.375, 0.625});
    const Array scores = Array::from(type, {2, 2, 8}, {0.3125, 0.4375, 0.0625, 0.25,   1,     0.25,  0.6875, 0.625,  0.75,   0.5,    0.625,
                                                       0.0625, 0.0625, 0.1875, 0.125,  0.125, 0.125, 0.5625, 0.1875, 0.9375, 0.6875, 0.5625,
                                                       0.6875, 0.25,   0.9375, 0.8125, 0.75,  0.5,   0.8125, 0.75,   0.6875, 0.9375});
    const std::vector<double> corner = {0, 0, 4, 0, 0, 6, 0, 0, 7, 0, 1, 0, 0, 1, 2, 0, 1, 1,
                                        1, 0, 3, 1, 0, 4, 1, 0, 6, 1, 1, 0, 1, 1, 7, 1, 1, 1};
    const std::vector<double> centre = {0, 0, 4, 0, 0, 6, 0, 0, 7, 0, 1, 0, 0, 1, 2, 0, 1, 1,
                                        1, 0, 3, 1, 0, 4, 1, 0, 6, 1, 1, 0, 1, 1, 7, 1, 1, 1};
    auto r = pick({3, 0.2f, 0.3f, 0}, {boxes, scores});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], corner);
    const Array none;
    r = pick({0, 0, 0, 1}, {boxes, scores, Array::of<int64_t>({1}, {3}), Array::of<float>({}, {0.2}), Array::of<float>({1}, {0.3})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], centre);
  }
}

TEST(OpNonMaxSuppression, LimitsTiesAndOrder) {
  using namespace non_max_suppression_case;
  // Box 1 is box 0 again with its corners exchanged, box 2 lies apart, box 3 is empty.
  const Array boxes = Array::of<float>({1, 4, 4}, {0, 0, 1, 1, 1, 1, 0, 0, 5, 5, 6, 6, 0.5, 0.5, 0.5, 0.5});
  const Array scores = Array::of<float>({1, 1, 4}, {0.5, 0.5, 0.25, 1});
  expect_values(pick({-1, 0.5f, -INFINITY, 0}, {boxes, scores}).outputs[0], {0, 0, 3, 0, 0, 0, 0, 0, 2});
  expect_values(pick({2, 0.5f, -INFINITY, 0}, {boxes, scores}).outputs[0], {0, 0, 3, 0, 0, 0});
  expect_values(pick({-1, 1, 0.25f, 0}, {boxes, scores}).outputs[0], {0, 0, 3, 0, 0, 0, 0, 0, 1});
  expect_shape(pick({0, 0.5f, 0, 0}, {boxes, scores}).outputs[0], {0, 3});
  expect_shape(pick({5, 0.5f, 0, 0}, {boxes, scores, Array::of<int32_t>({}, {-4})}).outputs[0], {0, 3});
  EXPECT_EQ(pick({-1, 0.5f, -INFINITY, 0}, {boxes, scores}, 2).status.why(), Why::kBound);
}

TEST(OpNonMaxSuppression, EmptyAndNan) {
  using namespace non_max_suppression_case;
  expect_shape(pick({5, 0.5f, 0, 0}, {Array(DType::f32, {1, 0, 4}), Array(DType::f32, {1, 2, 0})}).outputs[0], {0, 3});
  const Array boxes = Array::of<float>({1, 3, 4}, {NAN, 0, 1, 1, 0, 0, INFINITY, 1, 0, 0, 1, 1}),
              scores = Array::of<float>({1, 1, 3}, {INFINITY, -INFINITY, NAN});
  const auto r = pick({5, 0.5f, -INFINITY, 0}, {boxes, scores});
  ASSERT_TRUE(r.ok());
  expect_values(r.outputs[0], {0, 0, 0, 0, 0, 1});
}

TEST(OpNonMaxSuppression, RefusesWhatDoesNotFit) {
  using namespace non_max_suppression_case;
  const Array boxes(DType::f32, {1, 3, 4}), scores(DType::f32, {1, 2, 3}), none;
  const auto why = [](const Attrs& a, const std::vector<Array>& in) { return pick(a, in).status.why(); };
  EXPECT_EQ(why({}, {Array(DType::s32, {1, 3, 4}), scores}), Why::kDType);
  EXPECT_EQ(why({}, {Array(DType::f32, {3, 4}), scores}), Why::kRank);
  EXPECT_EQ(why({}, {Array(DType::f32, {1, 3, 5}), scores}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {boxes, Array(DType::f64, {1, 2, 3})}), Why::kDTypeMismatch);
  EXPECT_EQ(why({}, {boxes, Array(DType::f32, {1, 2, 4})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {boxes, scores, Array(DType::f32, {})}), Why::kDType);
  EXPECT_EQ(why({}, {boxes, scores, Array(DType::s64, {2})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {boxes, scores, none, Array(DType::f64, {})}), Why::kDType);
  EXPECT_EQ(why({0, 0, 0, 2}, {boxes, scores}), Why::kAttribute);
  EXPECT_EQ(why({0, NAN, 0, 0}, {boxes, scores}), Why::kAttribute);
  EXPECT_EQ(why({0, 0, NAN, 0}, {boxes, scores}), Why::kAttribute);
}

}  // namespace mote::optest
