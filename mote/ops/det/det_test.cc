#include "mote/ops/det/det.h"

#include "mote/ops/testing/harness.h"

namespace mote::optest {
namespace det_case {
namespace {

// By expansion along the first row: slow, but nothing like the kernel.
double expand(const std::vector<std::vector<double>>& m) {
  if (m.empty()) return 1;
  double sum = 0;
  for (size_t j = 0; j < m.size(); ++j) {
    std::vector<std::vector<double>> minor;
    for (size_t i = 1; i < m.size(); ++i) {
      minor.push_back(m[i]);
      minor.back().erase(minor.back().begin() + static_cast<ptrdiff_t>(j));
    }
    sum += (j % 2 == 0 ? 1 : -1) * m[0][j] * expand(minor);
  }
  return sum;
}

}  // namespace
}  // namespace det_case

TEST(OpDet, EveryTypeAndSize) {
  const Shape shapes[] = {{1, 1}, {2, 2}, {3, 3}, {6, 6}, {2, 3, 4, 4}, {0, 2, 2}, {2, 0, 0}, {0, 0}, {1, 2, 1, 2, 1, 2, 3, 3}};
  for (DType type : types_of(ops::det::Types{})) {
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(::testing::PrintToString(shape));
      const Array x = Array::random(type, shape, 1, -2, 2);
      const auto r = run(OpId::det, NoAttrs{}, {x});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], Shape(shape.begin(), shape.end() - 2));
      const int32_t n = shape.back();
      expect_oracle(
          r.outputs[0],
          [&](const Shape& at) {
            std::vector<std::vector<double>> m(static_cast<size_t>(n));
            for (int32_t i = 0; i < n; ++i) {
              for (int32_t j = 0; j < n; ++j) {
                Shape k = at;
                k.insert(k.end(), {i, j});
                m[static_cast<size_t>(i)].push_back(x.at(k));
              }
            }
            return det_case::expand(m);
          },
          100);
    }
  }
}

TEST(OpDet, SingularPivotingAndNan) {
  expect_values(run(OpId::det, NoAttrs{}, {Array::of<float>({2, 2}, {0, 2, 3, 4})}).outputs[0], {-6});
  expect_values(run(OpId::det, NoAttrs{}, {Array::of<float>({2, 2}, {0, 2, 0, 4})}).outputs[0], {0});
  expect_values(run(OpId::det, NoAttrs{}, {Array::of<double>({2, 2}, {NAN, 2, 0, 4})}).outputs[0], {NAN});
}

// Batches of 0 leave room for matrices whose elements no 32 bits count.
TEST(OpDet, WorkingMemoryOfLargeMatricesDoesNotWrap) {
  const int32_t operands[] = {0};
  for (const auto& [n, bytes] : {std::pair<int32_t, uint32_t>{1000, 8000000}, {65536, 0xfffffff0u}, {1 << 30, 0xfffffff0u}}) {
    TensorDesc d{};
    d.dtype = DType::f64, d.rank = 3, d.dims[1] = d.dims[2] = n;
    const Tensor x{&d, nullptr};
    OpContext c;
    c.tensors = &x, c.operands = operands, c.input_count = 1;
    EXPECT_EQ(ops::det::scratch(c).base, bytes) << n;
  }
}

TEST(OpDet, Refuses) {
  EXPECT_EQ(run(OpId::det, NoAttrs{}, {Array::random(DType::f32, {2, 3}, 1)}).status.why(), Why::kDimMismatch);
  EXPECT_EQ(run(OpId::det, NoAttrs{}, {Array::random(DType::f32, {2}, 1)}).status.why(), Why::kRank);
  EXPECT_EQ(run(OpId::det, NoAttrs{}, {Array::random(DType::f16, {2, 2}, 1)}).status.why(), Why::kDType);
}

}  // namespace mote::optest
