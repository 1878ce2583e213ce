#include "mote/ops/softmax_cross_entropy/softmax_cross_entropy.h"

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {

TEST(OpSoftmaxCrossEntropy, EveryTypeRankAndReduction) {
  for (DType type : types_of(ops::softmax_cross_entropy::Types{}))
    for (const Shape& shape : {Shape{3, 4}, Shape{2, 4, 5}, Shape{1, 3, 1, 2, 1, 2, 1, 2}})
      for (int reduction = 0; reduction < 3; ++reduction)
        for (bool weighted : {false, true}) {
          Shape positions = shape;
          positions.erase(positions.begin() + 1);
          const Array x = Array::random(type, shape, 1, -3, 3), w = weighted ? Array::random(type, {shape[1]}, 2, 0.5, 2) : Array::none();
          Array target = Array::random(DType::s32, positions, 3, 0, shape[1] - 1);
          target.set(1, 99);
          const auto r = run(OpId::softmax_cross_entropy, ops::softmax_cross_entropy::Attrs{reduction, 99}, {x, target, w}, 2);
          ASSERT_TRUE(r.ok()) << r.message();
          const auto log_prob = [&](const Shape& at) {
            double total = 0;
            Shape i = at;
            for (i[1] = 0; i[1] < shape[1]; ++i[1]) total += std::exp(x.at(i));
            return x.at(at) - std::log(total);
          };
          double sum = 0, weights = 0;
          const auto loss = [&](const Shape& at) {
            const int k = static_cast<int>(target.at(at));
            if (k == 99) return 0.0;
            Shape i = at;
            i.insert(i.begin() + 1, k);
            weights += weighted ? w.get(k) : 1;
            return -log_prob(i) * (weighted ? w.get(k) : 1);
          };
          for_each_index(positions, [&](const Shape& at) { sum += loss(at); });
          expect_oracle(
              r.outputs[0], [&](const Shape& at) { return reduction == 0   ? loss(at)
                                                          : reduction == 1 ? sum / weights
                                                                           : sum; }, 4);
          expect_oracle(r.outputs[1], log_prob, 4);
        }
}

TEST(OpSoftmaxCrossEntropy, AgreesWithOnnx) {
  const auto r = run(
      OpId::softmax_cross_entropy, ops::softmax_cross_entropy::Attrs{1, -1},
      {pattern(DType::f32, {2, 3, 4}, 1), Array::of<int32_t>({2, 4}, {0, 2, 1, -1, 2, -1, 0, 1}), Array::of<float>({3}, {0.5, 1.5, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1.76060903}, 2e-6);
}

TEST(OpSoftmaxCrossEntropy, LargeScoresEmptyAndNan) {
  using ops::softmax_cross_entropy::Attrs;
  auto r = run(OpId::softmax_cross_entropy, Attrs{0, -100},
               {Array::of<float>({3, 2}, {1000, 0, NAN, 1, 1, -INFINITY}), Array::of<int64_t>({3}, {1, 1, 0})}, 2);
  expect_values(r.outputs[0], {1000, NAN, 0});
  expect_values(r.outputs[1], {0, -1000, NAN, NAN, 0, -INFINITY});
  r = run(OpId::softmax_cross_entropy, Attrs{}, {Array(DType::f32, {0, 3}), Array(DType::s32, {0})}, 2);
  expect_values(r.outputs[0], {NAN});
  r = run(OpId::softmax_cross_entropy, Attrs{0, 0}, {Array(DType::f32, {1, 0}), Array::of<int64_t>({1}, {0})}, 2);
  expect_values(r.outputs[0], {0});
}

TEST(OpSoftmaxCrossEntropy, RefusesWhatDoesNotFit) {
  using ops::softmax_cross_entropy::Attrs;
  const Array x(DType::f32, {2, 3});
  EXPECT_EQ(run(OpId::softmax_cross_entropy, Attrs{4, 0}, {x, Array(DType::s32, {2})}).status.why(), Why::kAttribute);
  EXPECT_EQ(run(OpId::softmax_cross_entropy, Attrs{}, {x, Array(DType::s32, {3})}).status.why(), Why::kDimMismatch);
  EXPECT_EQ(run(OpId::softmax_cross_entropy, Attrs{}, {x, Array::of<int32_t>({2}, {0, 3})}).status.why(), Why::kIndexRange);
}

}  // namespace mote::optest
