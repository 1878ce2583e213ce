#include "mote/ops/grid_sample/grid_sample.h"

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {
namespace grid_sample_case {
namespace {

using ops::grid_sample::Attrs;

double kernel(int mode, double x) {
  x = std::fabs(x);
  if (mode == 1) return x == 0 ? 1 : 0;
  if (mode == 0) return std::fmax(0, 1 - x);
  const double c = -0.75;
  if (x <= 1) return (c + 2) * x * x * x - (c + 3) * x * x + 1;
  return x < 2 ? c * x * x * x - 5 * c * x * x + 8 * c * x - 4 * c : 0;
}

// Walks back and forth between the ends, one element at a time; -1 for a zero.
int element(const Attrs& a, int i, int size) {
  if (i >= 0 && i < size) return i;
  if (a.padding == 0) return -1;
  if (a.padding != 2 || size == 1) return i < 0 ? 0 : size - 1;
  while (i < 0 || i >= size) i = i < 0 ? -i - (a.align_corners ? 0 : 1) : 2 * size - i - (a.align_corners ? 2 : 1);
  return i;
}

double oracle(const Attrs& a, const Array& x, const Array& grid, const Shape& at) {
  const int spatial = static_cast<int>(at.size()) - 2;
  std::vector<std::pair<Shape, double>> terms = {{at, 1}};
  for (int d = 0; d < spatial; ++d) {
    Shape g = at;
    g.back() = spatial - 1 - d;
    const int size = x.shape()[1 + d];
    double place = a.align_corners ? (grid.at(g) + 1) / 2 * (size - 1) : ((grid.at(g) + 1) * size - 1) / 2;
    if (a.mode == 1 && a.padding != 4) place = std::nearbyint(place);
    const double low = a.align_corners ? 0 : -0.5, high = a.align_corners ? size - 1 : size - 0.5;
    if (a.padding == 1 && (place < low || place > high)) place = place < low ? 0 : size - 1;
    if (a.padding == 4) {
      while (place < low || place > high) place = place < low ? 2 * low - place : 2 * high - place;
      place = std::fmin(std::fmax(place, 0), size - 1);
      if (a.mode == 1) place = std::nearbyint(place);
    }
    std::vector<std::pair<Shape, double>> next;
    for (const auto& t : terms)
      for (int k = static_cast<int>(std::floor(place)) - 2; k < place + 3; ++k) {
        if (kernel(a.mode, k - place) == 0 || element(a, k, size) < 0) continue;
        next.push_back({t.first, t.second * kernel(a.mode, k - place)});
        next.back().first[1 + d] = element(a, k, size);
      }
    terms = next;
  }
  double sum = 0;
  for (const auto& t : terms) sum += t.second * x.at(t.first);
  return sum;
}

}  // namespace
}  // namespace grid_sample_case

TEST(OpGridSample, EveryTypeModeAndPadding) {
  using namespace grid_sample_case;
  for (DType type : types_of(ops::grid_sample::Types{})) {
    SCOPED_TRACE(dtype_name(type));
    const Array x = Array::random(type, {2, 4, 5, 3}, 1), volume = Array::random(type, {1, 2, 3, 4, 2}, 2);
    // Places that 16-bit types hold exactly, none of them on a tie.
    Array grid(type, {2, 3, 4, 2}), grid3(type, {1, 2, 2, 2, 3});
    for (int64_t i = 0; i < grid.count(); ++i) grid.set(i, static_cast<double>((i * 29 + 3) % 61 - 30) / 16 + 1.0 / 64);
    for (int64_t i = 0; i < grid3.count(); ++i) grid3.set(i, static_cast<double>((i * 29 + 3) % 41 - 20) / 16 + 1.0 / 64);
    for (int mode = 0; mode < 3; ++mode)
      for (int padding = 0; padding < 5; ++padding)
        for (int align = 0; align < 2; ++align) {
          const Attrs a{mode, padding, align};
          SCOPED_TRACE(mode * 100 + padding * 10 + align);
          auto r = run(OpId::grid_sample, a, {x, grid});
          ASSERT_TRUE(r.ok()) << r.message();
          expect_oracle(
              r.outputs[0], [&](const Shape& at) { return oracle(a, x, grid, at); }, 16);
          r = run(OpId::grid_sample, a, {volume, grid3});
          ASSERT_TRUE(r.ok()) << r.message();
          expect_oracle(
              r.outputs[0], [&](const Shape& at) { return oracle(a, volume, grid3, at); }, 16);
        }
  }
}

TEST(OpGridSample, AgreesWithOnnx) {
  const std::vector<double> expected[3][3][2] = {
      {{{-0.819903374, 0.119096495, -0.200816125, 0.0631840453, 0, 0, 0, 0, 0.19934091, -0.367658854, 0.541026115, -0.721368194,
         0.246122926, -0.361455917, -0.0670770034, 0.0461315066, 0, 0},
        {-1.06474996, 0.2549676, -0.828157902, 0.307341993, -0.411739588, 0.217510909, 0.202120513, -0.726254582, 0.428357959, -1.09064186,
         0.297749907, -0.784375012, -0.0960001349, -0.0812498033, -0.478288531, 0.453253299, -0.225890487, 0.25929901}},
       {{-1.30975008, 0.190250009, -1.14100003, 0.359000027, -0.972250044, 0.527749956, 0.446499944, -1.30350006, 0.615249991, -1.13475001,
         0.75, -1, 0.413999826, -0.607999802, -0.261000037, 0.179500043, -0.532999873, 0.563999891},
        {-1.06474996, 0.2549676, -1.09399998, 0.406000018, -0.98150003, 0.51849997, 0.380999982, -1.36900008, 0.493499994, -1.25650001,
         0.297749907, -0.784375012, -0.0960001349, -0.0812498033, -0.570749998, 0.540875018, -0.368499875, 0.422999889}},
       {{-1.30975008, 0.190250009, -1.14100003, 0.359000027, -0.561250508, 0.0482504964, 0.257500052, -1.08300018, 0.615249991, -1.13475001,
         0.75, -1, 0.413999826, -0.607999802, -0.261000037, 0.179500043, -0.573249698, 0.523750067},
        {-1.06474996, 0.2549676, -0.729499936, 0.129222959, -0.110750556, -0.497374415, -0.323249966, -0.547375143, 0.295499831,
         -1.02549982, 0.297749907, -0.784375012, -0.0960001349, -0.0812498033, -0.651749969, 0.459875047, -0.561999798, 0.229499996}}},
      {{{-1.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.75, -1, 0.75, -1, 0, 0, 0, 0},
        {-1, 0.5, -1, 0.5, 0, 0, 0.25, -1.5, 0.25, -1.5, 0.75, -1, -0.75, 0.75, -0.75, 0.75, -0.75, 0.75}},
       {{-1.5, 0, -1, 0.5, -1, 0.5, 0.25, -1.5, 0.75, -1, 0.75, -1, 0.75, -1, -0.75, 0.75, -0.75, 0.75},
        {-1, 0.5, -1, 0.5, -1, 0.5, 0.25, -1.5, 0.25, -1.5, 0.75, -1, -0.75, 0.75, -0.75, 0.75, -0.75, 0.75}},
       {{-1.5, 0, -1, 0.5, -1, 0.5, 0.25, -1.5, 0.75, -1, 0.75, -1, 0.75, -1, -0.75, 0.75, -0.75, 0.75},
        {-1, 0.5, -1, 0.5, 0.5, -1.25, 0.25, -1.5, 0.25, -1.5, 0.75, -1, -0.75, 0.75, -0.75, 0.75, -0.75, 0.75}}},
      {{{-1.15348899, 0.0437996462, -0.220381811, 0.0642181411, 0.104046218, -0.0587789938, -0.0394970849, 0.121189907, 0.316980958,
         -0.518612802, 0.727687538, -0.905001581, 0.346828312, -0.369391233, -0.084358409, 0.0955718532, 0.0337224416, -0.0358260572},
        {-1.32027113, 0.233889177, -1.06624269, 0.413613081, -0.51377964, 0.357036769, 0.430001587, -1.12963271, 0.687011898, -1.59974301,
         0.410702914, -1.07323265, -0.22482045, -0.00241114711, -0.572770596, 0.620500505, -0.270402402, 0.421136737}},
       {{-1.51530695, 0.11559213, -1.18448162, 0.315518528, -0.959509194, 0.540491879, 0.494419187, -1.60853267, 0.646490693, -1.23283398,
         0.924465239, -1.1555512, 0.452621073, -0.552431822, -0.484047771, 0.379559338, -0.660632908, 0.701843441},
        {-1.136186, 0.210140765, -1.12857723, 0.371423185, -0.972757161, 0.527243018, 0.423005879, -1.67481565, 0.540749371, -1.52164888,
         0.293046325, -0.869894624, -0.278900266, 0.0843414515, -0.722374916, 0.680133343, -0.518732011, 0.585250735}},
       {{-1.61381567, 0.0952896774, -1.34763384, 0.413978636, -0.505755424, 0.00372386212, 0.277220964, -1.36758447, 0.91413635,
         -1.54154682, 0.970555723, -1.20582235, 0.489278913, -0.515774012, -0.412441432, 0.451165915, -0.704940915, 0.670976281},
        {-1.2623812, 0.204407975, -0.928518474, 0.19885385, -0.00733036082, -0.58207351, -0.419400215, -0.724689245, 0.497137845,
         -1.38054013, 0.507733047, -0.999403596, -0.129807487, -0.044530753, -0.778342366, 0.642896473, -0.819320381, 0.460145861}}}};
  const auto grid_of = [](const Shape& s, float scale, float shift) {
    Array g = pattern(DType::f32, s, 2);
    for (int64_t i = 0; i < g.count(); ++i) g.set(i, g.get(i) * static_cast<double>(scale) + static_cast<double>(shift));
    return g;
  };
  const Array x = channels_last(pattern(DType::f32, {1, 2, 3, 4}, 1)), grid = grid_of({1, 3, 3, 2}, 0.9f, 0.037f);
  for (int mode = 0; mode < 3; ++mode)
    for (int padding = 0; padding < 3; ++padding)
      for (int align = 0; align < 2; ++align) {
        SCOPED_TRACE(mode * 100 + padding * 10 + align);
        const auto r = run(OpId::grid_sample, ops::grid_sample::Attrs{mode, padding, align}, {x, grid});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_values(r.outputs[0], expected[mode][padding][align], 1e-5);
      }
  const auto r = run(OpId::grid_sample, ops::grid_sample::Attrs{0, 1, 0},
                     {channels_last(pattern(DType::f32, {1, 1, 2, 3, 3}, 1)), grid_of({1, 2, 2, 2, 3}, 0.7f, 0.021f)});
  expect_values(r.outputs[0], {0.513000011, -0.914000034, -0.912000179, 0.165250063, 0.0484998822, 1.03800011, 1.10474992, -0.387000084},
                1e-5);
}

TEST(OpGridSample, PlacesThatAreNoNumbers) {
  const Array x = Array::of<float>({1, 1, 2, 1}, {3, 4});
  const Array grid = Array::of<float>({1, 1, 5, 2}, {NAN, 0, INFINITY, 0, -INFINITY, 0, 3e38, 0, -3e38, 0});
  for (int mode = 0; mode < 3; ++mode) {
    auto r = run(OpId::grid_sample, ops::grid_sample::Attrs{mode, 0, 0}, {x, grid});
    expect_values(r.outputs[0], {0, 0, 0, 0, 0});
    r = run(OpId::grid_sample, ops::grid_sample::Attrs{mode, 1, 0}, {x, grid});
    expect_values(r.outputs[0], {3, 4, 3, 4, 3});
    EXPECT_TRUE(run(OpId::grid_sample, ops::grid_sample::Attrs{mode, 2, 0}, {x, grid}).ok());
    EXPECT_TRUE(run(OpId::grid_sample, ops::grid_sample::Attrs{mode, 2, 1}, {x, grid}).ok());
  }
}

TEST(OpGridSample, EmptyAndRefused) {
  using ops::grid_sample::Attrs;
  EXPECT_TRUE(run(OpId::grid_sample, Attrs{}, {Array(DType::f32, {1, 2, 2, 3}), Array(DType::f32, {1, 0, 4, 2})}).ok());
  const auto why = [](const Attrs& a, const std::vector<Array>& in) { return run(OpId::grid_sample, a, in).status.why(); };
  const Array x(DType::f32, {1, 2, 2, 3}), grid(DType::f32, {1, 4, 4, 2});
  EXPECT_EQ(why({}, {Array(DType::s8, {1, 2, 2, 3}), grid}), Why::kDType);
  EXPECT_EQ(why({}, {Array(DType::f32, {1, 2, 2}), grid}), Why::kRank);
  EXPECT_EQ(why({}, {x, Array(DType::f64, {1, 4, 4, 2})}), Why::kDTypeMismatch);
  EXPECT_EQ(why({}, {x, Array(DType::f32, {1, 4, 2})}), Why::kRank);
  EXPECT_EQ(why({}, {x, Array(DType::f32, {2, 4, 4, 2})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {x, Array(DType::f32, {1, 4, 4, 3})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {Array(DType::f32, {1, 0, 2, 3}), grid}), Why::kDimMismatch);
  EXPECT_EQ(why({3, 0, 0}, {x, grid}), Why::kAttribute);
  EXPECT_EQ(why({0, -1, 0}, {x, grid}), Why::kAttribute);
  EXPECT_EQ(why({0, 0, 2}, {x, grid}), Why::kAttribute);
}

}  // namespace mote::optest
