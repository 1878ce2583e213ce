#include "mote/ops/bitwise_not/bitwise_not.h"

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpBitwiseNot, MatchesOracleOnSignedIntegers) {
  check_unary(OpId::bitwise_not, NoAttrs{}, SignedTypes{}, [](double x) { return -1 - x; }, {-100, 100});
}

TEST(OpBitwiseNot, MatchesOracleOnUnsignedIntegers) {
  check_unary(OpId::bitwise_not, NoAttrs{}, TypeList<uint8_t>{}, [](double x) { return 255 - x; }, {0, 200});
  check_unary(OpId::bitwise_not, NoAttrs{}, TypeList<uint16_t>{}, [](double x) { return 65535 - x; }, {0, 200});
  check_unary(OpId::bitwise_not, NoAttrs{}, TypeList<uint32_t>{}, [](double x) { return 4294967295 - x; }, {0, 200});
}

TEST(OpBitwiseNot, InvertsAll64Bits) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{2, 3}}) {
    const Array x = Array::random(DType::u64, shape, 3, 0, 1e18);
    const auto r = run(OpId::bitwise_not, NoAttrs{}, {x});
    ASSERT_TRUE(r.ok()) << r.message();
    ASSERT_EQ(r.outputs[0].bytes().size(), x.bytes().size());
    for (size_t i = 0; i < x.bytes().size(); ++i) EXPECT_EQ(r.outputs[0].bytes()[i], 255 - x.bytes()[i]);
  }
}

TEST(OpBitwiseNot, NegatesBool) {
  check_unary(OpId::bitwise_not, NoAttrs{}, TypeList<bool>{}, [](double x) { return 1 - x; });
}

TEST(OpBitwiseNot, EveryByteButZeroIsTrue) {
  Array x(DType::boolean, {4});
  x.bytes() = {0, 1, 2, 255};
  EXPECT_EQ(run(OpId::bitwise_not, NoAttrs{}, {x}).outputs[0].bytes(), (std::vector<uint8_t>{1, 0, 0, 0}));
}

TEST(OpBitwiseNot, RefusesFloats) { EXPECT_EQ(run(OpId::bitwise_not, NoAttrs{}, {Array::of<float>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
