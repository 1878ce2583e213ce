#include "mote/ops/bitcast/bitcast.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

TEST(OpBitcast, KeepsTheBytes) {
  RunOptions options;
  options.in_place = true;
  for (DType from : all_types()) {
    for (DType to : types_of(NumberTypes{})) {
      if (dtype_bytes(from) != dtype_bytes(to)) continue;
      for (const Shape& shape : {Shape{}, Shape{7}, Shape{2, 0}, Shape{2, 3}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
        const Array x = sample(from, shape, 2);
        const auto r = run(OpId::bitcast, ops::bitcast::Attrs{dtype_value(to)}, {x}, options);
        ASSERT_TRUE(r.ok()) << r.message();
        EXPECT_EQ(r.outputs[0].dtype(), to);
        EXPECT_EQ(r.outputs[0].bytes(), x.bytes());
      }
    }
  }
}

TEST(OpBitcast, Refuses) {
  const Array x = sample(DType::f32, {2}, 1);
  EXPECT_EQ(refusal(OpId::bitcast, ops::bitcast::Attrs{dtype_value(DType::s64)}, {x}), Why::kDTypeMismatch);
  for (int32_t to : {0, -1, 16, 1000, dtype_value(DType::s4), dtype_value(DType::boolean)})
    EXPECT_EQ(refusal(OpId::bitcast, ops::bitcast::Attrs{to}, {x}), Why::kAttribute);
}

}  // namespace mote::optest
