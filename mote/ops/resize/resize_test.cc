#include "mote/ops/resize/resize.h"

#include <utility>

#include "mote/ops/common/nn_test_pattern.h"

namespace mote::optest {
namespace resize_case {
namespace {

using ops::resize::Attrs;
using Weighted = std::vector<std::pair<int, double>>;  // elements of one dimension and their weights

double kernel(const Attrs& a, double x) {
  x = std::fabs(x);
  if (a.mode == ops::resize::kLinear) return std::fmax(0, 1 - x);
  const double c = a.cubic_a;
  if (x <= 1) return (c + 2) * x * x * x - (c + 3) * x * x + 1;
  return x < 2 ? c * x * x * x - 5 * c * x * x + 8 * c * x - 4 * c : 0;
}

// Half pixel, pytorch half pixel, align corners, asymmetric and the place for nearest, where the scale is out / in.
Weighted oracle(const Attrs& a, int in, int out, int i) {
  double place = (i + 0.5) * in / out - 0.5;
  if (a.coordinates == ops::resize::kPytorchHalfPixel && out == 1) place = 0;
  if (a.coordinates == ops::resize::kAlignCorners) place = out == 1 ? 0 : static_cast<double>(i) * (in - 1) / (out - 1);
  if (a.coordinates == ops::resize::kAsymmetric) place = static_cast<double>(i) * in / out;
  if (a.coordinates == ops::resize::kHalfPixelForNearest) place = (i + 0.5) * in / out;
  const auto inside = [&](int k) { return std::min(std::max(k, 0), in - 1); };
  if (a.mode == ops::resize::kNearest) {
    const double r[] = {std::ceil(place - 0.5), std::floor(place + 0.5), std::floor(place), std::ceil(place)};
    return {{inside(static_cast<int>(r[a.nearest])), 1}};
  }
  const double shrink = a.antialias ? std::fmin(1, static_cast<double>(out) / in) : 1;
  Weighted w;
  double total = 0;
  for (int k = -4 * in; k <= 5 * in; ++k) {
    const double v = a.exclude_outside && inside(k) != k ? 0 : kernel(a, (k - place) * shrink);
    if (v != 0) w.push_back({inside(k), v});
    total += v;
  }
  for (auto& p : w) p.second /= total;
  return w;
}

void check(DType type, const Attrs& a, const Shape& shape) {
  const double range = (mask_of(type) & kFloat) == 0 ? 60 : 2;
  const Array x = Array::random(type, shape, 3, -range, range);
  const auto r = run(OpId::resize, a, {x});
  ASSERT_TRUE(r.ok()) << r.message();
  const size_t spatial = shape.size() - 2;
  const bool whole = (mask_of(type) & kFloat) == 0;
  expect_oracle(r.outputs[0], [&](const Shape& at) {
    std::vector<std::pair<Shape, double>> terms = {{at, 1}};
    for (size_t d = 0; d < spatial; ++d) {
      std::vector<std::pair<Shape, double>> next;
      for (const auto& t : terms)
        for (const auto& p : oracle(a, shape[1 + d], r.outputs[0].shape()[1 + d], at[1 + d])) {
          next.push_back({t.first, t.second * p.second});
          next.back().first[1 + d] = p.first;
        }
      terms = next;
    }
    double sum = 0;
    for (const auto& t : terms) sum += t.second * x.at(t.first);
    if (!whole) return sum;
    sum = std::nearbyint(sum);
    const bool is_unsigned = type == DType::u8 || type == DType::u16 || type == DType::u32 || type == DType::u64;
    return is_unsigned ? std::fmax(sum, 0) : sum;
  }, 12);
}

}  // namespace
}  // namespace resize_case

TEST(OpResize, EveryTypeAndMode) {
  using namespace resize_case;
  for (DType type : types_of(ops::resize::Types{})) {
    SCOPED_TRACE(dtype_name(type));
    for (int mode = 0; mode < 3; ++mode) {
      Attrs a;
      a.mode = mode;
      a.sizes[0] = 8;  // places and weights are exact in every type, so that integers round alike
      a.sizes[1] = 2;
      check(type, a, {2, 4, 4, 3});
    }
  }
}

TEST(OpResize, EveryCoordinateRuleAndRank) {
  using namespace resize_case;
  for (int mode = 0; mode < 3; ++mode)
    for (int coordinates : {0, 2, 3, 4, 5})
      for (int option = 0; option < 4; ++option) {
        SCOPED_TRACE(mode * 100 + coordinates * 10 + option);
        Attrs a;
        a.mode = mode;
        a.coordinates = coordinates;
        a.nearest = option;
        if (mode != 0) a.exclude_outside = option % 2, a.antialias = option / 2;
        a.cubic_a = option == 1 ? -0.5f : -0.75f;
        a.sizes[0] = 7;
        check(DType::f64, a, {1, 4, 2});
        a.sizes[1] = 2;
        check(DType::f32, a, {1, 4, 5, 2});
        a.sizes[2] = 1;
        check(DType::f64, a, {2, 4, 5, 3, 1});
      }
}

TEST(OpResize, AgreesWithOnnx) {
  using namespace ops::resize;
  const Array x = pattern(DType::f32, {1, 4, 5, 1}, 1);
  const auto check = [&](const Attrs& a, const Shape& shape, const std::vector<double>& expected) {
    const auto r = run(OpId::resize, a, {x});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_shape(r.outputs[0], shape);
    expect_values(r.outputs[0], expected, 3e-6);
  };
  Attrs a;
  a.mode = kLinear;
  a.scales[0] = 0.6f, a.scales[1] = 0.7f;
  check(a, {1, 2, 3, 1}, {-0.208333284, 0.202380925, -0.702380955, 0.678571284, 0.62499994, -0.124999814});
  a.coordinates = kAlignCorners;
  check(a, {1, 2, 3, 1}, {-0.25, 0.599999964, -1.14999986, 0.857142985, 0.407143056, -0.0428568646});
  a.coordinates = kHalfPixelSymmetric;
  a.scales[0] = 2.3f, a.scales[1] = 2.94f;
  check(a, {1, 9, 14, 1}, {-0.25, -0.0238094609, 0.571428597, 1.16666675, 1.27551019, 0.765306115, 0.255102038, -0.255102038, -0.765306115,
     -1.27551019, -1.16666675, -0.571428597, 0.0238094609, 0.25, -0.445652157, -0.219461605, 0.37577647, 0.971014559,
     1.07985806, 0.569653988, 0.0594498888, -0.342613131, -0.636535048, -0.930456996, -0.847567379, -0.468611419,
     -0.0896554515, 0.0543478541, -0.880434752, -0.654244244, -0.0590061396, 0.536231935, 0.64507544, 0.134871349,
     -0.375332743, -0.537082195, -0.350377113, -0.16367203, -0.138457581, -0.240128666, -0.341799736, -0.380434752,
     -1.10326087, -0.904466093, -0.381322056, 0.14182198, 0.242014185, -0.196095854, -0.634205878, -0.591688871,
     -0.0685448274, 0.454599202, 0.439441025, 0.00133099896, -0.436779022, -0.603260875, -0.125, -0.108843535, -0.0663265288,
     -0.0238095205, 0.0187074859, 0.0612244904, 0.103741497, 0.146258503, 0.18877551, 0.231292516, 0.273809522, 0.316326529,
     0.358843535, 0.375, 0.853260875, 0.686779022, 0.248668998, -0.189441025, -0.204599217, 0.318544835, 0.841688871,
     0.884205878, 0.446095854, 0.00798582006, 0.108178012, 0.631322026, 1.15446615, 1.35326087, 0.630434752, 0.436557174,
     -0.0736469105, -0.58385098, -0.607660472, -0.0124223605, 0.582815707, 0.625332713, 0.115128659, -0.395075411,
     -0.286231935, 0.309006155, 0.904244244, 1.13043475, 0.195652142, 0.00177454122, -0.508429527, -1.0186336, -1.04244304,
     -0.447204977, 0.148033112, 0.190550104, -0.319653958, -0.829858005, -0.721014559, -0.12577647, 0.46946162, 0.695652127,
     0, -0.193877608, -0.704081655, -1.21428573, -1.23809516, -0.642857134, -0.0476190411, -0.00510203606, -0.515306115,
     -1.02551019, -0.916666687, -0.321428627, 0.273809463, 0.5});
  a = {};
  a.mode = kCubic;
  a.scales[0] = 1.5f, a.scales[1] = 1.6f;
  a.coordinates = kAsymmetric;
  check(a, {1, 6, 8, 1}, {-0.25, 1.03417969, 1.39746094, 0.282348633, -1.05468726, -1.42480469, -0.199218944, 0.442260861, -1.18518519,
     0.369651258, 0.688675165, -0.797157705, -0.487123668, 0.143308684, -0.45708546, -0.777247071, -0.597222209,
     -0.0799038112, 0.0600045845, -0.368032992, 0.230613515, 0.731271625, 0.130877569, -0.189283803, 1, -0.151733398,
     -0.208984375, 1.15942383, 0.500000119, -0.174804777, 1.05078113, 1.69226146, 0.439815164, -0.847247064, -0.921513319,
     0.591480672, -0.150462732, -0.909638762, 0.443341225, 1.15191269, -0.111111164, -1.2628442, -1.32009518, 0.0483126156,
     -0.611110866, -1.28591549, -0.0603301153, 0.581149578});
  a.coordinates = kHalfPixel;
  a.antialias = a.exclude_outside = 1;
  a.scales[0] = 0.6f, a.scales[1] = 0.8f;
  check(a, {1, 2, 4, 1}, {-0.228454366, 0.635364413, -0.632845938, -0.270712137, -0.00251892838, -0.162021026, 0.129882693, 0.514916599});
  a = {};
  a.mode = kCubic;
  a.cubic_a = -0.5f;
  a.exclude_outside = 1;
  a.sizes[0] = 7, a.sizes[1] = 9;
  check(a, {1, 7, 9, 1}, {-0.313114911, 0.363809735, 1.50872684, 1.14971554, 0.0793271214, -1.14136386, -1.5990926, -0.285166442, 0.492753983,
     -0.790502012, -0.0649675131, 1.16129458, 0.686759531, -0.387959838, -0.74568969, -0.749312222, -0.329275429,
     -0.0855217129, -1.42442811, -0.708390057, 0.501980424, -0.0796634033, -1.02385914, -0.0426817611, 0.640242875,
     -0.314389735, -0.892105222, -0.135174438, -0.0948275104, -0.0151773505, 0.0444100983, 0.125, 0.324009836, 0.461374491,
     0.407866269, 0.368640989, 1.1540792, 0.518735051, -0.532335103, 0.198846385, 1.27385914, 0.337735295, -0.251980394,
     0.958390057, 1.67442811, 0.520153105, -0.124687515, -1.1916492, -0.451185554, 0.637959838, -0.312296659, -0.91129452,
     0.314967513, 1.04050195, 0.0427660607, -0.55346477, -1.53908145, -0.846131027, 0.170672879, -0.707242131, -1.25872684,
     -0.113809749, 0.563114941});
  a = {};
  a.mode = kLinear;
  a.antialias = 1;
  a.sizes[0] = 2, a.sizes[1] = 3;
  check(a, {1, 2, 3, 1}, {0.03515625, -0.038194444, -0.16796875, -0.19140625, -0.0729166642, 0.21484375});
  a = {};
  a.mode = kLinear;
  a.coordinates = kCropAndResize;
  a.extrapolation = 10;
  a.sizes[0] = a.sizes[1] = 3;
  a.roi_start[0] = 0.4f, a.roi_start[1] = 0.6f, a.roi_end[0] = 1.2f, a.roi_end[1] = 1.7f;
  check(a, {1, 3, 3, 1}, {-0.10999985, 10, 10, 0.249999702, 10, 10, 10, 10, 10});
  a = {};
  a.nearest = kCeil;
  a.scales[0] = 1.7f, a.scales[1] = 2.3f;
  check(a, {1, 6, 11, 1}, {-0.25, 1.5, 1.5, 0, 0, 0, -1.5, -1.5, 0.25, 0.25, 0.25, -1.25, 0.5, 0.5, -1, -1, -1, 0.75, 0.75, -0.75, -0.75, -0.75,
     -1.25, 0.5, 0.5, -1, -1, -1, 0.75, 0.75, -0.75, -0.75, -0.75, 1, -0.5, -0.5, 1.25, 1.25, 1.25, -0.25, -0.25, 1.5, 1.5,
     1.5, 0, -1.5, -1.5, 0.25, 0.25, 0.25, -1.25, -1.25, 0.5, 0.5, 0.5, 0, -1.5, -1.5, 0.25, 0.25, 0.25, -1.25, -1.25, 0.5,
     0.5, 0.5});
  a.nearest = kRoundPreferFloor;
  a.coordinates = kAsymmetric;
  check(a, {1, 6, 11, 1}, {-0.25, -0.25, 1.5, 1.5, 0, 0, -1.5, -1.5, -1.5, 0.25, 0.25, -1.25, -1.25, 0.5, 0.5, -1, -1, 0.75, 0.75, 0.75, -0.75,
     -0.75, -1.25, -1.25, 0.5, 0.5, -1, -1, 0.75, 0.75, 0.75, -0.75, -0.75, 1, 1, -0.5, -0.5, 1.25, 1.25, -0.25, -0.25, -0.25,
     1.5, 1.5, 1, 1, -0.5, -0.5, 1.25, 1.25, -0.25, -0.25, -0.25, 1.5, 1.5, 0, 0, -1.5, -1.5, 0.25, 0.25, -1.25, -1.25, -1.25,
     0.5, 0.5});
}

TEST(OpResize, IntegersRoundAndSaturateAsOnnx) {
  Array x(DType::u8, {1, 3, 4, 1});
  for (int i = 0; i < 12; ++i) x.set(i, i * 37 % 101);
  ops::resize::Attrs a;
  a.mode = ops::resize::kCubic;
  const auto r = run(OpId::resize, a, {x, Array::of<int64_t>({2}, {5, 7})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 5, 28, 66, 77, 33, 0, 10, 31, 57, 60, 48, 38, 30, 43, 64, 85, 52, 19, 40, 61, 82, 71, 56, 49, 43, 33, 26, 106, 71, 27,
     48, 69, 26, 0});
}

TEST(OpResize, EmptyAndSpecialValues) {
  ops::resize::Attrs a;
  a.mode = ops::resize::kLinear;
  auto r = run(OpId::resize, a, {Array(DType::f32, {1, 3, 4, 0}), Array::of<int32_t>({2}, {5, 7})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {1, 5, 7, 0});
  r = run(OpId::resize, a, {Array(DType::f32, {1, 0, 4, 1}), Array::of<int32_t>({2}, {0, 7})});
  EXPECT_TRUE(r.ok());
  r = run(OpId::resize, a, {Array::of<float>({1, 3, 1}, {NAN, 1, INFINITY}), Array::of<int32_t>({1}, {3})});
  expect_values(r.outputs[0], {NAN, 1, INFINITY});  // an element that has no weight does not count
  a.antialias = 1;
  a.scales[0] = 1e-30f;
  EXPECT_TRUE(run(OpId::resize, a, {Array(DType::f32, {1, 3, 1}), Array::of<int32_t>({1}, {3})}).ok());
}

TEST(OpResize, RefusesWhatDoesNotFit) {
  using ops::resize::Attrs;
  const auto why = [](const Attrs& a, const std::vector<Array>& in) { return run(OpId::resize, a, in).status.why(); };
  const Array x(DType::f32, {1, 3, 4, 2}), sizes = Array::of<int32_t>({2}, {5, 7});
  EXPECT_EQ(why({}, {Array(DType::boolean, {1, 3, 4, 2}), sizes}), Why::kDType);
  EXPECT_EQ(why({}, {Array(DType::f32, {3, 4}), sizes}), Why::kRank);
  EXPECT_EQ(why({}, {x}), Why::kAttribute);
  EXPECT_EQ(why({}, {x, Array::of<int32_t>({1}, {5})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {x, Array::of<float>({2}, {5, 5})}), Why::kDType);
  EXPECT_EQ(why({}, {x, Array::of<int64_t>({2}, {5, -5})}), Why::kNegativeDim);
  EXPECT_EQ(why({}, {x, Array::of<int64_t>({2}, {1 << 20, 1 << 20})}), Why::kShapeOverflow);
  EXPECT_EQ(why({}, {Array(DType::f32, {1, 0, 4, 2}), sizes}), Why::kDimMismatch);
  for (int field = 0; field < 11; ++field) {
    Attrs a;
    if (field == 0) a.mode = 3;
    if (field == 1) a.coordinates = 7;
    if (field == 2) a.nearest = -1;
    if (field == 3) a.antialias = 1;
    if (field == 4) a.exclude_outside = 2;
    if (field == 5) a.cubic_a = NAN;
    if (field == 6) a.sizes[1] = -1;
    if (field == 7) a.scales[0] = -1;
    if (field == 8) a.scales[0] = INFINITY;
    if (field == 9) a.roi_start[1] = NAN;
    if (field == 10) a.roi_end[1] = INFINITY;
    EXPECT_EQ(why(a, {x, sizes}), Why::kAttribute) << field;
  }
  Attrs a;
  a.scales[0] = a.scales[1] = 3e38f;
  EXPECT_EQ(why(a, {x}), Why::kShapeOverflow);
}

}  // namespace mote::optest
