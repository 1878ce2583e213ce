#include "mote/ops/nll_loss/nll_loss.h"

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {

TEST(OpNllLoss, EveryTypeRankAndReduction) {
  for (DType type : types_of(ops::nll_loss::Types{}))
    for (const Shape& shape : {Shape{3, 4}, Shape{2, 4, 5}, Shape{1, 3, 1, 2, 1, 2, 1, 2}})
      for (int reduction = 0; reduction < 3; ++reduction)
        for (bool weighted : {false, true}) {
          Shape positions = shape;
          positions.erase(positions.begin() + 1);
          const Array x = Array::random(type, shape, 1, -3, 0), w = weighted ? Array::random(type, {shape[1]}, 2, 0, 2) : Array::none();
          Array target = Array::random(DType::s64, positions, 3, 0, shape[1] - 1);
          target.set(1, -7);
          const auto r = run(OpId::nll_loss, ops::nll_loss::Attrs{reduction, -7}, {x, target, w});
          ASSERT_TRUE(r.ok()) << r.message();
          double sum = 0, weights = 0;
          const auto loss = [&](const Shape& at) {
            const int k = static_cast<int>(target.at(at));
            if (k == -7) return 0.0;
            Shape i = at;
            i.insert(i.begin() + 1, k);
            weights += weighted ? w.get(k) : 1;
            return -x.at(i) * (weighted ? w.get(k) : 1);
          };
          for_each_index(positions, [&](const Shape& at) { sum += loss(at); });
          expect_shape(r.outputs[0], reduction == 0 ? positions : Shape{});
          expect_oracle(
              r.outputs[0], [&](const Shape& at) { return reduction == 0   ? loss(at)
                                                          : reduction == 1 ? sum / weights
                                                                           : sum; }, 2);
        }
}

TEST(OpNllLoss, AgreesWithOnnx) {
  const auto r = run(
      OpId::nll_loss, ops::nll_loss::Attrs{1, -1},
      {pattern(DType::f32, {2, 3, 4}, 1), Array::of<int32_t>({2, 4}, {0, 2, 1, -1, 2, -1, 0, 1}), Array::of<float>({3}, {0.5, 1.5, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0.171875});
}

TEST(OpNllLoss, NothingToAverageAndNan) {
  auto r = run(OpId::nll_loss, ops::nll_loss::Attrs{}, {Array(DType::f32, {0, 3}), Array(DType::s32, {0})});
  expect_values(r.outputs[0], {NAN});
  r = run(OpId::nll_loss, ops::nll_loss::Attrs{2, -100}, {Array(DType::f32, {0, 3}), Array(DType::s32, {0})});
  expect_values(r.outputs[0], {0});
  r = run(OpId::nll_loss, ops::nll_loss::Attrs{0, 1},
          {Array::of<float>({3, 2}, {NAN, 1, INFINITY, 1, NAN, NAN}), Array::of<int64_t>({3}, {0, 0, 1})});
  expect_values(r.outputs[0], {NAN, -INFINITY, 0});
}

TEST(OpNllLoss, RefusesWhatDoesNotFit) {
  using ops::nll_loss::Attrs;
  const auto why = [](const Attrs& a, const std::vector<Array>& in) { return run(OpId::nll_loss, a, in).status.why(); };
  const Array x(DType::f32, {2, 3, 4}), target(DType::s32, {2, 4});
  EXPECT_EQ(why({}, {Array(DType::s32, {2, 3, 4}), target}), Why::kDType);
  EXPECT_EQ(why({}, {Array(DType::f32, {3}), target}), Why::kRank);
  EXPECT_EQ(why({}, {x, Array(DType::f32, {2, 4})}), Why::kDType);
  EXPECT_EQ(why({}, {x, Array(DType::s32, {2})}), Why::kRank);
  EXPECT_EQ(why({}, {x, Array(DType::s32, {2, 3})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {x, target, Array(DType::f32, {4})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {x, target, Array(DType::f64, {3})}), Why::kDTypeMismatch);
  EXPECT_EQ(why({3, 0}, {x, target}), Why::kAttribute);
  EXPECT_EQ(why({}, {x, Array::of<int64_t>({2, 4}, {0, 0, 0, 0, 0, 0, 0, 3})}), Why::kIndexRange);
  EXPECT_EQ(why({}, {x, Array::of<int64_t>({2, 4}, {0, 0, 0, 0, 0, 0, 0, -1})}), Why::kIndexRange);
}

}  // namespace mote::optest
