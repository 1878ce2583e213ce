#include "mote/ops/attention/attention.h"

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {
namespace attention_case {
namespace {

using ops::attention::Attrs;

// Softmax over all keys at once, in double; absent keys have no weight.
double oracle(const Attrs& a, const std::vector<Array>& in, const Shape& at) {
  const Array &q = in[0], &k = in[1], &v = in[2];
  const int b = at[0], h = at[1], s = at[2], keys = k.shape()[2], queries = q.shape()[2], depth = q.shape()[3];
  const int kh = h * k.shape()[1] / q.shape()[1];
  const bool has_lengths = in.size() > 4, has_mask = in.size() > 3 && in[3].present();
  const int used = has_lengths ? static_cast<int>(in[4].get(b)) : keys;
  const int position = s + (has_lengths ? used - queries : a.cached ? keys - queries : 0);
  double total = 0, sum = 0;
  for (int t = 0; t < used; ++t) {
    if (a.is_causal && t > position) continue;
    if (a.left_window >= 0 && t < position - a.left_window) continue;
    if (a.right_window >= 0 && t > position + a.right_window) continue;
    double score = 0;
    for (int d = 0; d < depth; ++d) score += q.at({b, h, s, d}) * k.at({b, kh, t, d});
    score *= a.scale != 0 ? a.scale : 1 / std::sqrt(depth);
    if (a.softcap > 0) score = a.softcap * std::tanh(score / a.softcap);
    if (has_mask) {
      const Shape full = {b, h, s, t}, &m = in[3].shape();
      Shape i(m.size());
      for (size_t n = 0; n < m.size(); ++n) i[n] = m[n] == 1 ? 0 : full[4 - m.size() + n];
      const double mask = in[3].at(i);
      if (in[3].dtype() == DType::boolean ? mask == 0 : std::isinf(mask)) continue;
      if (in[3].dtype() != DType::boolean) score += mask;
    }
    total += std::exp(score);
    sum += std::exp(score) * v.at({b, kh, t, at[3]});
  }
  return total == 0 ? 0 : sum / total;
}

void check(const Attrs& a, const std::vector<Array>& in) {
  const auto r = run(OpId::attention, a, in);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_oracle(
      r.outputs[0], [&](const Shape& at) { return oracle(a, in, at); }, 4);
}

}  // namespace
}  // namespace attention_case

TEST(OpAttention, EveryTypeMaskAndWindow) {
  using namespace attention_case;
  for (DType type : types_of(ops::attention::Types{})) {
    SCOPED_TRACE(dtype_name(type));
    const Array q = Array::random(type, {2, 4, 3, 5}, 1, -2, 2), k = Array::random(type, {2, 2, 6, 5}, 2, -2, 2),
                v = Array::random(type, {2, 2, 6, 3}, 3);
    const Array lengths = Array::of<int64_t>({2}, {4, 6}), none = Array::none();
    for (const Attrs& a : {Attrs{}, Attrs{0.3f, 1.5f, 0, 0, -1, -1}, Attrs{0, 0, 1, 0, -1, -1}, Attrs{0, 0, 1, 1, -1, -1},
                           Attrs{0, 0, 0, 1, 1, 1}, Attrs{0, 0, 1, 1, 2, -1}, Attrs{0, 0, 0, 0, 0, 0}}) {
      check(a, {q, k, v});
      check(a, {q, k, v, Array::random(type, {3, 6}, 4, -1, 1)});
      check(a, {q, k, v, Array::random(DType::boolean, {2, 4, 3, 6}, 5), lengths});
      check(a, {q, k, v, Array::random(DType::boolean, {2, 1, 1, 6}, 6)});
      check(a, {q, k, v, none, Array::of<int32_t>({2}, {2, 0})});
    }
  }
}

TEST(OpAttention, AgreesWithOnnx) {
  const Array q = pattern(DType::f32, {2, 4, 2, 3}, 1), k = pattern(DType::f32, {2, 2, 5, 3}, 2), v = pattern(DType::f32, {2, 2, 5, 2}, 3);
  auto r = run(OpId::attention, ops::attention::Attrs{0, 2, 1, 0, -1, -1},
               {q, k, v, pattern(DType::f32, {2, 5}, 4), Array::of<int64_t>({2}, {5, 3})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0],
                {-0.628781378, 1.12121856,   -0.470036864, 0.615486264,  -0.798985422, 0.951014519,  -0.533715248, 0.6658957,
                 0.400568962,  -1.09943116,  0.718737662,  -0.781262398, 0.726390302,  -0.773609519, 0.775852561,  -0.724147439,
                 1.21257818,   0.0239518154, 0.013350619,  0.148748979,  0.220719129,  0.106606737,  -1.02504444,  0.356396109,
                 -0.318876386, 1.43112361,   -0.192305535, 0.106659472,  -0.49603942,  1.25396049,   -0.247752085, 1.39895606},
                3e-6);
  r = run(OpId::attention, ops::attention::Attrs{0.5f, 0, 0, 0, -1, -1}, {q, k, v});
  expect_values(r.outputs[0],
                {-0.478059381, 0.328363866,  -0.41547662,   0.579275191,  -0.594659805, 0.941980302,  -0.432188332, 0.351800054,
                 0.5438115,    -0.95618856,  0.640240252,   -0.859759748, 0.870725811,  -0.629274189, 0.600314677,  -0.899685383,
                 -0.703127742, 0.644265175,  0.820141375,   0.161871046,  -0.877511859, 0.447312176,  -0.750543356, 0.583910167,
                 0.135868162,  -0.442662656, -0.0948784351, -0.421160489, -0.291261554, 0.392194808,  0.12430501,   -0.25992614},
                3e-6);
}

TEST(OpAttention, QueriesWithoutKeysGiveZeroAndNanSpreads) {
  const Array q = Array::of<float>({1, 1, 2, 1}, {1, NAN}), k = Array::of<float>({1, 1, 2, 1}, {1, 2}),
              v = Array::of<float>({1, 1, 2, 1}, {5, 6});
  auto r = run(OpId::attention, ops::attention::Attrs{}, {q, k, v});
  EXPECT_TRUE(std::isnan(r.outputs[0].get(1)) && std::isfinite(r.outputs[0].get(0)));
  r = run(OpId::attention, ops::attention::Attrs{}, {q, k, v, Array::of<float>({2}, {-INFINITY, -INFINITY})});
  expect_values(r.outputs[0], {0, 0});
  r = run(OpId::attention, ops::attention::Attrs{}, {q, Array::of<float>({1, 1, 0, 1}, {}), Array::of<float>({1, 1, 0, 1}, {})});
  expect_values(r.outputs[0], {0, 0});
  r = run(OpId::attention, ops::attention::Attrs{},
          {Array::of<float>({0, 1, 2, 1}, {}), Array::of<float>({0, 1, 2, 1}, {}), Array::of<float>({0, 1, 2, 3}, {})});
  expect_shape(r.outputs[0], {0, 1, 2, 3});
}

TEST(OpAttention, RefusesWhatDoesNotFit) {
  using ops::attention::Attrs;
  const auto why = [](const Attrs& a, const std::vector<Array>& in) { return run(OpId::attention, a, in).status.why(); };
  const Array q(DType::f32, {1, 4, 2, 3}), k(DType::f32, {1, 2, 5, 3}), v(DType::f32, {1, 2, 5, 2}), none;
  EXPECT_EQ(why({}, {Array(DType::s32, {1, 4, 2, 3}), k, v}), Why::kDType);
  EXPECT_EQ(why({}, {Array(DType::f32, {4, 2, 3}), k, v}), Why::kRank);
  EXPECT_EQ(why({}, {q, Array(DType::f64, {1, 2, 5, 3}), v}), Why::kDTypeMismatch);
  EXPECT_EQ(why({}, {q, none, v}), Why::kInputMissing);
  EXPECT_EQ(why({}, {q, Array(DType::f32, {1, 2, 5, 4}), v}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {q, k, Array(DType::f32, {1, 2, 4, 2})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {Array(DType::f32, {1, 3, 2, 3}), k, v}), Why::kGroups);
  EXPECT_EQ(why({}, {q, Array(DType::f32, {1, 0, 5, 3}), Array(DType::f32, {1, 0, 5, 3})}), Why::kGroups);
  EXPECT_EQ(why({}, {q, k, v, Array(DType::f32, {2, 4})}), Why::kBroadcast);
  EXPECT_EQ(why({}, {q, k, v, Array(DType::f64, {2, 5})}), Why::kDTypeMismatch);
  EXPECT_EQ(why({}, {q, k, v, Array(DType::f32, {1, 1, 1, 2, 5})}), Why::kRank);
  EXPECT_EQ(why({}, {q, k, v, none, Array(DType::f32, {1})}), Why::kDType);
  EXPECT_EQ(why({}, {q, k, v, none, Array(DType::s32, {2})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {q, k, v, none, Array::of<int32_t>({1}, {6})}), Why::kIndexRange);
  EXPECT_EQ(why({}, {q, k, v, none, Array::of<int32_t>({1}, {-1})}), Why::kIndexRange);
  EXPECT_EQ(why({0, NAN, 0, 0, -1, -1}, {q, k, v}), Why::kAttribute);
  EXPECT_EQ(why({0, 0, 2, 0, -1, -1}, {q, k, v}), Why::kAttribute);
  EXPECT_EQ(why({0, 0, 0, 2, -1, -1}, {q, k, v}), Why::kAttribute);
  EXPECT_EQ(why({0, 0, 0, 0, -2, -1}, {q, k, v}), Why::kAttribute);
  EXPECT_EQ(why({0, 0, 0, 0, -1, -2}, {q, k, v}), Why::kAttribute);
}

}  // namespace mote::optest
