#include "mote/ops/q_lut/q_lut.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpQLut, EveryTypeAndShape) {
  for (DType type : types_of(ops::q_lut::Types{})) {
    for (DType to : {DType::s8, DType::u8}) {
      const Array table = full_range(to, {256}, 5);
      for (const Shape& shape : {Shape{}, Shape{0}, Shape{2, 3, 4}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
        const Array x = full_range(type, shape, 6);
        RunOptions options;
        options.in_place = true;
        const auto r = run(OpId::q_lut, NoAttrs{}, {x, table}, options);
        ASSERT_TRUE(r.ok()) << r.message();
        EXPECT_EQ(r.outputs[0].dtype(), to);
        expect_oracle(r.outputs[0],
                      [&](const Shape& i) { return table.get(x.at(i) < 0 ? static_cast<int>(x.at(i)) + 256 : static_cast<int>(x.at(i))); });
      }
    }
  }
}

TEST(OpQLut, RefusesOtherTables) {
  const Array x = full_range(DType::s8, {3}, 1);
  EXPECT_EQ(run(OpId::q_lut, NoAttrs{}, {x, Array(DType::s8, {255})}).status.why(), Why::kDimMismatch);
  EXPECT_EQ(run(OpId::q_lut, NoAttrs{}, {x, Array(DType::s8, {16, 16})}).status.why(), Why::kRank);
  EXPECT_EQ(run(OpId::q_lut, NoAttrs{}, {x, Array(DType::s16, {256})}).status.why(), Why::kDType);
  EXPECT_EQ(run(OpId::q_lut, NoAttrs{}, {Array(DType::s16, {3}), Array(DType::s8, {256})}).status.why(), Why::kDType);
}

}  // namespace mote::optest
