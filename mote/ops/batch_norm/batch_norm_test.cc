#include "mote/ops/batch_norm/batch_norm.h"

#include "mote/ops/testing/norm_cases.h"

namespace mote::optest {
namespace batch_norm_case {
namespace {

using Attrs = ops::batch_norm::Attrs;

std::vector<Array> operands(DType type, const Shape& shape, int32_t channels) {
  std::vector<Array> inputs = {Array::random(type, shape, 1)};
  for (uint32_t i = 0; i < 3; ++i) inputs.push_back(Array::random(type, {channels}, 2 + i));
  inputs.push_back(Array::random(type, {channels}, 6, 0.5, 2));
  return inputs;
}

}  // namespace
}  // namespace batch_norm_case

TEST(OpBatchNorm, EveryTypeShapeAndAxis) {
  using namespace batch_norm_case;
  for (DType type : types_of(ops::batch_norm::Types{})) {
    for (const Shape& shape : norm_shapes()) {
      for (int axis = 0; axis < std::max<int>(1, static_cast<int>(shape.size())); ++axis) {
        SCOPED_TRACE(std::string(dtype_name(type)) + ::testing::PrintToString(shape));
        const Attrs a{axis, 0.25f};
        const auto inputs = operands(type, shape, shape.empty() ? 1 : shape[static_cast<size_t>(axis)]);
        const auto r = run_in_place(OpId::batch_norm, a, inputs);
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], shape);
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              const int32_t ch = shape.empty() ? 0 : at[static_cast<size_t>(axis)];
              const double normal = (inputs[0].at(at) - inputs[3].get(ch)) / std::sqrt(inputs[4].get(ch) + 0.25);
              return normal * inputs[1].get(ch) + inputs[2].get(ch);
            },
            20);
      }
    }
  }
}

TEST(OpBatchNorm, NanSpreadsAndStripsEqualTheWhole) {
  using namespace batch_norm_case;
  auto inputs = operands(DType::f32, {1, 2}, 2);
  inputs[0] = Array::of<float>({1, 2}, {NAN, INFINITY});
  inputs[1] = Array::of<float>({2}, {1, 1});
  expect_values(run(OpId::batch_norm, Attrs{}, inputs).outputs[0], {NAN, INFINITY});
  auto image = operands(DType::f32, {2, 5, 3, 4}, 4);
  RunOptions some;
  some.rows = {1, 3};
  const auto whole = run(OpId::batch_norm, Attrs{}, image), strip = run(OpId::batch_norm, Attrs{}, image, some);
  for_each_index({2, 2, 3, 4}, [&](const Shape& i) {
    const Shape at = {i[0], i[1] + 1, i[2], i[3]};
    EXPECT_EQ(whole.outputs[0].at(at), strip.outputs[0].at(at));
  });
}

TEST(OpBatchNorm, Refuses) {
  using namespace batch_norm_case;
  const auto good = operands(DType::f32, {2, 3}, 3);
  const auto with = [&](size_t i, const Array& v) {
    auto inputs = good;
    inputs[i] = v;
    return run(OpId::batch_norm, Attrs{}, inputs).status.why();
  };
  EXPECT_EQ(with(0, Array::random(DType::s8, {2, 3}, 1)), Why::kDType);
  EXPECT_EQ(with(1, Array::random(DType::f32, {2}, 1)), Why::kDimMismatch);
  EXPECT_EQ(with(2, Array::random(DType::f32, {1, 3}, 1)), Why::kRank);
  EXPECT_EQ(with(3, Array::random(DType::f16, {3}, 1)), Why::kDTypeMismatch);
  EXPECT_EQ(with(4, Array::none()), Why::kInputMissing);
  EXPECT_EQ(run(OpId::batch_norm, Attrs{2, 0}, good).status.why(), Why::kAxis);
  EXPECT_EQ(run(OpId::batch_norm, Attrs{-1, -1}, good).status.why(), Why::kAttribute);
  EXPECT_EQ(run(OpId::batch_norm, Attrs{-1, NAN}, good).status.why(), Why::kAttribute);
}

}  // namespace mote::optest
