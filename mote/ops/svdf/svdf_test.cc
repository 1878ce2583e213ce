#include "mote/ops/svdf/svdf.h"

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {

TEST(OpSvdf, EveryTypeRankAndActivation) {
  for (DType type : types_of(ops::svdf::Types{}))
    for (int rank : {1, 2})
      for (bool biased : {false, true})
        for (uint32_t activation : {0u, 2u}) {
          const int filters = 4, memory = 3, features = 5;
          const Array state = Array::random(type, {2, filters * memory}, 1, -1, 1), x = Array::random(type, {2, features}, 2, -1, 1);
          const Array wf = Array::random(type, {filters, features}, 3, -1, 1), wt = Array::random(type, {filters, memory}, 4, -1, 1);
          const Array bias = biased ? Array::random(type, {filters / rank}, 5, -1, 1) : Array::none();
          RunOptions options;
          options.outputs = 2;
          options.in_place = true;
          const auto r = run(OpId::svdf, ops::svdf::Attrs{rank, activation, 0, 0}, {state, x, wf, wt, bias}, options);
          ASSERT_TRUE(r.ok()) << r.message();
          const auto next = [&](int b, int f, int m) {
            if (m + 1 < memory) return state.at({b, f * memory + m + 1});
            double sum = 0;
            for (int i = 0; i < features; ++i) sum += wf.at({f, i}) * x.at({b, i});
            return sum;
          };
          expect_oracle(
              r.outputs[0], [&](const Shape& at) { return next(at[0], at[1] / memory, at[1] % memory); }, 4);
          expect_oracle(
              r.outputs[1],
              [&](const Shape& at) {
                double sum = biased ? bias.get(at[1]) : 0;
                for (int f = at[1] * rank; f < (at[1] + 1) * rank; ++f)
                  for (int m = 0; m < memory; ++m) sum += wt.at({f, m}) * next(at[0], f, m);
                return activation == 2 ? std::fmax(sum, 0) : sum;
              },
              8);
        }
}

TEST(OpSvdf, EmptyAndNan) {
  const Array w(DType::f32, {2, 1});
  EXPECT_TRUE(run(OpId::svdf, ops::svdf::Attrs{}, {Array(DType::f32, {0, 2}), Array(DType::f32, {0, 1}), w, w}, 2).ok());
  const auto r = run(OpId::svdf, ops::svdf::Attrs{}, {Array::of<float>({1, 2}, {1, 1}), Array::of<float>({1, 1}, {NAN}), w, w}, 2);
  expect_values(r.outputs[1], {NAN, NAN});
}

TEST(OpSvdf, RefusesWhatDoesNotFit) {
  using ops::svdf::Attrs;
  const auto why = [](const Attrs& a, const std::vector<Array>& in) { return run(OpId::svdf, a, in, 2).status.why(); };
  const Array state(DType::f32, {1, 12}), x(DType::f32, {1, 5}), wf(DType::f32, {4, 5}), wt(DType::f32, {4, 3});
  EXPECT_EQ(why({}, {Array(DType::s8, {1, 12}), x, wf, wt}), Why::kDType);
  EXPECT_EQ(why({}, {state, Array(DType::f64, {1, 5}), wf, wt}), Why::kDTypeMismatch);
  EXPECT_EQ(why({}, {state, Array(DType::f32, {5}), wf, wt}), Why::kRank);
  EXPECT_EQ(why({}, {Array(DType::f32, {1, 11}), x, wf, wt}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {state, x, Array(DType::f32, {4, 4}), wt}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {state, x, wf}), Why::kInputMissing);
  EXPECT_EQ(why({2, 0, 0, 0}, {state, x, wf, wt, Array(DType::f32, {4})}), Why::kDimMismatch);
  EXPECT_EQ(why({3, 0, 0, 0}, {state, x, wf, wt}), Why::kGroups);
  EXPECT_EQ(why({0, 0, 0, 0}, {state, x, wf, wt}), Why::kAttribute);
  EXPECT_EQ(why({1, 99, 0, 0}, {state, x, wf, wt}), Why::kAttribute);
}

}  // namespace mote::optest
