#include "mote/ops/conv_transpose/conv_transpose.h"

#include "mote/ops/testing/linear_cases.h"

namespace mote::optest {
namespace conv_transpose_case {
namespace {

using Attrs = ops::conv_transpose::Attrs;

struct Case {
  const char* name;
  Shape x, w, y;
  Attrs a;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"1d", {2, 4, 3}, {2, 3, 3}, {2, 9, 2}, {{2}, {1}, {}, {}, {}, 1, 0, 0, 0}},
      {"2d", {1, 3, 4, 2}, {3, 3, 3, 2}, {1, 5, 7, 3}, {{2, 2}, {1, 1}, {1, 1}, {1, 1}, {}, 1, 0, 0, 0}},
      {"output padding", {1, 3, 4, 2}, {3, 3, 2, 2}, {1, 6, 13, 3}, {{2, 3}, {1, 1}, {1, 0}, {1, 0}, {1, 2}, 1, 0, 0, 0}},
      {"uneven crop, dilation", {1, 4, 3, 2}, {2, 2, 3, 2}, {1, 8, 5, 2}, {{2, 1}, {3, 2}, {0, 1}, {2, 1}, {}, 1, 0, 0, 0}},
      {"groups", {1, 3, 3, 4}, {6, 2, 2, 2}, {1, 6, 6, 6}, {{2, 2}, {1, 1}, {}, {}, {}, 2, 0, 0, 0}},
      {"depthwise", {2, 3, 3, 3}, {3, 3, 3, 1}, {2, 5, 5, 3}, {{1, 1}, {1, 1}, {}, {}, {}, 3, 0, 0, 0}},
      {"3d", {1, 2, 3, 2, 2}, {2, 2, 2, 3, 2}, {1, 4, 4, 5, 2}, {{2, 1, 2}, {1, 1, 1}, {}, {}, {}, 1, 0, 0, 0}},
      {"gaps between taps", {1, 3, 2}, {1, 1, 2}, {1, 7, 1}, {{3}, {1}, {}, {}, {}, 1, 0, 0, 0}},
      {"no batch", {0, 3, 2}, {2, 2, 2}, {0, 4, 2}, {{1}, {1}, {}, {}, {}, 1, 0, 0, 0}},
      {"no positions", {1, 0, 2}, {2, 3, 2}, {1, 2, 2}, {{1}, {1}, {}, {}, {}, 1, 0, 0, 0}},
      {"no channels", {1, 2, 0}, {2, 3, 0}, {1, 4, 2}, {{1}, {1}, {}, {}, {}, 1, 0, 0, 0}}};
  return all;
}

// Spreads every input element over the output: the definition, the other way round from the kernel.
std::vector<double> spread(const Case& t, const Array& x, const Array& w) {
  std::vector<double> y(static_cast<size_t>(count_of(t.y)));
  const Array shape(DType::f64, t.y);
  const size_t spatial = t.x.size() - 2;
  const int32_t in_group = t.w.back(), out_group = t.w[0] / t.a.groups;
  for_each_index(t.x, [&](const Shape& from) {
    for_each_index(Shape(t.w.begin(), t.w.end() - 1), [&](const Shape& k) {
      if (k[0] / out_group != from.back() / in_group) return;
      Shape to = from, tap = k;
      for (size_t d = 0; d < spatial; ++d) {
        to[d + 1] = from[d + 1] * t.a.strides[d] + k[d + 1] * t.a.dilations[d] - t.a.pads_begin[d];
        if (to[d + 1] < 0 || to[d + 1] >= t.y[d + 1]) return;
      }
      to.back() = k[0];
      tap.push_back(from.back() % in_group);
      y[static_cast<size_t>(shape.flat_index(to))] += x.at(from) * w.at(tap);
    });
  });
  return y;
}

}  // namespace
}  // namespace conv_transpose_case

TEST(OpConvTranspose, EveryTypeAndGeometry) {
  using namespace conv_transpose_case;
  for (DType type : types_of(ops::conv_transpose::Types{})) {
    for (const Case& t : cases()) {
      SCOPED_TRACE(std::string(dtype_name(type)) + " " + t.name);
      const Array x = Array::random(type, t.x, 1, -1, 1), w = Array::random(type, t.w, 2, -1, 1), bias = Array::random(type, {t.w[0]}, 3);
      const auto sums = spread(t, x, w);
      const auto r = run(OpId::conv_transpose, t.a, {x, w, bias});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], t.y);
      expect_oracle(
          r.outputs[0], [&](const Shape& at) { return sums[static_cast<size_t>(r.outputs[0].flat_index(at))] + bias.get(at.back()); },
          products_per_output(t.w));
    }
  }
}

TEST(OpConvTranspose, EveryWeightTypeAndLayout) {
  using namespace conv_transpose_case;
  for (const WeightCase& form : weight_cases()) {
    for (const Case& t : cases()) {
      SCOPED_TRACE(std::string(dtype_name(form.type)) + " " + t.name);
      const Array x = Array::random(DType::f32, t.x, 1, -1, 1), w = Array::random(form.type, t.w, 2, -7, 7);
      const Array scales = Array::random(DType::f32, {t.w[0]}, 4, 0.1, 0.2);
      const auto sums = spread(t, x, w);
      const Array stored = form.layout == Layout::kPlain ? w : w.packed(form.layout);
      const auto r = run(OpId::conv_transpose, t.a, {x, stored, Array::none(), Array::none(), scales});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(
          r.outputs[0], [&](const Shape& at) { return sums[static_cast<size_t>(r.outputs[0].flat_index(at))] * scales.get(at.back()); },
          products_per_output(t.w));
    }
  }
}

TEST(OpConvTranspose, ResidualActivationAndNan) {
  using namespace conv_transpose_case;
  Attrs a;
  a.strides[0] = 2;
  a.activation = static_cast<uint32_t>(ops::Activation::kRelu);
  const Array x = Array::of<float>({1, 3, 1}, {NAN, 1, INFINITY}), w = Array::of<float>({1, 1, 1}, {-1});
  const auto r = run(OpId::conv_transpose, a, {x, w, Array::none(), Array::of<float>({1, 5, 1}, {1, 2, 3, -4, 5})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, 2, 2, 0, 0});
}

TEST(OpConvTranspose, StripsEqualTheWhole) {
  using namespace conv_transpose_case;
  for (const Case& t : cases()) {
    SCOPED_TRACE(t.name);
    const Array x = Array::random(DType::f32, t.x, 1), w = Array::random(DType::f32, t.w, 2), residual = Array::random(DType::f32, t.y, 3);
    if (x.count() == 0) continue;
    check_strips(OpId::conv_transpose, t.a, {x, w, Array::none(), residual}, [&](int32_t begin, int32_t end) {
      const int32_t extent = (t.w[1] - 1) * t.a.dilations[0] + 1;
      const double first = std::ceil(double(begin + t.a.pads_begin[0] - extent + 1) / t.a.strides[0]);
      return std::make_pair(static_cast<int32_t>(first), (end - 1 + t.a.pads_begin[0]) / t.a.strides[0] + 1);
    });
  }
}

TEST(OpConvTranspose, Refuses) {
  using namespace conv_transpose_case;
  const Array x = Array::random(DType::f32, {1, 4, 2}, 1), w = Array::random(DType::f32, {3, 3, 2}, 2);
  const auto with = [&](auto change) {
    Attrs a;
    change(a);
    return run(OpId::conv_transpose, a, {x, w}).status.why();
  };
  EXPECT_EQ(with([](Attrs& a) { a.output_padding[0] = -1; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.output_padding[0] = 0x7fffffff; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.strides[0] = 0; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.strides[0] = 0x7fffffff; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.pads_begin[0] = 7; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.groups = 2; }), Why::kGroups);
  EXPECT_EQ(with([](Attrs& a) { a.activation = 99; }), Why::kAttribute);
  EXPECT_EQ(run(OpId::conv_transpose, Attrs{}, {Array::random(DType::s32, {1, 4, 2}, 1), w}).status.why(), Why::kDType);
  EXPECT_EQ(run(OpId::conv_transpose, Attrs{}, {x, Array::random(DType::f32, {3, 3, 1}, 2)}).status.why(), Why::kDimMismatch);
}

}  // namespace mote::optest
