#include "mote/ops/scatter_elements/scatter_elements.h"

#include <algorithm>

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using ScatterElementsAttrs = ops::scatter_elements::Attrs;

namespace scatter_elements_case {
namespace {

// In double, rounded to the type after each step, as a sequence of updates rounds.
double apply(DType type, int32_t reduction, double a, double b) {
  double v = b;
  if (reduction == ops::kScatterAdd) v = type == DType::boolean ? (a != 0 || b != 0) : a + b;
  if (reduction == ops::kScatterMul) v = a * b;
  if (reduction == ops::kScatterMin) v = std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
  if (reduction == ops::kScatterMax) v = std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
  Array rounded(type, {1});
  rounded.set(0, v);
  return rounded.get(0);
}

}  // namespace
}  // namespace scatter_elements_case

TEST(OpScatterElements, PutsUpdatesWithEveryReduction) {
  for (DType type : all_types()) {
    for (int32_t reduction = 0; reduction <= 4; ++reduction) {
      for (int32_t axis = -2; axis < 2; ++axis) {
        const size_t along = static_cast<size_t>(axis < 0 ? axis + 2 : axis);
        Array x = Array::random(type, {3, 4}, 5, -3, 3);
        if ((mask_of(type) & kFloat) != 0) x.set(0, NAN);
        Shape shape = {2, 3};
        shape[along] = 4;
        const Array indices = Array::random(axis < 0 ? DType::s32 : DType::s64, shape, 9, -3, 2),
                    updates = Array::random(type, {4, 5}, 7, -3, 3);
        RunOptions options;
        options.in_place = true;
        const auto r = run(OpId::scatter_elements, ScatterElementsAttrs{axis, reduction}, {x, indices, updates}, options);
        ASSERT_TRUE(r.ok()) << r.message();
        Array expected = x;
        for_each_index(shape, [&](const Shape& at) {
          Shape to = at;
          const int32_t i = static_cast<int32_t>(indices.at(at));
          to[along] = i < 0 ? i + x.shape()[along] : i;
          const int64_t flat = expected.flat_index(to);
          expected.set(flat, scatter_elements_case::apply(type, reduction, expected.get(flat), updates.at(at)));
        });
        expect_oracle(r.outputs[0], [&](const Shape& at) { return expected.at(at); });
      }
    }
  }
}

TEST(OpScatterElements, WrapsIntegersAndTakesEmptyTensors) {
  const Array x = Array::of<int8_t>({1}, {127}), zero = s64({0});
  expect_values(run(OpId::scatter_elements, ScatterElementsAttrs{0, 1}, {x, zero, Array::of<int8_t>({1}, {1})}).outputs[0], {-128});
  expect_values(run(OpId::scatter_elements, ScatterElementsAttrs{0, 0}, {x, Array(DType::s64, {0}), Array(DType::s8, {0})}).outputs[0],
                {127});
  EXPECT_TRUE(
      run(OpId::scatter_elements, ScatterElementsAttrs{0, 0}, {Array(DType::s8, {0}), Array(DType::s64, {0}), Array(DType::s8, {0})}).ok());
}

TEST(OpScatterElements, Refuses) {
  const Array x = sample(DType::f32, {3, 2}, 1), i = Array(DType::s64, {1, 1}), u = Array(DType::f32, {1, 1});
  for (double bad : {3.0, -4.0, 9e18})
    EXPECT_EQ(refusal(OpId::scatter_elements, ScatterElementsAttrs{}, {x, Array::of<int64_t>({1, 1}, {bad}), u}), Why::kIndexRange);
  EXPECT_EQ(refusal(OpId::scatter_elements, ScatterElementsAttrs{2, 0}, {x, i, u}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::scatter_elements, ScatterElementsAttrs{0, 5}, {x, i, u}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::scatter_elements, ScatterElementsAttrs{0, -1}, {x, i, u}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::scatter_elements, ScatterElementsAttrs{}, {x, s64({0}), u}), Why::kRank);
  EXPECT_EQ(refusal(OpId::scatter_elements, ScatterElementsAttrs{}, {x, i, Array(DType::f32, {1})}), Why::kRank);
  EXPECT_EQ(refusal(OpId::scatter_elements, ScatterElementsAttrs{}, {x, Array(DType::s64, {1, 3}), Array(DType::f32, {1, 3})}),
            Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::scatter_elements, ScatterElementsAttrs{}, {x, Array(DType::s64, {2, 1}), u}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::scatter_elements, ScatterElementsAttrs{}, {x, i, Array(DType::s32, {1, 1})}), Why::kDTypeMismatch);
  EXPECT_EQ(refusal(OpId::scatter_elements, ScatterElementsAttrs{}, {x, u, u}), Why::kDType);
}

TEST(OpScatterElements, RankEight) {
  const Array x = sample(DType::s32, {4, 3}, 1), indices = Array::of<int64_t>({2, 3}, {0, 3, 1, 2, 0, 3}),
              updates = sample(DType::s32, {2, 3}, 2);
  expect_same_elements(
      OpId::scatter_elements, ScatterElementsAttrs{0, 1}, {x, indices, updates}, ScatterElementsAttrs{-4, 1},
      {x.reshaped({1, 1, 1, 1, 4, 1, 3, 1}), indices.reshaped({1, 1, 1, 1, 2, 1, 3, 1}), updates.reshaped({1, 1, 1, 1, 2, 1, 3, 1})});
}

}  // namespace mote::optest
