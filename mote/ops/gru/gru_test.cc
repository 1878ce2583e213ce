#include "mote/ops/gru/gru.h"

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {
namespace gru_case {
namespace {

// All outputs of a layer, one unit vector at a time, in double. in: x w r b lengths h0.
std::vector<double> oracle(const ops::gru::Attrs& a, const std::vector<Array>& in, std::vector<double>* last) {
  const int steps = in[0].shape()[0], batch = in[0].shape()[1], features = in[0].shape()[2], dirs = in[1].shape()[0], n = in[2].shape()[2];
  std::vector<double> y(static_cast<size_t>(steps * dirs * batch * n), 0);
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (int d = 0; d < dirs; ++d)
    for (int b = 0; b < batch; ++b) {
      std::vector<double> h(static_cast<size_t>(n));
      for (int j = 0; j < n; ++j) h[j] = in[5].present() ? in[5].at({d, b, j}) : 0;
      const int length = in[4].present() ? static_cast<int>(in[4].get(b)) : steps;
      for (int s = 0; s < length; ++s) {
        const int t = a.direction == 1 || d == 1 ? length - 1 - s : s;
        const auto of_x = [&](int row) {
          double v = in[3].present() ? in[3].at({d, row}) : 0;
          for (int i = 0; i < features; ++i) v += in[1].at({d, row, i}) * in[0].at({t, b, i});
          return v;
        };
        const auto of_h = [&](int row, const std::vector<double>& state) {
          double v = in[3].present() ? in[3].at({d, 3 * n + row}) : 0;
          for (int i = 0; i < n; ++i) v += in[2].at({d, row, i}) * state[i];
          return v;
        };
        std::vector<double> z(h), r(h), rh(h), next(h);
        for (int j = 0; j < n; ++j) z[j] = sigmoid(of_x(j) + of_h(j, h)), r[j] = sigmoid(of_x(n + j) + of_h(n + j, h)), rh[j] = r[j] * h[j];
        for (int j = 0; j < n; ++j) {
          const double g = std::tanh(of_x(2 * n + j) + (a.linear_before_reset ? r[j] * of_h(2 * n + j, h) : of_h(2 * n + j, rh)));
          next[j] = (1 - z[j]) * g + z[j] * h[j];
          y[static_cast<size_t>(((t * dirs + d) * batch + b) * n + j)] = next[j];
        }
        h = next;
      }
      last->insert(last->end(), h.begin(), h.end());
    }
  return y;
}

std::vector<Array> operands(DType t, int dirs) {
  return {Array::random(t, {4, 2, 3}, 1, -1, 1),  Array::random(t, {dirs, 15, 3}, 2, -1, 1), Array::random(t, {dirs, 15, 5}, 3, -1, 1),
          Array::random(t, {dirs, 30}, 4, -1, 1), Array::of<int64_t>({2}, {4, 2}),           Array::random(t, {dirs, 2, 5}, 5, -1, 1)};
}

}  // namespace
}  // namespace gru_case

TEST(OpGru, EveryTypeAndDirection) {
  for (DType type : types_of(ops::gru::Types{})) {
    SCOPED_TRACE(dtype_name(type));
    for (int variant = 0; variant < 6; ++variant) {
      ops::gru::Attrs a;
      a.direction = variant % 3;
      a.linear_before_reset = variant / 3;
      std::vector<Array> in = gru_case::operands(type, a.direction == 2 ? 2 : 1);
      if (variant == 1) in[3] = in[4] = in[5] = Array::none();
      const auto r = run(OpId::gru, a, in, 2);
      ASSERT_TRUE(r.ok()) << r.message();
      std::vector<double> last;
      expect_values(r.outputs[0], gru_case::oracle(a, in, &last), tolerance_of(type) * 4);
      expect_values(r.outputs[1], last, tolerance_of(type) * 4);
    }
  }
}

TEST(OpGru, AgreesWithOnnx) {
  const auto p = [](const Shape& s, int seed) { return pattern(DType::f32, s, seed); };
  const std::vector<Array> in = {p({3, 2, 2}, 1), p({2, 9, 2}, 2), p({2, 9, 3}, 3), p({2, 18}, 4), Array::none(), p({2, 2, 3}, 5)};
  ops::gru::Attrs a;
  a.direction = 2;
  auto r = run(OpId::gru, a, in, 2);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(
      r.outputs[0],
      {1.09481561,  0.262662917,  -0.0946930051, 0.269685626, -1.21672988,  -0.444752157,  -0.583661616, 0.744889379,   0.116319746,
       0.3577528,   -0.728024364, 0.0103695393,  0.577545762, 0.0712498575, -0.0351945572, 0.297063529,  -1.16330385,   -0.192572951,
       0.462089062, 0.716712892,  -0.915932894,  0.625199318, -0.703557849, 0.118846655,   0.44012174,   -0.0705784336, 0.0731533021,
       0.349980384, -1.1384908,   0.143771082,   0.853460491, 0.74686271,   -0.915242672,  0.897934616,  -0.640673757,  0.359212488},
      3e-6);
  expect_values(r.outputs[1],
                {0.44012174, -0.0705784336, 0.0731533021, 0.349980384, -1.1384908, 0.143771082, -0.583661616, 0.744889379, 0.116319746,
                 0.3577528, -0.728024364, 0.0103695393},
                3e-6);
  a.linear_before_reset = 1;
  r = run(OpId::gru, a, in, 1);
  expect_values(
      r.outputs[0],
      {1.09374082,   0.226604566,  -0.0952976346, -0.227769107, -1.21309519,  -0.521325886, -0.214817911, 0.238125518,  -0.069803372,
       0.193530753,  -0.728469968, 0.491807103,   0.356133878,  0.0436611474, -0.237616196, -0.275118619, -1.12397718,  -0.410321116,
       0.687946796,  0.714021981,  -0.916332364,  0.420872927,  -0.702165246, 0.502935052,  0.178805664,  -0.156675175, -0.205223382,
       -0.268291831, -1.0724268,   -0.138751179,  0.853367567,  0.74788934,   -0.913534582, 0.758483827,  -0.640001893, 0.657016039},
      3e-6);
}

TEST(OpGru, EmptyNanAndBatchFirst) {
  ops::gru::Attrs a;
  a.layout = 1;
  const Array w(DType::f32, {1, 3, 1}), h = Array::of<float>({2, 1, 1}, {2, NAN}), none;
  auto r = run(OpId::gru, a, {Array(DType::f32, {2, 0, 1}), w, w, none, none, h}, 2);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {2, 0, 1, 1});
  expect_values(r.outputs[1], {2, NAN});
  r = run(OpId::gru, a, {Array(DType::f32, {2, 1, 1}), w, w, none, none, h}, 2);
  expect_values(r.outputs[1], {1, NAN});
}

TEST(OpGru, RefusesWhatDoesNotFit) {
  ops::gru::Attrs a;
  a.linear_before_reset = 2;
  std::vector<Array> in = gru_case::operands(DType::f32, 1);
  EXPECT_EQ(run(OpId::gru, a, in, 2).status.why(), Why::kAttribute);
  in[5] = Array(DType::f32, {1, 2, 4});
  EXPECT_EQ(run(OpId::gru, ops::gru::Attrs{}, in, 2).status.why(), Why::kDimMismatch);
  in[5] = Array(DType::f64, {1, 2, 5});
  EXPECT_EQ(run(OpId::gru, ops::gru::Attrs{}, in, 2).status.why(), Why::kDTypeMismatch);
}

}  // namespace mote::optest
