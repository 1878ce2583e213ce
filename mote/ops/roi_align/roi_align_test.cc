#include "mote/ops/roi_align/roi_align.h"

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {
namespace roi_align_case {
namespace {

using ops::roi_align::Attrs;

// The value of x at a place, 0 outside; for `corner` >= 0 the share of that corner alone.
double sample(const Array& x, int n, double y, double u, int channel, int corner) {
  const int height = x.shape()[1], width = x.shape()[2];
  if (y < -1 || y > height || u < -1 || u > width) return 0;
  y = std::fmin(std::fmax(y, 0), height - 1);
  u = std::fmin(std::fmax(u, 0), width - 1);
  double sum = 0;
  for (int k = 0; k < 4; ++k) {
    const int row = static_cast<int>(y) + k / 2, column = static_cast<int>(u) + k % 2;
    const double share = (1 - std::fabs(y - row)) * (1 - std::fabs(u - column));
    if ((corner < 0 || corner == k) && share > 0) sum += share * x.at({n, std::min(row, height - 1), std::min(column, width - 1), channel});
  }
  return sum;
}

double oracle(const Attrs& a, const Array& x, const Array& boxes, const Array& images, const Shape& at) {
  const double shift = a.half_pixel ? 0.5 : 0;
  double start[2], bin[2];
  int samples[2];
  for (int d = 0; d < 2; ++d) {
    start[d] = boxes.at({at[0], d}) * a.spatial_scale - shift;
    double extent = boxes.at({at[0], 2 + d}) * a.spatial_scale - shift - start[d];
    if (!a.half_pixel) extent = std::fmax(extent, 1);
    bin[d] = extent / (d == 0 ? a.out_width : a.out_height);
    samples[d] = a.sampling_ratio > 0 ? a.sampling_ratio : static_cast<int>(std::ceil(bin[d]));
  }
  double sum = 0, best = -INFINITY;
  for (int i = 0; i < samples[1]; ++i)
    for (int j = 0; j < samples[0]; ++j) {
      const double y = start[1] + (at[1] + (i + 0.5) / samples[1]) * bin[1], u = start[0] + (at[2] + (j + 0.5) / samples[0]) * bin[0];
      const int n = static_cast<int>(images.get(at[0]));
      sum += sample(x, n, y, u, at[3], -1);
      for (int k = 0; k < 4; ++k) best = std::fmax(best, sample(x, n, y, u, at[3], k));
    }
  if (samples[0] * samples[1] == 0) return 0;
  return a.mode == 0 ? sum / (samples[0] * samples[1]) : best;
}

}  // namespace
}  // namespace roi_align_case

TEST(OpRoiAlign, EveryTypeAndMode) {
  using namespace roi_align_case;
  for (DType type : types_of(ops::roi_align::Types{})) {
    SCOPED_TRACE(dtype_name(type));
    const Array x = Array::random(type, {2, 5, 6, 3}, 1);
    const Array boxes = Array::from(type, {5, 4}, {0.5, 0.5, 4.25, 3.75, 1, 1, 2, 2, -3, -2, 9, 8, 2, 3, 2, 3, -20, -30, 60, 50});
    const Array images = Array::of<int64_t>({5}, {0, 1, 1, 0, 1});
    for (int variant = 0; variant < 8; ++variant) {
      const Attrs a{2, 3, variant % 2 ? 2 : 0, variant / 2 % 2 ? 0.75f : 1, 0, variant / 4};
      const auto r = run(OpId::roi_align, a, {x, boxes, images});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(
          r.outputs[0], [&](const Shape& at) { return oracle(a, x, boxes, images, at); }, 12);
    }
  }
}

TEST(OpRoiAlign, AgreesWithOnnx) {
  using ops::roi_align::Attrs;
  const Array x = channels_last(pattern(DType::f32, {2, 2, 5, 6}, 1));
  const Array boxes = Array::of<float>({3, 4}, {0.5, 0.5, 4.2, 3.7, 1, 1, 2, 2, -3, -2, 9, 8}), images = Array::of<int64_t>({3}, {0, 1, 1});
  auto r = run(OpId::roi_align, Attrs{2, 3, 0, 1, 0, 1}, {x, boxes, images});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(
      r.outputs[0],
      {0.0262500644, -0.199583292, 0.303645819, 0.355416566, -0.452187538,   0.011249885,  0.126666605, -0.120833352, 0.381041467,
       -0.46770817,  0.0287502408, 0.309375107, 0.31249997,  1.49011612e-08, -0.1875,      0.3125,      -0.416666716, 0.0833333135,
       0.416666627,  0.104166709,  0.1875,      0.6875,      -0.31250006,    0.18749994,   0.200000003, 0.075000003,  0,
       0.075000003,  0.125,        0,           0.075000003, 0.224999994,    0.0125000002, 0.150000006, -0.224999994, -0.075000003},
      3e-6);
  r = run(OpId::roi_align, Attrs{2, 3, 2, 0.75f, 0, 0}, {x, boxes, images});
  expect_values(
      r.outputs[0],
      {-0.257285178, -0.266621143, 0.441054672,     0.474882632, -0.299999774, 0.0603516772,    0.0582226142, 0.032129012,  0.627070129,
       -0.607617021, 0.358789116,  0.147851437,     0.108072922, 0.37109372,   -0.32421881,     0.175781175,  -0.756510496, -0.256510526,
       0.364583343,  0.729166627,  -1.00582838e-07, 0.499999881, -0.500000119, -1.28522515e-07, 0.3671875,    0.05859375,   -0.1015625,
       0.3984375,    0.2109375,    -0.076171875,    -0.02734375, 0.09765625,   -0.193359375,    -0.2734375,   -0.3671875,   -0.1171875},
      3e-6);
  r = run(OpId::roi_align, Attrs{2, 3, 0, 1, 1, 1}, {x, boxes, images});
  expect_values(r.outputs[0],
                {0.832499981, 0.553333342, 0.504999995, 0.841666698, 0.313333124, 0.469999671, 0.864583373, 0.740000129,  1.26250005,
                 0.366666883, 0.465000004, 0.774999976, 0.37499997,  0.25,        0,           0.375,       0.0833333433, 0.249999985,
                 0.37499997,  0.25,        0.1875,      0.375,       0.124999993, 0.249999985, 1.5,         1.25,         1.25,
                 1.5,         1.25,        1,           0.5,         1,           1.5,         1.5,         -0,           -0},
                3e-6);
}

TEST(OpRoiAlign, StrangeBoxesAreHarmless) {
  const Array x = Array::random(DType::f32, {1, 3, 3, 1}, 1);
  const Array boxes = Array::of<float>(
      {6, 4}, {NAN, 0, 1, 1, 0, 0, INFINITY, 1, -1e30, -1e30, 1e30, 1e30, 5, 5, 1, 1, 0, 0, 3e38, 3e38, -3e38, 0, 3e38, 1});
  for (int ratio : {0, 3}) {
    const auto r = run(OpId::roi_align, ops::roi_align::Attrs{2, 2, ratio, 1, 0, 1}, {x, boxes, Array(DType::s32, {6})});
    ASSERT_TRUE(r.ok()) << r.message();
    for (int i = 0; i < 8; ++i) EXPECT_EQ(r.outputs[0].get(i), 0);
  }
  EXPECT_TRUE(
      run(OpId::roi_align, ops::roi_align::Attrs{2, 2, 0, 1, 0, 1}, {Array(DType::f32, {1, 0, 3, 1}), boxes, Array(DType::s32, {6})}).ok());
  EXPECT_TRUE(run(OpId::roi_align, ops::roi_align::Attrs{2, 2, 0, 1, 0, 1}, {x, Array(DType::f32, {0, 4}), Array(DType::s32, {0})}).ok());
}

TEST(OpRoiAlign, RefusesWhatDoesNotFit) {
  using ops::roi_align::Attrs;
  const auto why = [](const Attrs& a, const std::vector<Array>& in) { return run(OpId::roi_align, a, in).status.why(); };
  const Array x(DType::f32, {1, 3, 3, 1}), boxes(DType::f32, {2, 4}), images(DType::s64, {2});
  EXPECT_EQ(why({}, {Array(DType::s32, {1, 3, 3, 1}), boxes, images}), Why::kDType);
  EXPECT_EQ(why({}, {Array(DType::f32, {3, 3, 1}), boxes, images}), Why::kRank);
  EXPECT_EQ(why({}, {x, Array(DType::f64, {2, 4}), images}), Why::kDTypeMismatch);
  EXPECT_EQ(why({}, {x, Array(DType::f32, {2, 5}), images}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {x, boxes, Array(DType::f32, {2})}), Why::kDType);
  EXPECT_EQ(why({}, {x, boxes, Array(DType::s64, {3})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {x, boxes, Array::of<int64_t>({2}, {0, 1})}), Why::kIndexRange);
  EXPECT_EQ(why({0, 1, 0, 1, 0, 1}, {x, boxes, images}), Why::kAttribute);
  EXPECT_EQ(why({1, 0, 0, 1, 0, 1}, {x, boxes, images}), Why::kAttribute);
  EXPECT_EQ(why({1, 1, 1025, 1, 0, 1}, {x, boxes, images}), Why::kAttribute);
  EXPECT_EQ(why({1, 1, 0, NAN, 0, 1}, {x, boxes, images}), Why::kAttribute);
  EXPECT_EQ(why({1, 1, 0, 1, 2, 1}, {x, boxes, images}), Why::kAttribute);
  EXPECT_EQ(why({1, 1, 0, 1, 0, 2}, {x, boxes, images}), Why::kAttribute);
  EXPECT_EQ(why({1 << 20, 1 << 20, 0, 1, 0, 1}, {x, boxes, images}), Why::kShapeOverflow);
}

}  // namespace mote::optest
