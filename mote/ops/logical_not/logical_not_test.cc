#include "mote/ops/logical_not/logical_not.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpLogicalNot, MatchesOracle) {
  ElementwiseOptions options;
  options.in_place = false;
  check_unary(
      OpId::logical_not, NoAttrs{}, NumberTypes{}, [](double x) { return x == 0; }, options);
}

TEST(OpLogicalNot, MatchesOracleOnBytesAlsoInPlace) {
  check_unary(OpId::logical_not, NoAttrs{}, TypeList<bool, int8_t, uint8_t>{}, [](double x) { return x == 0; });
}

TEST(OpLogicalNot, AnswersWithBool) {
  const auto r = run(OpId::logical_not, NoAttrs{}, {Array::of<float>({5}, {0, -0.0, NAN, 1e-40, -2})});
  ASSERT_TRUE(r.ok()) << r.message();
  EXPECT_EQ(r.outputs[0].dtype(), DType::boolean);
  expect_values(r.outputs[0], {1, 1, 0, 0, 0});
}

TEST(OpLogicalNot, EveryByteButZeroIsTrue) {
  Array x(DType::boolean, {4});
  x.bytes() = {0, 1, 2, 255};
  EXPECT_EQ(run(OpId::logical_not, NoAttrs{}, {x}).outputs[0].bytes(), (std::vector<uint8_t>{1, 0, 0, 0}));
}

TEST(OpLogicalNot, RefusesNibbles) {
  EXPECT_EQ(run(OpId::logical_not, NoAttrs{}, {Array::from(DType::s4, {2}, {1, 0})}).status.why(), Why::kDType);
}

}  // namespace mote::optest
