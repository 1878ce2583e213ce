#include "mote/ops/neg/neg.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpNeg, MatchesOracle) {
  check_unary(OpId::neg, NoAttrs{}, FloatTypes{}, [](double x) { return -x; });
}

TEST(OpNeg, MatchesOracleOnSignedIntegers) {
  check_unary(OpId::neg, NoAttrs{}, SignedTypes{}, [](double x) { return -x; });
}

TEST(OpNeg, UnsignedWraps) {
  check_unary(OpId::neg, NoAttrs{}, TypeList<uint8_t>{}, [](double x) { return x == 0 ? 0 : 256 - x; });
  check_unary(OpId::neg, NoAttrs{}, TypeList<uint16_t>{}, [](double x) { return x == 0 ? 0 : 65536 - x; });
  check_unary(OpId::neg, NoAttrs{}, TypeList<uint32_t>{}, [](double x) { return x == 0 ? 0 : 4294967296 - x; });
  check_unary(OpId::neg, NoAttrs{}, TypeList<uint64_t>{}, [](double x) { return x == 0 ? 0 : 18446744073709551616.0 - x; });
}

TEST(OpNeg, LeastIntegerStays) {
  auto r = run(OpId::neg, NoAttrs{}, {Array::of<int8_t>({2}, {-128, 127})});
  expect_values(r.outputs[0], {-128, -127});
  r = run(OpId::neg, NoAttrs{}, {Array::of<int64_t>({1}, {-9223372036854775808.0})});
  expect_values(r.outputs[0], {-9223372036854775808.0});
}

TEST(OpNeg, ZeroChangesSign) {
  const auto r = run(OpId::neg, NoAttrs{}, {Array::of<float>({2}, {0.0, -0.0})});
  EXPECT_TRUE(std::signbit(r.outputs[0].get(0)));
  EXPECT_FALSE(std::signbit(r.outputs[0].get(1)));
}

TEST(OpNeg, RefusesBool) { EXPECT_EQ(run(OpId::neg, NoAttrs{}, {Array::of<bool>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
