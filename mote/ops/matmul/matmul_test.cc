#include "mote/ops/matmul/matmul.h"

#include "mote/ops/testing/linear_cases.h"

namespace mote::optest {
namespace matmul_case {
namespace {

using Attrs = ops::matmul::Attrs;

struct Case {
  Shape a, b, y;  // a is (..., M, K), b is (..., K, N)
};
const Case kCases[] = {{{3, 4}, {4, 5}, {3, 5}},
                       {{1, 7}, {7, 1}, {1, 1}},
                       {{2, 3, 4}, {4, 2}, {2, 3, 2}},
                       {{3, 4}, {2, 4, 2}, {2, 3, 2}},
                       {{2, 1, 3, 4}, {3, 4, 2}, {2, 3, 3, 2}},
                       {{0, 4}, {4, 5}, {0, 5}},
                       {{3, 0}, {0, 2}, {3, 2}},
                       {{2, 3}, {3, 0}, {2, 0}},
                       {{0, 2, 3}, {3, 2}, {0, 2, 2}},
                       {{1, 2, 1, 2, 1, 2, 2, 3}, {2, 1, 2, 1, 1, 1, 3, 2}, {2, 2, 2, 2, 1, 2, 2, 2}}};

double product_at(const Array& a, const Array& b, const Attrs& attrs, const Shape& at) {
  const size_t m_axis = at.size() - 2, n_axis = at.size() - 1;
  const int32_t k_count = a.shape()[a.shape().size() - (attrs.transpose_a ? 2 : 1)];
  double sum = 0;
  for (int32_t k = 0; k < k_count; ++k) {
    Shape left = at, right = at;
    left[n_axis] = k;
    right[m_axis] = k;
    if (attrs.transpose_a) std::swap(left[m_axis], left[n_axis]);
    if (attrs.transpose_b) std::swap(right[m_axis], right[n_axis]);
    sum += broadcast_value(a, left) * broadcast_value(b, right);
  }
  return sum;
}

Shape swapped(Shape s, bool swap) {
  if (swap) std::swap(s[s.size() - 1], s[s.size() - 2]);
  return s;
}

Why refusal(const Attrs& a, const std::vector<Array>& inputs) { return run(OpId::matmul, a, inputs).status.why(); }

Array f32(Shape s) { return Array::random(DType::f32, std::move(s), 9); }

}  // namespace
}  // namespace matmul_case

TEST(OpMatmul, EveryTypeTransposeAndBatch) {
  using namespace matmul_case;
  for (DType type : types_of(ops::matmul::Types{})) {
    for (const Case& t : kCases) {
      for (uint32_t transposed = 0; transposed < 4; ++transposed) {
        SCOPED_TRACE(dtype_name(type));
        Attrs attrs;
        attrs.transpose_a = transposed & 1;
        attrs.transpose_b = transposed >> 1;
        const Array a = Array::random(type, swapped(t.a, attrs.transpose_a), 1),
                    b = Array::random(type, swapped(t.b, attrs.transpose_b), 2);
        const auto r = run(OpId::matmul, attrs, {a, b});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], t.y);
        expect_oracle(
            r.outputs[0], [&](const Shape& at) { return product_at(a, b, attrs, at); }, 20);
      }
    }
  }
}

TEST(OpMatmul, AlphaBiasResidualAndEveryActivation) {
  using namespace matmul_case;
  const Shape biases[] = {{5}, {1}, {}, {3, 5}, {3, 1}, {2, 1, 5}};
  for (DType type : types_of(FloatTypes{})) {
    for (uint32_t kind = 0; kind < ops::kActivationCount; ++kind) {
      Attrs attrs;
      attrs.alpha = 0.5f;
      attrs.activation = kind;
      attrs.act_a = kind == 1 ? -1.f : 0.25f;
      attrs.act_b = 0.75f;
      const Array a = Array::random(type, {2, 3, 4}, 1, -1, 1), b = Array::random(type, {4, 5}, 2, -1, 1),
                  residual = Array::random(type, {2, 3, 5}, 3);
      for (const Shape& shape : biases) {
        const Array bias = Array::random(type, shape, 4);
        const auto r = run(OpId::matmul, attrs, {a, b, bias, residual});
        ASSERT_TRUE(r.ok()) << r.message();
        const auto oracle = [&](const Shape& at) {
          return product_at(a, b, attrs, at) * 0.5 + broadcast_value(bias, at) + residual.at(at);
        };
        expect_oracle(
            r.outputs[0], [&](const Shape& at) { return activation_oracle(kind, attrs.act_a, attrs.act_b, oracle(at)); }, 20);
      }
    }
  }
}

TEST(OpMatmul, IntegersWrapAndTakeABias) {
  const auto r = run(OpId::matmul, ops::matmul::Attrs{},
                     {Array::of<int32_t>({1, 2}, {65536, 2}), Array::of<int32_t>({2, 1}, {65536, 3}), Array::of<int32_t>({1}, {-7})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-1});
}

TEST(OpMatmul, NanAndInfinitySpread) {
  const auto r =
      run(OpId::matmul, ops::matmul::Attrs{}, {Array::of<float>({3, 2}, {NAN, 0, INFINITY, 1, 1, 1}), Array::of<float>({2, 1}, {1, 2})});
  expect_values(r.outputs[0], {NAN, INFINITY, 3});
}

TEST(OpMatmul, EveryWeightTypeLayoutAndGrouping) {
  using namespace matmul_case;
  for (const WeightCase& form : weight_cases()) {
    struct Sizes {
      int32_t n, k, group;
    };
    for (const Sizes t : {Sizes{5, 9, 0}, {19, 8, 0}, {5, 9, 4}, {19, 16, 8}, {3, 4, 100}, {4, 0, 0}, {0, 4, 2}}) {
      const int32_t n_count = t.n, k_count = t.k, group = t.group;
      SCOPED_TRACE(std::string(dtype_name(form.type)) + " group " + std::to_string(group));
      const int32_t size = group > 0 ? group : std::max(1, k_count);
      Attrs attrs;
      attrs.transpose_b = 1;
      attrs.group_size = group;
      const Array a = Array::random(DType::f32, {2, 3, k_count}, 1, -1, 1), b = Array::random(form.type, {n_count, k_count}, 2, -7, 7);
      const Shape beside = group > 0 ? Shape{n_count, (k_count + group - 1) / group} : Shape{n_count};
      const Array scales = Array::random(DType::f32, beside, 3, 0.1, 0.3), zeros = Array::random(DType::s8, beside, 4);
      const Array stored = form.layout == Layout::kPlain ? b : b.packed(form.layout);
      for (int mode = 0; mode < 3; ++mode) {
        std::vector<Array> inputs = {a, stored, Array::none(), Array::none()};
        if (mode > 0) inputs.push_back(scales);
        if (mode > 1) inputs.push_back(zeros);
        const auto r = run(OpId::matmul, attrs, inputs);
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], {2, 3, n_count});
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              double sum = 0;
              for (int32_t k = 0; k < k_count; ++k) {
                const Shape g = group > 0 ? Shape{at[2], k / size} : Shape{at[2]};
                sum += a.at({at[0], at[1], k}) * (b.at({at[2], k}) - (mode > 1 ? zeros.at(g) : 0)) * (mode > 0 ? scales.at(g) : 1);
              }
              return sum;
            },
            40);
      }
    }
  }
}

// Groups of k with their scales side by side for all n, f32 or f16; sizes that end within panels, groups and pieces of the fast kernels.
TEST(OpMatmul, GroupsFirst) {
  using namespace matmul_case;
  struct Sizes {
    int32_t m, n, k, group;
  };
  for (const DType type : {DType::s4, DType::s8}) {
    for (const Sizes t : {Sizes{1, 37, 64, 32}, {2, 16, 40, 8}, {30, 50, 300, 32}, {13, 33, 270, 128}, {5, 5, 9, 4}, {3, 40, 24, 100}}) {
      for (int mode = 0; mode < 4; ++mode) {
        SCOPED_TRACE(std::string(dtype_name(type)) + " k " + std::to_string(t.k) + " mode " + std::to_string(mode));
        Attrs attrs;
        attrs.transpose_b = 1;
        attrs.group_size = t.group;
        attrs.groups_first = 1;
        attrs.activation = mode == 3 ? 9 : 2;
        const Array a = Array::random(DType::f32, {2, t.m, t.k}, 1, -1, 1), b = Array::random(type, {t.n, t.k}, 2, -7, 7);
        const Shape beside = {(t.k + t.group - 1) / t.group, t.n};
        const Array scales = Array::random(mode % 2 == 0 ? DType::f32 : DType::f16, beside, 3, 0.1, 0.3);
        const Array zeros = mode > 1 ? Array::random(DType::s8, beside, 4, -8, 7) : Array::none();
        const Array bias = Array::random(DType::f32, {t.n}, 5), residual = Array::random(DType::f32, {2, t.m, t.n}, 6);
        const Array packed = b.packed(type == DType::s4 ? Layout::kPanel16k8 : Layout::kPanel16k4);
        const auto r = run(OpId::matmul, attrs, {a, packed, bias, residual, scales, zeros});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              double sum = bias.at({at[2]}) + residual.at(at);
              for (int32_t k = 0; k < t.k; ++k) {
                const Shape g = {k / t.group, at[2]};
                sum += a.at({at[0], at[1], k}) * (b.at({at[2], k}) - (mode > 1 ? zeros.at(g) : 0)) * scales.at(g);
              }
              return activation_oracle(attrs.activation, 0, 0, sum);
            },
            400);
      }
    }
  }
}

TEST(OpMatmul, HalfPrecisionPanels) {
  using namespace matmul_case;
  Attrs attrs;
  attrs.transpose_b = 1;
  for (const WeightCase& form : {WeightCase{DType::f16, Layout::kPanel16}, WeightCase{DType::bf16, Layout::kPanel16k2}}) {
    const Array a = Array::random(form.type, {3, 7}, 1), b = Array::random(form.type, {18, 7}, 2);
    const auto r = run(OpId::matmul, attrs, {a, b.packed(form.layout)});
    ASSERT_TRUE(r.ok()) << r.message();
    EXPECT_EQ(r.outputs[0].bytes(), run(OpId::matmul, attrs, {a, b}).outputs[0].bytes());
  }
}

TEST(OpMatmul, RefusesOperands) {
  using namespace matmul_case;
  const Array a = f32({3, 4}), b = f32({4, 5}), none = Array::none();
  const Attrs plain;
  EXPECT_EQ(refusal(plain, {Array::random(DType::s8, {3, 4}, 1), Array::random(DType::s8, {4, 5}, 1)}), Why::kDType);
  EXPECT_EQ(refusal(plain, {none, b}), Why::kInputMissing);
  EXPECT_EQ(refusal(plain, {a, none}), Why::kInputMissing);
  EXPECT_EQ(refusal(plain, {f32({4}), b}), Why::kRank);
  EXPECT_EQ(refusal(plain, {a, f32({4})}), Why::kRank);
  EXPECT_EQ(refusal(plain, {a, f32({5, 4})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(plain, {f32({2, 3, 4}), f32({3, 4, 5})}), Why::kBroadcast);
  EXPECT_EQ(refusal(plain, {a, Array::random(DType::f64, {4, 5}, 1)}), Why::kDTypeMismatch);
  EXPECT_EQ(refusal(plain, {a.packed(Layout::kPanel16), b}), Why::kLayout);
  EXPECT_EQ(refusal(plain, {a, b, f32({4})}), Why::kBroadcast);
  EXPECT_EQ(refusal(plain, {a, b, f32({1, 3, 5})}), Why::kRank);
  EXPECT_EQ(refusal(plain, {a, b, Array::random(DType::f16, {5}, 1)}), Why::kDTypeMismatch);
  EXPECT_EQ(refusal(plain, {a, b, none, f32({3, 4})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(plain, {a, b, none, f32({5})}), Why::kRank);
}

TEST(OpMatmul, RefusesWeightsAndAttributes) {
  using namespace matmul_case;
  const Array a = f32({3, 4}), bt = f32({5, 4}), none = Array::none();
  Attrs t;
  t.transpose_b = 1;
  EXPECT_EQ(refusal(Attrs{}, {a, Array::random(DType::s8, {4, 5}, 1)}), Why::kAttribute);
  EXPECT_EQ(refusal(Attrs{}, {a, f32({4, 5}).packed(Layout::kPanel16)}), Why::kAttribute);
  EXPECT_EQ(refusal(t, {a, Array::random(DType::s8, {1, 5, 4}, 1)}), Why::kRank);
  EXPECT_EQ(refusal(t, {a, bt.packed(Layout::kPanel16k4)}), Why::kLayout);
  EXPECT_EQ(refusal(t, {a, bt, none, none, f32({4})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(t, {a, bt, none, none, f32({5, 1})}), Why::kRank);
  EXPECT_EQ(refusal(t, {a, bt, none, none, Array::random(DType::bf16, {5}, 1)}), Why::kDType);
  EXPECT_EQ(refusal(t, {a, bt, none, none, none, Array::random(DType::s8, {5}, 1)}), Why::kInputMissing);
  EXPECT_EQ(refusal(t, {a, bt, none, none, f32({5}), Array::random(DType::s8, {4}, 1)}), Why::kDimMismatch);
  EXPECT_EQ(refusal(t, {a, bt, none, none, f32({5}), f32({5})}), Why::kDType);
  EXPECT_EQ(refusal(t, {Array::random(DType::f16, {3, 4}, 1), Array::random(DType::f16, {5, 4}, 1), none, none, f32({5})}), Why::kDType);
  const auto with = [&](auto change) {
    Attrs attrs = t;
    change(attrs);
    return refusal(attrs, {a, bt, none, none, f32({5, 3})});
  };
  EXPECT_EQ(with([](Attrs& x) { x.group_size = 2; }), Why::kDimMismatch);
  EXPECT_EQ(with([](Attrs& x) { x.group_size = -1; }), Why::kAttribute);
  EXPECT_EQ(with([](Attrs& x) { x.transpose_a = 2; }), Why::kAttribute);
  EXPECT_EQ(with([](Attrs& x) { x.transpose_b = 2; }), Why::kAttribute);
  EXPECT_EQ(with([](Attrs& x) { x.activation = 15; }), Why::kAttribute);
  Attrs relu;
  relu.activation = 2;
  EXPECT_EQ(refusal(relu, {Array::random(DType::s32, {3, 4}, 1), Array::random(DType::s32, {4, 5}, 1)}), Why::kAttribute);
}

}  // namespace mote::optest
