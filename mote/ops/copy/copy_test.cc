#include "mote/ops/copy/copy.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

TEST(OpCopy, KeepsEveryElement) {
  RunOptions options;
  options.in_place = true;
  for (DType type : all_types()) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 0}, Shape{2, 3, 4}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
      const Array x = sample(type, shape, 3);
      const auto r = run(OpId::copy, NoAttrs{}, {x}, options);
      ASSERT_TRUE(r.ok()) << r.message();
      EXPECT_EQ(r.outputs[0].bytes(), x.bytes());
      expect_shape(r.outputs[0], shape);
    }
  }
}

TEST(OpCopy, CopiesARangeOfRows) {
  const Array x = sample(DType::s16, {2, 4, 3}, 1);
  RunOptions options;
  options.rows = {1, 3};
  const auto r = run(OpId::copy, NoAttrs{}, {x}, options);
  ASSERT_TRUE(r.ok()) << r.message();
  for_each_index(x.shape(), [&](const Shape& i) {
    if (i[1] >= 1 && i[1] < 3) {
      EXPECT_EQ(r.outputs[0].at(i), x.at(i));
    }
  });
}

TEST(OpCopy, RefusesPackedNibbles) { EXPECT_EQ(refusal(OpId::copy, NoAttrs{}, {Array(DType::s4, {2})}), Why::kDType); }

}  // namespace mote::optest
