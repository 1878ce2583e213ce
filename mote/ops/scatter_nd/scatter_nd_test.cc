#include "mote/ops/scatter_nd/scatter_nd.h"

#include <algorithm>

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using ScatterNdAttrs = ops::scatter_nd::Attrs;

TEST(OpScatterNd, PutsSlicesByTuples) {
  for (DType type : all_types()) {
    for (int32_t reduction = 0; reduction <= 4; ++reduction) {
      for (int32_t length = 0; length <= 2; ++length) {
        const Array x = sample(type, {3, 4}, 5), indices = Array::random(length == 1 ? DType::s32 : DType::s64, {3, length}, 11, -3, 2);
        Shape shape = {3};
        for (size_t k = static_cast<size_t>(length); k < 2; ++k) shape.push_back(x.shape()[k]);
        const Array updates = Array::random(type, shape, 4, 0, 1);
        RunOptions options;
        options.in_place = true;
        const auto r = run(OpId::scatter_nd, ScatterNdAttrs{reduction}, {x, indices, updates}, options);
        ASSERT_TRUE(r.ok()) << r.message();
        Array expected = x;
        for_each_index(shape, [&](const Shape& at) {
          Shape to;
          for (int32_t k = 0; k < length; ++k) {
            const int32_t i = static_cast<int32_t>(indices.at({at[0], k}));
            to.push_back(i < 0 ? i + x.shape()[static_cast<size_t>(k)] : i);
          }
          to.insert(to.end(), at.begin() + 1, at.end());
          const int64_t flat = expected.flat_index(to);
          const double a = expected.get(flat), b = updates.at(at);
          const double results[] = {b, a + b, a * b, std::isnan(a) ? a : std::min(a, b), std::isnan(a) ? a : std::max(a, b)};
          expected.set(flat, results[reduction]);
        });
        expect_oracle(r.outputs[0], [&](const Shape& at) { return expected.at(at); });
      }
    }
  }
}

TEST(OpScatterNd, LeavesTheStateAloneWhenAnIndexIsBad) {
  float state[2] = {1, 2}, update[2] = {7, 8};
  int32_t index[2] = {0, 5};
  TensorDesc x{}, i{};
  x.dtype = DType::f32, x.rank = 1, x.dims[0] = 2;
  i.dtype = DType::s32, i.rank = 2, i.dims[0] = 2, i.dims[1] = 1;
  set_dense_strides(x);
  set_dense_strides(i);
  const Tensor tensors[] = {{&x, state}, {&i, index}, {&x, update}};
  const int32_t operands[] = {0, 1, 2, 0};
  const ScatterNdAttrs attrs;
  OpContext c;
  c.tensors = tensors, c.operands = operands, c.attr_bytes = &attrs, c.input_count = 3, c.output_count = 1;
  EXPECT_EQ(ops::scatter_nd::select(c)(c).why(), Why::kIndexRange);
  EXPECT_EQ(state[0], 1);
}

TEST(OpScatterNd, EmptyTensors) {
  const Array x = Array::of<float>({2}, {1, 2});
  expect_values(run(OpId::scatter_nd, ScatterNdAttrs{}, {x, Array(DType::s64, {0, 1}), Array(DType::f32, {0})}).outputs[0], {1, 2});
  EXPECT_TRUE(
      run(OpId::scatter_nd, ScatterNdAttrs{}, {Array(DType::f32, {2, 0}), Array(DType::s64, {1, 1}), Array(DType::f32, {1, 0})}).ok());
}

TEST(OpScatterNd, Refuses) {
  const Array x = sample(DType::f32, {3, 2}, 1), i = Array(DType::s64, {1, 1}), u = Array(DType::f32, {1, 2});
  for (double bad : {3.0, -4.0, 9e18})
    EXPECT_EQ(refusal(OpId::scatter_nd, ScatterNdAttrs{}, {x, Array::of<int64_t>({1, 1}, {bad}), u}), Why::kIndexRange);
  EXPECT_EQ(refusal(OpId::scatter_nd, ScatterNdAttrs{5}, {x, i, u}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::scatter_nd, ScatterNdAttrs{}, {x, Array::scalar(DType::s64, 0), u}), Why::kRank);
  EXPECT_EQ(refusal(OpId::scatter_nd, ScatterNdAttrs{}, {x, Array(DType::s64, {1, 3}), u}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::scatter_nd, ScatterNdAttrs{}, {x, i, Array(DType::f32, {2})}), Why::kRank);
  EXPECT_EQ(refusal(OpId::scatter_nd, ScatterNdAttrs{}, {x, i, Array(DType::f32, {1, 3})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::scatter_nd, ScatterNdAttrs{}, {x, i, Array(DType::f32, {2, 2})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::scatter_nd, ScatterNdAttrs{}, {x, i, Array(DType::s32, {1, 2})}), Why::kDTypeMismatch);
  EXPECT_EQ(refusal(OpId::scatter_nd, ScatterNdAttrs{}, {x, u, u}), Why::kDType);
}

TEST(OpScatterNd, ScalarsAndRankEight) {
  const auto r =
      run(OpId::scatter_nd, ScatterNdAttrs{1}, {Array::scalar(DType::s16, 7), Array(DType::s64, {2, 0}), Array::of<int16_t>({2}, {3, 4})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {});
  expect_values(r.outputs[0], {14});
  const Array x = sample(DType::f32, {4, 3}, 1), updates = sample(DType::f32, {2}, 2);
  expect_same_elements(
      OpId::scatter_nd, ScatterNdAttrs{}, {x, Array::of<int64_t>({2, 2}, {1, 2, 3, 0}), updates}, ScatterNdAttrs{},
      {x.reshaped({1, 4, 1, 1, 1, 3, 1, 1}), Array::of<int64_t>({2, 8}, {0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0}), updates});
}

}  // namespace mote::optest
