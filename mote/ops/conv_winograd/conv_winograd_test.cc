#include "mote/ops/conv_winograd/conv_winograd.h"

#include "mote/ops/testing/linear_cases.h"

namespace mote::optest {
namespace winograd_case {
namespace {

using Attrs = ops::conv_winograd::Attrs;
using namespace ops::winograd;

// Weights (O, 3, 3, C) in the form that the operator takes.
Array transformed(const Array& w) {
  const int32_t outputs = w.shape()[0], channels = w.shape()[3];
  Array u(DType::f32, {kPoints * outputs, channels});
  for (int32_t o = 0; o < outputs; ++o) {
    for (int32_t c = 0; c < channels; ++c) {
      double g[9], columns[kIn * 3], points[kPoints];
      for (int i = 0; i < 9; ++i) g[i] = w.at({o, i / 3, i % 3, c});
      for (int i = 0; i < 3; ++i) transform_weights(g + i, 3, columns + i, 3);
      for (int i = 0; i < kIn; ++i) transform_weights(columns + i * 3, 1, points + i * kIn, 1);
      for (int i = 0; i < kPoints; ++i) u.set(u.flat_index({i * outputs + o, c}), points[i]);
    }
  }
  return u;
}

struct Case {
  Shape x;
  int32_t outputs;
  Attrs a;
};

TEST(OpConvWinograd, IsTheConvolution) {
  const Case cases[] = {{{1, 4, 4, 1}, 16, {}},
                        {{2, 6, 7, 5}, 16, {{1, 1}, {1, 1}, 2, 0, 0}},
                        {{1, 9, 13, 17}, 48, {{1, 0}, {0, 2}, 0, 0, 0}},
                        {{1, 3, 3, 4}, 16, {{0, 0}, {0, 0}, 7, 0, 0}},
                        {{1, 14, 11, 32}, 32, {{1, 1}, {1, 1}, 3, 0, 0}},
                        {{0, 4, 4, 2}, 16, {}},
                        {{1, 13, 18, 40}, 48, {{1, 1}, {1, 1}, 0, 0, 0}}};
  for (const Case& t : cases) {
    const int32_t channels = t.x[3];
    const Array x = Array::random(DType::f32, t.x, 1, -1, 1), w = Array::random(DType::f32, {t.outputs, 3, 3, channels}, 2, -1, 1);
    const Array u = transformed(w), bias = Array::random(DType::f32, {t.outputs}, 3);
    Shape y = t.x;
    for (size_t i = 0; i < 2; ++i) y[i + 1] += t.a.pads_begin[i] + t.a.pads_end[i] - 2;
    y[3] = t.outputs;
    const Array residual = Array::random(DType::f32, y, 4);
    for (Layout layout : {Layout::kPlain, Layout::kPanel16}) {
      for (bool more : {false, true}) {
        const auto r =
            run(OpId::conv_winograd, t.a,
                {x, layout == Layout::kPlain ? u : u.packed(layout), more ? bias : Array::none(), more ? residual : Array::none()}, 2);
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], y);
        if (count_of(y) > 20000 && layout == Layout::kPlain) continue;
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              double sum = more ? bias.get(at[3]) + residual.at(at) : 0;
              for (int k = 0; k < 9; ++k) {
                const int32_t iy = at[1] - t.a.pads_begin[0] + k / 3, ix = at[2] - t.a.pads_begin[1] + k % 3;
                if (iy < 0 || iy >= t.x[1] || ix < 0 || ix >= t.x[2]) continue;
                for (int32_t c = 0; c < channels; ++c) sum += x.at({at[0], iy, ix, c}) * w.at({at[3], k / 3, k % 3, c});
              }
              return activation_oracle(t.a.activation, t.a.act_a, t.a.act_b, sum);
            },
            64 * std::sqrt(9.0 * channels));  // the transforms amplify rounding
      }
    }
  }
}

TEST(OpConvWinograd, NanStaysInItsTile) {
  Array x = Array::random(DType::f32, {1, 8, 8, 1}, 1);
  x.set(0, NAN);
  const auto r = run(OpId::conv_winograd, Attrs{{1, 1}, {1, 1}, 0, 0, 0}, {x, transformed(Array::random(DType::f32, {16, 3, 3, 1}, 2))}, 2);
  ASSERT_TRUE(r.ok()) << r.message();
  EXPECT_TRUE(std::isnan(r.outputs[0].at({0, 0, 0, 0})));
  EXPECT_FALSE(std::isnan(r.outputs[0].at({0, 7, 7, 0})));
}

TEST(OpConvWinograd, Refuses) {
  const Array x(DType::f32, {1, 4, 4, 3}), w(DType::f32, {576, 3});
  EXPECT_EQ(run(OpId::conv_winograd, Attrs{}, {Array(DType::f64, {1, 4, 4, 3}), w}, 2).status.why(), Why::kDType);
  EXPECT_EQ(run(OpId::conv_winograd, Attrs{}, {Array(DType::f32, {4, 4, 3}), w}, 2).status.why(), Why::kRank);
  EXPECT_EQ(run(OpId::conv_winograd, Attrs{}, {x, Array(DType::f32, {576, 4})}, 2).status.why(), Why::kDimMismatch);
  EXPECT_EQ(run(OpId::conv_winograd, Attrs{}, {x, Array(DType::f32, {36, 3})}, 2).status.why(), Why::kDimMismatch);
  EXPECT_EQ(run(OpId::conv_winograd, Attrs{}, {Array(DType::f32, {1, 2, 4, 3}), w}, 2).status.why(), Why::kWindow);
  EXPECT_EQ(run(OpId::conv_winograd, Attrs{}, {x, w, Array(DType::f32, {4})}, 2).status.why(), Why::kDimMismatch);
}

}  // namespace
}  // namespace winograd_case
}  // namespace mote::optest
