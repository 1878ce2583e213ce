#include "mote/ops/embedding/embedding.h"

#include <cmath>

#include "mote/ops/testing/harness.h"

namespace mote::optest {
namespace embedding_case {
namespace {

using Attrs = ops::embedding::Attrs;

Why refusal(const Attrs& a, const std::vector<Array>& inputs) { return run(OpId::embedding, a, inputs).status.why(); }

}  // namespace
}  // namespace embedding_case

TEST(OpEmbedding, EveryTypeGroupAndScale) {
  using namespace embedding_case;
  const Array indices = Array::of<int64_t>({2, 3}, {0, 4, -1, 1, -5, 1});
  for (const DType type : {DType::f16, DType::bf16, DType::s8, DType::s4}) {
    for (const int32_t width : {1, 9, 64, 70}) {
      for (const int32_t group : {0, 4, 32, 100}) {
        for (const DType scale_type : {DType::f32, DType::f16}) {
          const Array table = Array::random(type, {5, width}, 1, -7, 7);
          const Shape beside = group > 0 ? Shape{5, (width + group - 1) / group} : Shape{5};
          const Array scales = Array::random(scale_type, beside, 3, 0.1, 0.3), zeros = Array::random(DType::s8, beside, 4);
          for (int mode = 0; mode < 3; ++mode) {
            std::vector<Array> inputs = {table, indices};
            if (mode > 0) inputs.push_back(scales);
            if (mode > 1) inputs.push_back(zeros);
            const auto r = run(OpId::embedding, Attrs{group}, inputs);
            ASSERT_TRUE(r.ok()) << r.message();
            expect_shape(r.outputs[0], {2, 3, width});
            expect_oracle(
                r.outputs[0],
                [&](const Shape& at) {
                  const int32_t index = static_cast<int32_t>(indices.at({at[0], at[1]})), row = index < 0 ? index + 5 : index;
                  const Shape g = group > 0 ? Shape{row, at[2] / group} : Shape{row};
                  return (table.at({row, at[2]}) - (mode > 1 ? zeros.at(g) : 0)) * (mode > 0 ? scales.at(g) : 1);
                },
                4);
          }
        }
      }
    }
  }
}

TEST(OpEmbedding, ScalarIndexEmptyAndNotFinite) {
  using namespace embedding_case;
  const Array table = Array::of<int8_t>({2, 2}, {1, 2, 3, 4});
  expect_values(run(OpId::embedding, Attrs{}, {table, Array::scalar(DType::s32, -1)}).outputs[0], {3, 4});
  expect_shape(run(OpId::embedding, Attrs{}, {table, Array(DType::s64, {0})}).outputs[0], {0, 2});
  expect_values(run(OpId::embedding, Attrs{}, {table, Array::scalar(DType::s32, 0), Array::of<float>({2}, {NAN, 1})}).outputs[0],
                {NAN, NAN});
  expect_values(run(OpId::embedding, Attrs{}, {table, Array::scalar(DType::s32, 0), Array::of<float>({2}, {INFINITY, 1})}).outputs[0],
                {INFINITY, INFINITY});
}

TEST(OpEmbedding, Refuses) {
  using namespace embedding_case;
  const Array table = Array::random(DType::s8, {5, 8}, 1), at = Array::of<int32_t>({1}, {0}), none = Array::none();
  const Array scales = Array::random(DType::f32, {5}, 2), zeros = Array::random(DType::s8, {5}, 3);
  EXPECT_EQ(refusal({}, {Array::random(DType::f32, {5, 8}, 1), at}), Why::kDType);
  EXPECT_EQ(refusal({}, {table, Array::random(DType::f32, {1}, 1)}), Why::kDType);
  EXPECT_EQ(refusal({}, {Array::random(DType::s8, {5, 8, 1}, 1), at}), Why::kRank);
  EXPECT_EQ(refusal({-1}, {table, at}), Why::kAttribute);
  EXPECT_EQ(refusal({4}, {table, at, scales}), Why::kRank);
  EXPECT_EQ(refusal({4}, {table, at, Array::random(DType::f32, {5, 3}, 2)}), Why::kDimMismatch);
  EXPECT_EQ(refusal({}, {table, at, Array::random(DType::f32, {4}, 2)}), Why::kDimMismatch);
  EXPECT_EQ(refusal({}, {table, at, Array::random(DType::f64, {5}, 2)}), Why::kDType);
  EXPECT_EQ(refusal({}, {table, at, none, zeros}), Why::kInputMissing);
  EXPECT_EQ(refusal({}, {table, at, scales, Array::random(DType::s8, {4}, 3)}), Why::kDimMismatch);
  EXPECT_EQ(refusal({}, {table, at, scales, scales}), Why::kDType);
  EXPECT_EQ(refusal({}, {table, Array::of<int32_t>({1}, {5}), scales}), Why::kIndexRange);
  EXPECT_EQ(refusal({}, {table, Array::of<int32_t>({1}, {-6}), scales}), Why::kIndexRange);
}

}  // namespace mote::optest
