#include "mote/ops/detection_postprocess/detection_postprocess.h"

#include "mote/ops/testing/harness.h"

namespace mote::optest {
namespace detection_postprocess_case {
namespace {

using ops::detection_postprocess::Attrs;

// Six boxes of size 1: 0, 1, 2 lie on each other more or less, 3 far below, 4 nearly on 3, 5 further below. Scores have a background
// column.
const std::vector<double> kCodes = {0, 0, 0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0};
const std::vector<double> kAnchors = {0.5, 0.5, 1, 1, 0.5, 0.5, 1, 1, 0.5, 0.5, 1, 1, 0.5, 10.5, 1, 1, 0.5, 10.5, 1, 1, 0.5, 100.5, 1, 1};
const std::vector<double> kScores = {0, .9, .8, 0, .75, .72, 0, .6, .5, 0, .93, .95, 0, .5, .4, 0, .3, .2};

std::vector<Array> operands(const std::vector<double>& scores = kScores) {
  return {Array::of<float>({1, 6, 4}, kCodes), Array::of<float>({1, 6, 3}, scores), Array::of<float>({6, 4}, kAnchors)};
}

Attrs attrs(int regular) { return {3, 1, 2, regular, 2, 0, 0.5f, 10, 10, 5, 5}; }

// The sum of box edges, to compare boxes by one number each.
std::vector<double> lefts(const Array& boxes) {
  std::vector<double> v;
  for (int i = 0; i < boxes.shape()[1]; ++i) v.push_back(boxes.at({0, i, 1}));
  return v;
}
void expect_lefts(const Array& boxes, const std::vector<double>& expected) {
  const std::vector<double> found = lefts(boxes);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
}

}  // namespace
}  // namespace detection_postprocess_case

TEST(OpDetectionPostprocess, FastSuppressionUsesTheBestClass) {
  using namespace detection_postprocess_case;
  auto r = run(OpId::detection_postprocess, attrs(0), operands(), 4);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {1, 3, 4});
  expect_lefts(r.outputs[0], {10, 0, 100});
  expect_values(r.outputs[1], {1, 0, 0});
  expect_values(r.outputs[2], {0.95, 0.9, 0.3});
  expect_values(r.outputs[3], {3});

  Attrs two = attrs(0);
  two.max_classes_per_detection = 2;
  two.nms_score_threshold = 0.5f;
  r = run(OpId::detection_postprocess, two, operands(), 4);
  expect_lefts(r.outputs[0], {10, 10, 0, 0, 0, 0});
  expect_values(r.outputs[1], {1, 0, 0, 1, 0, 0});
  expect_values(r.outputs[2], {0.95, 0.93, 0.9, 0.8, 0, 0});
  expect_values(r.outputs[3], {2});
}

TEST(OpDetectionPostprocess, RegularSuppressionRunsWithinEachClass) {
  using namespace detection_postprocess_case;
  const auto r = run(OpId::detection_postprocess, attrs(1), operands(), 4);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_lefts(r.outputs[0], {10, 10, 0});
  expect_values(r.outputs[1], {1, 0, 0});
  expect_values(r.outputs[2], {0.95, 0.93, 0.9});
  expect_values(r.outputs[3], {3});
}

TEST(OpDetectionPostprocess, DecodesByAnchorsAndScales) {
  using namespace detection_postprocess_case;
  Attrs a{1, 1, 1, 0, 1, 0, 0.5f, 10, 5, 4, 2};
  const auto r = run(
      OpId::detection_postprocess, a,
      {Array::of<float>({1, 1, 5}, {1, 2, 0.5, -0.5, 77}), Array::of<float>({1, 1, 1}, {0.5}), Array::of<float>({1, 4}, {3, 4, 2, 6})}, 4);
  ASSERT_TRUE(r.ok()) << r.message();
  const double y = 3 + 1 / 10.0 * 2, x = 4 + 2 / 5.0 * 6, h = std::exp(0.5 / 4) * 2 / 2, w = std::exp(-0.5 / 2) * 6 / 2;
  expect_values(r.outputs[0], {y - h, x - w, y + h, x + w});
}

TEST(OpDetectionPostprocess, EmptyNanAndTies) {
  using namespace detection_postprocess_case;
  for (int regular : {0, 1}) {
    auto r = run(OpId::detection_postprocess, attrs(regular),
                 {Array(DType::f32, {1, 0, 4}), Array(DType::f32, {1, 0, 2}), Array(DType::f32, {0, 4})}, 4);
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[3], {0});
    r = run(OpId::detection_postprocess, attrs(regular), operands(std::vector<double>(18, NAN)), 4);
    expect_values(r.outputs[3], {0});
    r = run(OpId::detection_postprocess, attrs(regular), operands(std::vector<double>(18, 0.5)), 4);
    expect_values(r.outputs[3], {3});
    expect_lefts(r.outputs[0], regular ? std::vector<double>{0, 10, 0} : std::vector<double>{0, 10, 100});
    std::vector<Array> in = operands();
    in[2].set(2, -1);
    EXPECT_EQ(run(OpId::detection_postprocess, attrs(regular), in, 4).status.why(), Why::kValue);
    Attrs none = attrs(regular);
    none.max_detections = 0;
    r = run(OpId::detection_postprocess, none, operands(), 4);
    ASSERT_TRUE(r.ok());
    expect_values(r.outputs[3], {0});
  }
}

TEST(OpDetectionPostprocess, RefusesWhatDoesNotFit) {
  using namespace detection_postprocess_case;
  const auto why = [](const Attrs& a, const std::vector<Array>& in) { return run(OpId::detection_postprocess, a, in, 4).status.why(); };
  const auto with = [&](size_t i, const Array& x) {
    std::vector<Array> in = operands();
    in[i] = x;
    return why(attrs(0), in);
  };
  EXPECT_EQ(with(0, Array(DType::f64, {1, 6, 4})), Why::kDType);
  EXPECT_EQ(with(0, Array(DType::f32, {6, 4})), Why::kRank);
  EXPECT_EQ(with(0, Array(DType::f32, {2, 6, 4})), Why::kDimMismatch);
  EXPECT_EQ(with(0, Array(DType::f32, {1, 6, 3})), Why::kDimMismatch);
  EXPECT_EQ(with(1, Array(DType::f32, {1, 5, 3})), Why::kDimMismatch);
  EXPECT_EQ(with(1, Array(DType::f32, {1, 6, 4})), Why::kDimMismatch);
  EXPECT_EQ(with(1, Array(DType::f32, {1, 6, 1})), Why::kAttribute);
  EXPECT_EQ(with(2, Array(DType::f32, {6, 5})), Why::kDimMismatch);
  for (int field = 0; field < 9; ++field) {
    Attrs a = attrs(0);
    if (field == 0) a.max_detections = -1;
    if (field == 1) a.max_classes_per_detection = 0;
    if (field == 2) a.detections_per_class = 0;
    if (field == 3) a.use_regular_nms = 2;
    if (field == 4) a.num_classes = 0;
    if (field == 5) a.nms_iou_threshold = 0;
    if (field == 6) a.nms_score_threshold = NAN;
    if (field == 7) a.y_scale = 0;
    if (field == 8) a.w_scale = INFINITY;
    EXPECT_EQ(why(a, operands()), Why::kAttribute) << field;
  }
  Attrs a = attrs(0);
  a.max_detections = a.max_classes_per_detection = 1 << 20;
  EXPECT_EQ(why(a, operands()), Why::kShapeOverflow);
}

}  // namespace mote::optest
