#include "mote/ops/add/add.h"

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpAdd, MatchesOracle) {
  check_binary(OpId::add, NoAttrs{}, ops::add::Types{}, [](double a, double b) { return a + b; });
}

TEST(OpAdd, IntegersWrap) {
  const auto r = run(OpId::add, NoAttrs{}, {Array::of<int8_t>({2}, {127, -128}), Array::of<int8_t>({2}, {1, -1})});
  ASSERT_TRUE(r.ok());
  expect_values(r.outputs[0], {-128, 127});
}

TEST(OpAdd, RefusesMixedTypes) {
  EXPECT_EQ(run(OpId::add, NoAttrs{}, {Array::of<float>({1}, {1}), Array::of<int32_t>({1}, {1})}).status.why(), Why::kDTypeMismatch);
}

}  // namespace mote::optest
