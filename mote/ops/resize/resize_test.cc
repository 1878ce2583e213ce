#include "mote/ops/resize/resize.h"

#include <utility>

#include "mote/ops/testing/nn_test_pattern.h"

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
  expect_oracle(
      r.outputs[0],
      [&](const Shape& at) {
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
      },
      12);
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
  a.scales[0] = a.scales[1] = 1.3f;
  check(a, {1, 5, 6, 1}, {-0.115384735, 1.23076916,   0.576923072,  -0.576923072, -1.23076916,  0.115384735,   -0.846153915, 0.49999994,
                          -0.1538461,   -0.394230753, 0.0480768457, -0.432692319, -0.115384623, -0.0192307737, 0.0769230723, 0.173076928,
                          0.269230783,  0.365384638,  0.615384698,  -0.538461506, 0.30769226,   0.403846115,   -0.249999955, 1.09615397,
                          -0.115384512, -1.26923072,  -0.423076957, -0.326923102, -0.980769157, 0.365384728});
  a = {};
  a.mode = kCubic;
  a.scales[0] = a.scales[1] = 1.3f;
  a.coordinates = kAsymmetric;
  check(a, {1, 5, 6, 1}, {-0.25,         1.29159069,   0.986230969,  -0.682749271, -1.46540737,   -0.00233253837, -1.27355504,  0.566107631,
                          -0.14877218,   -0.764118433, 0.384446979,  -0.599976957, -0.0133703202, -0.0528842397,  0.0875071734, 0.342528462,
                          0.512793124,   0.492441267,  0.96165204,   -0.729176462, 0.274793923,   0.807215333,    -0.608641207, 1.15671682,
                          -0.0491578579, -1.41806972,  -0.576979876, -0.122440144, -1.26456499,   0.198509574});
  a.coordinates = kHalfPixel;
  a.antialias = a.exclude_outside = 1;
  a.scales[0] = 0.6f, a.scales[1] = 0.8f;
  check(a, {1, 2, 4, 1}, {-0.228454366, 0.635364413, -0.632845938, -0.270712137, -0.00251892838, -0.162021026, 0.129882693, 0.514916599});
  a = {};
  a.mode = kCubic;
  a.cubic_a = -0.5f;
  a.exclude_outside = 1;
  a.sizes[0] = 5, a.sizes[1] = 6;
  check(a, {1, 5, 6, 1}, {-0.27132827,  1.25891829,   0.842807233,  -0.809165776, -1.2915355,   0.363058001,   -1.20281136,  0.532207727,
                          -0.168719515, -0.536987603, 0.0818427652, -0.659913242, -0.129614115, -0.0362595432, 0.0585169047, 0.267890066,
                          0.4583731,    0.372116178,  0.943583131,  -0.604726791, 0.379215658,  0.483382314,   -0.282207698, 1.45281136,
                          0.0121000325, -1.33143735,  -0.456608623, -0.352441937, -1.00891829,  0.52132827});
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
  a.scales[0] = a.scales[1] = 1.3f;
  check(a, {1, 5, 6, 1}, {-0.25, 1.5,   0,   -1.5, -1.5, 0.25, -1.25, 0.5,   -1,  0.75, 0.75, -0.75, 1,     -0.5,  1.25,
                          -0.25, -0.25, 1.5, 0,    -1.5, 0.25, -1.25, -1.25, 0.5, 0,    -1.5, 0.25,  -1.25, -1.25, 0.5});
  a.nearest = kRoundPreferFloor;
  a.coordinates = kAsymmetric;
  check(a, {1, 5, 6, 1}, {-0.25, 1.5,   0,   0, -1.5, 0.25, -1.25, 0.5,   -1,  -1, 0.75, -0.75, 1,    -0.5,  1.25,
                          1.25,  -0.25, 1.5, 1, -0.5, 1.25, 1.25,  -0.25, 1.5, 0,  -1.5, 0.25,  0.25, -1.25, 0.5});
}

TEST(OpResize, NearestPicksTheElementsTfliteDoes) {
  using namespace ops::resize;
  for (int in = 1; in < 40; ++in) {
    Array x(DType::s8, {1, in, 1});
    for (int i = 0; i < in; ++i) x.set(i, i);
    for (int out = 1; out < 60; ++out)
      for (int rule = 0; rule < 3; ++rule) {  // plain, half pixel centres, align corners
        Attrs a;
        a.coordinates = rule == 0 ? kAsymmetric : rule == 1 ? kHalfPixelForNearest : kAlignCorners;
        a.nearest = rule == 2 ? kRoundPreferCeil : kFloor;
        a.sizes[0] = out;
        const auto r = run(OpId::resize, a, {x});
        ASSERT_TRUE(r.ok()) << r.message();
        const float scale = rule == 2 && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                                 : static_cast<float>(in) / static_cast<float>(out);
        for (int i = 0; i < out; ++i) {
          const float place = (static_cast<float>(i) + (rule == 1 ? 0.5f : 0.0f)) * scale;
          const float index = rule == 2 ? std::round(place) : std::floor(place);
          ASSERT_EQ(r.outputs[0].get(i), std::fmin(index, static_cast<float>(in - 1)))
              << in << " to " << out << ", element " << i << ", rule " << rule;
        }
      }
  }
}

TEST(OpResize, NearestPicksTheElementsOnnxRuntimeDoes) {
  using namespace ops::resize;
  // Hashes (FNV-1a of one element after the other) of what ONNX Runtime 1.31 picks for every size of 1 to 40 from every other of 1 to 40,
  // by coordinates (half pixel, symmetric, PyTorch's, corners, asymmetric, half pixel for nearest) and rule (floor of ties, ceil of ties,
  // floor, ceil).
  const uint64_t expected[6][4] = {{0xef74847eb0c94ff0, 0xbf5b7adff0546b5d, 0xf4362620ce90f941, 0x2ea62d3b3c9e36ae},
                                   {0xef74847eb0c94ff0, 0x9d6887081cc99f82, 0x2d06133b3c911f58, 0xf18f4c29d6fd6c70},
                                   {0xa31a40fdaaaac640, 0xc12cb96281ab25e5, 0xa737dedf3f2ebc12, 0xd301e2c5e2c5ef82},
                                   {0x8d65c63e77ea343e, 0x4eacf86d946cb89a, 0x80002e19d0952c35, 0xeff431fb6de84ba1},
                                   {0xfdf25da1871c0170, 0x8adfb5e785a3b4be, 0x3e024003a7afa78a, 0xcbd4274096cda3cd},
                                   {0x39f6ef07b7e022e4, 0x2e3c656752bc6732, 0x2d9b1d845a684829, 0x6f787b3d6c1fa467}};
  for (int coordinates = kHalfPixel; coordinates <= kHalfPixelForNearest; ++coordinates)
    for (int rule = 0; rule < 4; ++rule) {
      uint64_t hash = 0xcbf29ce484222325;
      for (int in = 1; in <= 40; ++in) {
        Array x(DType::u8, {1, in, 1});
        for (int i = 0; i < in; ++i) x.set(i, i);
        for (int out = 1; out <= 40; ++out) {
          Attrs a;
          a.coordinates = coordinates;
          a.nearest = rule;
          a.places = kAsOnnxRuntime;
          a.sizes[0] = out;
          if (in == out) continue;
          const auto r = run(OpId::resize, a, {x});
          ASSERT_TRUE(r.ok()) << r.message();
          for (int i = 0; i < out; ++i) hash = (hash ^ static_cast<uint64_t>(r.outputs[0].get(i))) * 0x100000001b3;
        }
      }
      EXPECT_EQ(hash, expected[coordinates][rule]) << coordinates << " " << rule;
    }
  const auto picked = [](int coordinates, int rule, int in, int out) {
    Array x(DType::f32, {1, in, 1});
    for (int i = 0; i < in; ++i) x.set(i, i);
    Attrs a;
    a.coordinates = coordinates;
    a.nearest = rule;
    a.places = kAsOnnxRuntime;
    return run(OpId::resize, a, {x, Array::of<int64_t>({1}, {static_cast<double>(out)})}).outputs[0];
  };
  expect_values(picked(kHalfPixel, kRoundPreferFloor, 14, 13), {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13});
  expect_values(picked(kAlignCorners, kFloor, 14, 12), {0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13});
}

// PyTorch multiplies places by 1 / scale, rounded once: F.interpolate(arange(17), scale_factor=0.6) and (arange(16), 2.3, "nearest-exact").
TEST(OpResize, NearestWithAScaleFactorPicksTheElementsPytorchDoes) {
  using namespace ops::resize;
  const auto picked = [](int coordinates, int in, double scale) {
    Array x(DType::f32, {1, in, 1});
    for (int i = 0; i < in; ++i) x.set(i, i);
    Attrs a;
    a.coordinates = coordinates;
    a.nearest = kFloor;
    a.sizes[0] = static_cast<int>(in * scale);
    a.scales[0] = static_cast<float>(scale);
    a.steps[0] = static_cast<float>(1 / scale);
    return run(OpId::resize, a, {x}).outputs[0];
  };
  expect_values(picked(kAsymmetric, 17, 0.6), {0, 1, 3, 5, 6, 8, 10, 11, 13, 15});
  expect_values(picked(kHalfPixelForNearest, 16, 2.3),
                {0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 6, 6, 7, 7, 8, 8, 8, 9, 9, 10, 10, 11, 11, 11, 12, 12, 13, 13, 14, 14, 14, 15});
}

TEST(OpResize, IntegersRoundAndSaturateAsOnnx) {
  Array x(DType::u8, {1, 3, 4, 1});
  for (int i = 0; i < 12; ++i) x.set(i, i * 37 % 101);
  ops::resize::Attrs a;
  a.mode = ops::resize::kCubic;
  const auto r = run(OpId::resize, a, {x, Array::of<int64_t>({2}, {5, 7})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0,  5,  28, 66, 77, 33, 0,  10, 31, 57, 60,  48, 38, 30, 43, 64, 85, 52,
                               19, 40, 61, 82, 71, 56, 49, 43, 33, 26, 106, 71, 27, 48, 69, 26, 0});
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

TEST(OpResize, ScalesAndCropMayComeAsInputs) {
  const Array x = Array::random(DType::f32, {1, 4, 5, 2}, 9, -2, 2), scales = Array::of<float>({2}, {1.7f, 0.6f});
  ops::resize::Attrs a;
  a.mode = ops::resize::kLinear;
  const auto by_input = run(OpId::resize, a, {x, Array::none(), scales});
  a.scales[0] = 1.7f;
  a.scales[1] = 0.6f;
  const auto by_attribute = run(OpId::resize, a, {x});
  ASSERT_TRUE(by_input.ok() && by_attribute.ok()) << by_input.message() << by_attribute.message();
  expect_shape(by_input.outputs[0], {1, 6, 3, 2});
  expect_oracle(by_input.outputs[0], [&](const Shape& at) { return by_attribute.outputs[0].at(at); });

  a = {};
  a.mode = ops::resize::kLinear;
  a.coordinates = ops::resize::kCropAndResize;
  const Array sizes = Array::of<int64_t>({2}, {3, 3});
  const auto roi_input = run(OpId::resize, a, {x, sizes, Array::none(), Array::of<float>({4}, {0.25f, 0.1f, 0.75f, 0.9f})});
  a.roi_start[0] = 0.25f, a.roi_start[1] = 0.1f, a.roi_end[0] = 0.75f, a.roi_end[1] = 0.9f;
  const auto roi_attribute = run(OpId::resize, a, {x, sizes});
  ASSERT_TRUE(roi_input.ok() && roi_attribute.ok()) << roi_input.message() << roi_attribute.message();
  expect_oracle(roi_input.outputs[0], [&](const Shape& at) { return roi_attribute.outputs[0].at(at); });

  const auto why = [&](const std::vector<Array>& in) { return run(OpId::resize, ops::resize::Attrs{}, in).status.why(); };
  EXPECT_EQ(why({x, Array::none(), Array::of<float>({2}, {0, 1})}), Why::kShapeOverflow);
  EXPECT_EQ(why({x, Array::none(), Array::of<float>({1}, {1})}), Why::kDimMismatch);
  EXPECT_EQ(why({x, sizes, Array::of<float>({2}, {NAN, 1})}), Why::kValue);
  EXPECT_EQ(why({x, sizes, Array::none(), Array::of<float>({2}, {0, 1})}), Why::kDimMismatch);
  EXPECT_EQ(why({x, sizes, Array::none(), Array::of<float>({4}, {0, 0, 1, INFINITY})}), Why::kValue);
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
  for (int field = 0; field < 13; ++field) {
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
    if (field == 11) a.places = 2;
    if (field == 12) a.steps[1] = -1;
    EXPECT_EQ(why(a, {x, sizes}), Why::kAttribute) << field;
  }
  Attrs a;
  a.scales[0] = a.scales[1] = 3e38f;
  EXPECT_EQ(why(a, {x}), Why::kShapeOverflow);
}

}  // namespace mote::optest
