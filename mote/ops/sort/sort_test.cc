#include "mote/ops/sort/sort.h"

#include "mote/ops/testing/sort_cases.h"

namespace mote::optest {

using SortAttrs = ops::sort::Attrs;

TEST(OpSort, EveryTypeAxisAndOrder) {
  for (DType type : all_types()) {
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{40}, Shape{3, 0}, Shape{2, 5, 3}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
      Array x = Array::random(type, shape, 7, -3, 3);
      if ((mask_of(type) & kFloat) != 0 && x.count() > 4) x.set(0, NAN), x.set(1, INFINITY), x.set(2, -0.0), x.set(3, 0.0), x.set(4, NAN);
      for (int32_t axis = 0; axis < std::max<int32_t>(1, static_cast<int32_t>(shape.size())); ++axis) {
        const int32_t n = shape.empty() ? 1 : shape[static_cast<size_t>(axis)];
        for (int32_t descending : {0, 1})
          expect_ordered(run(OpId::sort, SortAttrs{axis, descending, axis % 2}, {x}, 2), x, static_cast<size_t>(axis), descending != 0, n);
      }
    }
  }
}

TEST(OpSort, ValuesAloneAndIndexTypes) {
  const Array x = Array::of<float>({3}, {3, 1, 2});
  expect_values(run(OpId::sort, SortAttrs{}, {x}).outputs[0], {1, 2, 3});
  EXPECT_EQ(run(OpId::sort, SortAttrs{0, 0, 1}, {x}, 2).outputs[1].dtype(), DType::s32);
  EXPECT_EQ(run(OpId::sort, SortAttrs{}, {x}, 2).outputs[1].dtype(), DType::s64);
}

TEST(OpSort, Refuses) { EXPECT_EQ(refusal(OpId::sort, SortAttrs{1, 0, 0}, {sample(DType::f32, {2}, 1)}, 2), Why::kAxis); }

}  // namespace mote::optest
