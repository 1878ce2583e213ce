#include "mote/ops/fill/fill.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using FillAttrs = ops::fill::Attrs;

TEST(OpFill, FillsEveryTypeAndShape) {
  for (DType type : all_types()) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0}, Shape{2, 3, 4}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
      FillAttrs a;
      std::vector<double> sizes(shape.begin(), shape.end());
      for (size_t i = 0; i < shape.size(); ++i) a.dims[i] = shape[i];
      a.rank = static_cast<int32_t>(shape.size());
      for (double value : {1.0, 0.0, double{INFINITY}}) {
        if (std::isinf(value) && (mask_of(type) & kFloat) == 0) continue;
        const Shape ones[] = {{1}, {}, Shape(8, 1)};
        const Array x = Array::from(type, ones[shape.size() % 3], {value});
        for (const auto& r :
             {run(OpId::fill, a, {x}), run(OpId::fill, FillAttrs{}, {x, s64(sizes)}), run(OpId::fill, FillAttrs{}, {x, s32(sizes)})}) {
          ASSERT_TRUE(r.ok()) << r.message();
          expect_shape(r.outputs[0], shape);
          expect_oracle(r.outputs[0], [&](const Shape&) { return value; });
        }
      }
    }
  }
}

TEST(OpFill, LeavesSizesOpenAndRefuses) {
  const Array x = Array::scalar(DType::f32, 1);
  EXPECT_EQ(infer_hidden(OpId::fill, FillAttrs{}, {x, s64({2, 3})}, {1}).shape(), (Shape{kDimUnknown, kDimUnknown}));
  EXPECT_EQ(refusal(OpId::fill, FillAttrs{{-1}, 1}, {x}), Why::kNegativeDim);
  EXPECT_EQ(refusal(OpId::fill, FillAttrs{}, {x, s64({-1})}), Why::kNegativeDim);
  EXPECT_EQ(refusal(OpId::fill, FillAttrs{{}, 9}, {x}), Why::kRank);
  EXPECT_EQ(refusal(OpId::fill, FillAttrs{{}, -1}, {x}), Why::kRank);
  EXPECT_EQ(refusal(OpId::fill, FillAttrs{{1 << 20, 1 << 20}, 2}, {x}), Why::kShapeOverflow);
  EXPECT_EQ(refusal(OpId::fill, FillAttrs{}, {x, Array::scalar(DType::s64, 1)}), Why::kRank);
  EXPECT_EQ(refusal(OpId::fill, FillAttrs{}, {x, x}), Why::kDType);
  EXPECT_EQ(refusal(OpId::fill, FillAttrs{{2}, 1}, {sample(DType::f32, {2}, 1)}), Why::kDimMismatch);
}

}  // namespace mote::optest
