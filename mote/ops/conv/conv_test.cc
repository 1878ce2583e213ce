#include "mote/ops/conv/conv.h"

#include "mote/ops/testing/linear_cases.h"

namespace mote::optest {
namespace conv_case {
namespace {

using Attrs = ops::conv::Attrs;

struct Case {
  const char* name;
  Shape x, w;
  Attrs a;
};

Attrs geometry(std::initializer_list<int> strides, std::initializer_list<int> dilations, std::initializer_list<int> begin,
               std::initializer_list<int> end, int groups = 1) {
  Attrs a;
  std::copy(strides.begin(), strides.end(), a.strides);
  std::copy(dilations.begin(), dilations.end(), a.dilations);
  std::copy(begin.begin(), begin.end(), a.pads_begin);
  std::copy(end.begin(), end.end(), a.pads_end);
  a.groups = groups;
  return a;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"pointwise", {2, 3, 2, 5}, {4, 1, 1, 5}, geometry({}, {}, {}, {})},
      {"1d", {2, 9, 3}, {4, 3, 3}, geometry({2}, {1}, {1}, {2})},
      {"1d dilated", {1, 11, 2}, {3, 3, 2}, geometry({1}, {3}, {0}, {4})},
      {"2d", {2, 5, 6, 3}, {5, 3, 3, 3}, geometry({1, 1}, {1, 1}, {1, 1}, {1, 1})},
      {"2d uneven", {1, 7, 5, 2}, {3, 2, 3, 2}, geometry({2, 3}, {2, 1}, {0, 2}, {3, 1})},
      {"groups", {1, 4, 4, 6}, {4, 3, 3, 3}, geometry({1, 1}, {1, 1}, {1, 1}, {1, 1}, 2)},
      {"depthwise", {2, 5, 5, 4}, {4, 3, 3, 1}, geometry({2, 2}, {1, 1}, {1, 1}, {1, 1}, 4)},
      {"depthwise, two outputs each", {1, 4, 5, 3}, {6, 2, 2, 1}, geometry({1, 1}, {2, 2}, {1, 0}, {0, 1}, 3)},
      {"3d", {1, 4, 3, 5, 2}, {3, 2, 3, 2, 2}, geometry({2, 1, 1}, {1, 1, 2}, {1, 1, 0}, {0, 1, 1})},
      {"window wider than the input", {1, 2, 2, 2}, {2, 5, 5, 2}, geometry({1, 1}, {1, 1}, {2, 2}, {2, 2})},
      {"windows in the padding alone", {1, 1, 1, 2}, {2, 1, 1, 2}, geometry({1, 1}, {1, 1}, {2, 2}, {2, 2})},
      {"more than a panel of outputs", {1, 2, 2, 9}, {19, 1, 2, 9}, geometry({1, 1}, {1, 1}, {0, 0}, {0, 0})},
      {"no batch", {0, 4, 4, 2}, {3, 3, 3, 2}, geometry({}, {}, {}, {})},
      {"no channels", {1, 2, 2, 0}, {3, 1, 1, 0}, geometry({}, {}, {}, {})},
      {"no outputs", {1, 2, 2, 2}, {0, 1, 1, 2}, geometry({}, {}, {}, {})}};
  return all;
}

// The sum for output position and channel `at`, straight from the definition.
double sum_at(const Array& x, const Array& w, const Attrs& a, const Shape& at) {
  const size_t spatial = x.shape().size() - 2;
  const int32_t per_group = w.shape().back(), group = at.back() / (w.shape()[0] / a.groups);
  double sum = 0;
  for_each_index(Shape(w.shape().begin() + 1, w.shape().end()), [&](const Shape& k) {
    Shape from = at, tap = k;
    for (size_t d = 0; d < spatial; ++d) {
      from[d + 1] = at[d + 1] * a.strides[d] - a.pads_begin[d] + k[d] * a.dilations[d];
      if (from[d + 1] < 0 || from[d + 1] >= x.shape()[d + 1]) return;
    }
    from.back() = group * per_group + k.back();
    tap.insert(tap.begin(), at.back());
    sum += x.at(from) * w.at(tap);
  });
  return sum;
}

Shape output_shape(const Case& t) {
  Shape y = t.x;
  for (size_t d = 0; d + 2 < y.size(); ++d)
    y[d + 1] = (t.x[d + 1] + t.a.pads_begin[d] + t.a.pads_end[d] - ((t.w[d + 1] - 1) * t.a.dilations[d] + 1)) / t.a.strides[d] + 1;
  y.back() = t.w[0];
  return y;
}

Why refusal(const Attrs& a, const std::vector<Array>& inputs) { return run(OpId::conv, a, inputs).status.why(); }

}  // namespace
}  // namespace conv_case

TEST(OpConv, EveryTypeAndGeometry) {
  using namespace conv_case;
  for (DType type : types_of(ops::conv::Types{})) {
    for (const Case& t : cases()) {
      SCOPED_TRACE(std::string(dtype_name(type)) + " " + t.name);
      const Array x = Array::random(type, t.x, 1, -1, 1), w = Array::random(type, t.w, 2, -1, 1), bias = Array::random(type, {t.w[0]}, 3);
      const auto r = run(OpId::conv, t.a, {x, w, bias});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], output_shape(t));
      expect_oracle(
          r.outputs[0], [&](const Shape& at) { return sum_at(x, w, t.a, at) + bias.get(at.back()); }, products_per_output(t.w));
      const auto bare = run(OpId::conv, t.a, {x, w});
      ASSERT_TRUE(bare.ok()) << bare.message();
      expect_oracle(
          bare.outputs[0], [&](const Shape& at) { return sum_at(x, w, t.a, at); }, products_per_output(t.w));
    }
  }
}

TEST(OpConv, EveryWeightTypeAndLayout) {
  using namespace conv_case;
  for (const WeightCase& form : weight_cases()) {
    for (const Case& t : cases()) {
      SCOPED_TRACE(std::string(dtype_name(form.type)) + " " + t.name);
      const Array x = Array::random(DType::f32, t.x, 1, -1, 1), w = Array::random(form.type, t.w, 2, -7, 7);
      const Array bias = Array::random(DType::f32, {t.w[0]}, 3), scales = Array::random(DType::f32, {t.w[0]}, 4, 0.1, 0.2);
      const Array stored = form.layout == Layout::kPlain ? w : w.packed(form.layout);
      const auto r = run(OpId::conv, t.a, {x, stored, bias, Array::none(), scales});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(
          r.outputs[0], [&](const Shape& at) { return sum_at(x, w, t.a, at) * scales.get(at.back()) + bias.get(at.back()); },
          products_per_output(t.w));
    }
  }
}

TEST(OpConv, GroupsOfWeights) {
  using namespace conv_case;
  struct Sizes {
    const char* name;
    Shape x, w;
    Attrs a;
    int32_t group;
  };
  const Sizes all[] = {
      {"3x3", {2, 6, 7, 16}, {21, 3, 3, 16}, geometry({1, 1}, {1, 1}, {1, 1}, {1, 1}), 32},
      {"a tap longer than a piece", {1, 5, 4, 264}, {18, 3, 2, 264}, geometry({2, 1}, {1, 2}, {1, 0}, {1, 1}), 128},
      {"several taps in a piece", {1, 9, 5, 40}, {35, 5, 3, 40}, geometry({1, 2}, {1, 1}, {2, 1}, {2, 1}), 64},
      {"one tap, stride 2", {1, 5, 5, 20}, {33, 1, 1, 20}, geometry({2, 2}, {1, 1}, {0, 0}, {0, 0}), 8},
      {"1d", {2, 30, 8}, {17, 3, 8}, geometry({2}, {3}, {1}, {4}), 16},
      {"one group", {1, 4, 4, 8}, {16, 2, 2, 8}, geometry({1, 1}, {1, 1}, {0, 0}, {0, 0}), 128},
      {"a signal", {1, 600, 1}, {37, 120, 1}, geometry({60}, {1}, {0}, {0}), 32},
      {"odd channels", {1, 9, 129}, {20, 3, 129}, geometry({1}, {1}, {1}, {1}), 64},
      {"odd channels, no padding", {1, 4, 6, 37}, {20, 3, 3, 37}, geometry({1, 1}, {1, 1}, {0, 0}, {0, 0}), 32},
      {"the first of a network", {1, 12, 12, 3}, {32, 7, 7, 3}, geometry({2, 2}, {1, 1}, {3, 3}, {3, 3}), 147},
      {"taps that end within a step", {1, 4, 4, 5}, {7, 3, 3, 5}, geometry({1, 1}, {1, 1}, {1, 1}, {1, 1}), 16},
      {"groups that do", {1, 4, 4, 8}, {7, 2, 2, 8}, geometry({1, 1}, {1, 1}, {1, 1}, {1, 1}), 5},
      {"depthwise", {2, 6, 9, 21}, {21, 3, 3, 1}, geometry({1, 1}, {1, 1}, {1, 1}, {1, 1}, 21), 9},
      {"depthwise, 5x5", {1, 7, 7, 32}, {32, 5, 5, 1}, geometry({2, 2}, {1, 1}, {2, 2}, {2, 2}, 32), 32},
      {"depthwise, a row", {2, 11, 3}, {3, 3, 1}, geometry({1}, {2}, {1}, {1}, 3), 3},
      {"two parts of the channels", {1, 4, 4, 16}, {32, 3, 3, 8}, geometry({1, 1}, {1, 1}, {1, 1}, {1, 1}, 2), 32},
  };
  for (const DType type : {DType::s4, DType::s8}) {
    for (const Sizes& t : all) {
      for (int mode = 0; mode < 5; ++mode) {
        SCOPED_TRACE(std::string(dtype_name(type)) + " " + t.name + " mode " + std::to_string(mode));
        Attrs a = t.a;
        a.group_size = t.group;
        a.activation = mode == 3 ? 9 : 2;
        const int32_t k_count = static_cast<int32_t>(products_per_output(t.w));
        const Array x = Array::random(DType::f32, t.x, 1, -1, 1), w = Array::random(type, t.w, 2, -7, 7);
        const Shape beside = {(k_count + t.group - 1) / t.group, t.w[0]};
        const Array scales = Array::random(mode % 2 == 0 ? DType::f32 : DType::f16, beside, 3, 0.1, 0.3);
        const Array zeros = mode > 1 ? Array::random(DType::s8, beside, 4, -8, 7) : Array::none();
        Case c = {"", t.x, t.w, a};
        const Array bias = Array::random(DType::f32, {t.w[0]}, 5), residual = Array::random(DType::f32, output_shape(c), 6);
        // Weights as they count.
        std::vector<double> values;
        for (int32_t i = 0; i < w.count(); ++i) {
          const Shape g = {i % k_count / t.group, i / k_count};
          values.push_back((w.get(i) - (mode > 1 ? zeros.at(g) : 0)) * scales.at(g));
        }
        const Array wide = Array::of<float>(t.w, values);
        const Array stored = mode == 4 ? w : w.packed(type == DType::s4 ? Layout::kPanel16k8 : Layout::kPanel16k4);
        const auto r = run(OpId::conv, a, {x, stored, bias, residual, scales, zeros});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              return activation_oracle(a.activation, 0, 0, sum_at(x, wide, a, at) + bias.get(at.back()) + residual.at(at));
            },
            20 * k_count);
      }
    }
  }
}

TEST(OpConv, StripsOfGroupedWeightsEqualTheWhole) {
  using namespace conv_case;
  Attrs a = geometry({1, 1}, {1, 1}, {1, 1}, {1, 1});
  a.group_size = 32;
  const Array x = Array::random(DType::f32, {1, 7, 5, 16}, 1), w = Array::random(DType::s4, {20, 3, 3, 16}, 2).packed(Layout::kPanel16k8),
              scales = Array::random(DType::f16, {5, 20}, 3, 0.1, 0.3), residual = Array::random(DType::f32, {1, 7, 5, 20}, 4);
  check_strips(OpId::conv, a, {x, w, Array::none(), residual, scales}, window_rows(a, 3));
}

TEST(OpConv, RefusesGroupsThatDoNotFit) {
  using namespace conv_case;
  const Array x = Array::random(DType::f32, {1, 4, 4, 8}, 1), w = Array::random(DType::s4, {4, 3, 3, 8}, 2), none = Array::none();
  const auto f32 = [](Shape s) { return Array::random(DType::f32, std::move(s), 9); };
  const auto s8 = [](Shape s) { return Array::random(DType::s8, std::move(s), 9); };
  Attrs a;
  a.group_size = 32;
  EXPECT_EQ(refusal(a, {x, w, none, none, f32({3, 4})}), Why::kNone);
  EXPECT_EQ(refusal(a, {x, w}), Why::kInputMissing);
  EXPECT_EQ(refusal(a, {x, w, none, none, f32({4})}), Why::kRank);
  EXPECT_EQ(refusal(a, {x, w, none, none, f32({4, 4})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(a, {x, w, none, none, f32({3, 5})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(a, {x, w, none, none, s8({3, 4})}), Why::kDType);
  EXPECT_EQ(refusal(a, {x, w, none, none, f32({3, 4}), f32({3, 4})}), Why::kDType);
  EXPECT_EQ(refusal(a, {x, w, none, none, f32({3, 4}), s8({4})}), Why::kRank);
  EXPECT_EQ(refusal(a, {x, w, none, none, f32({3, 4}), s8({2, 4})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(a, {x, w, none, none, f32({3, 4}), s8({3, 3})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(a, {x, f32({4, 3, 3, 8}), none, none, f32({3, 4})}), Why::kDType);
  a.group_size = -1;
  EXPECT_EQ(refusal(a, {x, w, none, none, f32({3, 4})}), Why::kAttribute);
  a.group_size = 0;
  EXPECT_EQ(refusal(a, {x, w, none, none, f32({4}), s8({4})}), Why::kAttribute);
}

TEST(OpConv, HalfPrecisionPanels) {
  using namespace conv_case;
  const Case& t = cases()[3];
  for (const WeightCase& form : {WeightCase{DType::f16, Layout::kPanel16}, WeightCase{DType::bf16, Layout::kPanel16k2}}) {
    const Array x = Array::random(form.type, t.x, 1, -1, 1), w = Array::random(form.type, t.w, 2, -1, 1);
    const auto r = run(OpId::conv, t.a, {x, w.packed(form.layout)});
    ASSERT_TRUE(r.ok()) << r.message();
    EXPECT_EQ(r.outputs[0].bytes(), run(OpId::conv, t.a, {x, w}).outputs[0].bytes());
  }
}

TEST(OpConv, ResidualThenEveryActivation) {
  using namespace conv_case;
  const Case& t = cases()[4];
  for (DType type : types_of(ops::conv::Types{})) {
    for (uint32_t kind = 0; kind < ops::kActivationCount; ++kind) {
      SCOPED_TRACE(kind);
      Attrs a = t.a;
      a.activation = kind;
      a.act_a = kind == 1 ? -0.5f : 0.25f;
      a.act_b = 0.75f;
      const Array x = Array::random(type, t.x, 1, -1, 1), w = Array::random(type, t.w, 2, -1, 1),
                  residual = Array::random(type, output_shape(t), 5);
      const auto r = run(OpId::conv, a, {x, w, Array::none(), residual});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(
          r.outputs[0], [&](const Shape& at) { return activation_oracle(kind, a.act_a, a.act_b, sum_at(x, w, a, at) + residual.at(at)); },
          30);
    }
  }
}

TEST(OpConv, NanAndInfinitySpread) {
  const Array x = Array::of<float>({1, 4, 1}, {NAN, 1, INFINITY, 2}), w = Array::of<float>({1, 1, 1}, {2});
  const auto r = run(OpId::conv, ops::conv::Attrs{}, {x, w});
  expect_values(r.outputs[0], {NAN, 2, INFINITY, 4});
  for (uint32_t kind = 0; kind < ops::kActivationCount; ++kind) {
    ops::conv::Attrs a;
    a.activation = kind;
    EXPECT_TRUE(std::isnan(run(OpId::conv, a, {x, w}).outputs[0].get(0))) << kind;
  }
}

TEST(OpConv, StripsEqualTheWhole) {
  using namespace conv_case;
  for (const Case& t : cases()) {
    if (count_of(output_shape(t)) == 0) continue;
    SCOPED_TRACE(t.name);
    const Array x = Array::random(DType::f32, t.x, 1), w = Array::random(DType::f32, t.w, 2),
                residual = Array::random(DType::f32, output_shape(t), 3);
    if (x.count() > 0) check_strips(OpId::conv, t.a, {x, w, Array::none(), residual}, window_rows(t.a, t.w[1]));
  }
}

TEST(OpConv, RefusesWhatItCannotRead) {
  using namespace conv_case;
  const Array x = Array::random(DType::f32, {1, 4, 4, 4}, 1), w = Array::random(DType::f32, {4, 3, 3, 4}, 2);
  const Array none = Array::none();
  const auto f32 = [](Shape s) { return Array::random(DType::f32, std::move(s), 9); };
  const Attrs plain;
  EXPECT_EQ(refusal(plain, {Array::random(DType::s8, {1, 4, 4, 4}, 1), w}), Why::kDType);
  EXPECT_EQ(refusal(plain, {x, none}), Why::kInputMissing);
  EXPECT_EQ(refusal(plain, {f32({4, 4}), f32({4, 4})}), Why::kRank);
  EXPECT_EQ(refusal(plain, {f32({1, 1, 1, 1, 1, 1}), f32({1, 1, 1, 1, 1, 1})}), Why::kRank);
  EXPECT_EQ(refusal(plain, {x, f32({4, 3, 4})}), Why::kRank);
  EXPECT_EQ(refusal(plain, {x, Array::random(DType::f64, {4, 3, 3, 4}, 1)}), Why::kDTypeMismatch);
  EXPECT_EQ(refusal(plain, {Array::random(DType::f16, {1, 4, 4, 4}, 1), Array::random(DType::s8, {4, 3, 3, 4}, 1)}), Why::kDTypeMismatch);
  EXPECT_EQ(refusal(plain, {x, f32({4, 3, 3, 2})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(plain, {x, w.packed(Layout::kPanel16k4)}), Why::kLayout);
  EXPECT_EQ(refusal(plain, {x.packed(Layout::kPanel16), w}), Why::kLayout);
  EXPECT_EQ(refusal(plain, {x, w, f32({3})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(plain, {x, w, f32({1, 4})}), Why::kRank);
  EXPECT_EQ(refusal(plain, {x, w, Array::random(DType::f16, {4}, 1)}), Why::kDTypeMismatch);
  EXPECT_EQ(refusal(plain, {x, w, none, f32({1, 2, 3, 4})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(plain, {x, w, none, f32({2, 2, 4})}), Why::kRank);
  EXPECT_EQ(refusal(plain, {x, w, none, f32({1, 2, 2, 4}).packed(Layout::kPanel16)}), Why::kLayout);
  EXPECT_EQ(refusal(plain, {x, w, none, Array::random(DType::f16, {1, 2, 2, 4}, 1)}), Why::kDTypeMismatch);
  EXPECT_EQ(refusal(plain, {x, w, none, none, f32({3})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(plain, {x, w, none, none, Array::random(DType::f16, {4}, 1)}), Why::kDType);
  const Array hx = Array::random(DType::f16, {1, 4, 4, 4}, 1), hw = Array::random(DType::f16, {4, 3, 3, 4}, 1);
  EXPECT_EQ(refusal(plain, {hx, hw, none, none, f32({4})}), Why::kDType);
}

TEST(OpConv, RefusesBadAttributes) {
  using namespace conv_case;
  const Array x = Array::random(DType::f32, {1, 4, 4, 4}, 1), w = Array::random(DType::f32, {4, 3, 3, 4}, 2);
  const auto with = [&](auto change) {
    Attrs a;
    change(a);
    return refusal(a, {x, w});
  };
  EXPECT_EQ(with([](Attrs& a) { a.groups = 0; }), Why::kGroups);
  EXPECT_EQ(with([](Attrs& a) { a.groups = 3; }), Why::kGroups);
  EXPECT_EQ(with([](Attrs& a) { a.groups = 2; }), Why::kDimMismatch);
  EXPECT_EQ(with([](Attrs& a) { a.strides[1] = 0; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.dilations[0] = -1; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.dilations[0] = 2; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.dilations[0] = 0x7fffffff; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.pads_begin[0] = -1; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.pads_end[1] = -1; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.pads_end[1] = 0x7fffffff; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.activation = ops::kActivationCount; }), Why::kAttribute);
  EXPECT_EQ(with([](Attrs& a) { a.activation = 1, a.act_a = 1, a.act_b = 0; }), Why::kAttribute);
  EXPECT_EQ(with([](Attrs& a) { a.activation = 1, a.act_a = NAN; }), Why::kAttribute);
  EXPECT_EQ(refusal(Attrs{}, {x, Array::random(DType::f32, {4, 0, 3, 4}, 2)}), Why::kWindow);
}

}  // namespace mote::optest
