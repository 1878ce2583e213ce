#include "mote/ops/shape_of/shape_of.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using ShapeOfAttrs = ops::shape_of::Attrs;

TEST(OpShapeOf, GivesTheSizes) {
  for (DType type : all_types()) {
    for (int32_t s32 : {0, 1}) {
      const auto r = run(OpId::shape_of, ShapeOfAttrs{0, 0x7fffffff, s32}, {sample(type, {2, 3, 4}, 1)});
      ASSERT_TRUE(r.ok()) << r.message();
      EXPECT_EQ(r.outputs[0].dtype(), s32 != 0 ? DType::s32 : DType::s64);
      expect_values(r.outputs[0], {2, 3, 4});
    }
  }
  EXPECT_EQ(run(OpId::shape_of, ShapeOfAttrs{}, {Array::scalar(DType::f32, 1)}).outputs[0].count(), 0);
  expect_values(run(OpId::shape_of, ShapeOfAttrs{}, {Array(DType::f32, {1, 2, 3, 1, 1, 0, 1, 5})}).outputs[0], {1, 2, 3, 1, 1, 0, 1, 5});
}

TEST(OpShapeOf, TakesARangeOfAxes) {
  const Array x(DType::f32, {2, 3, 4});
  for (int32_t start : {-5, -3, -1, 0, 1, 2, 3, 9, -0x7fffffff - 1}) {
    for (int32_t end : {-5, -3, -1, 0, 1, 2, 3, 9, 0x7fffffff}) {
      std::vector<double> expected;
      for (int32_t i = 0; i < 3; ++i) {
        const int64_t first = start < 0 ? int64_t{start} + 3 : start, last = end < 0 ? end + 3 : end;
        if (i >= first && i < last) expected.push_back(i + 2);
      }
      expect_values(run(OpId::shape_of, ShapeOfAttrs{start, end, 0}, {x}).outputs[0], expected);
    }
  }
}

}  // namespace mote::optest
