#include "mote/ops/sub/sub.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpSub, MatchesOracle) {
  auto oracle = [](double a, double b) { return a - b; };
  check_binary(OpId::sub, NoAttrs{}, FloatTypes{}, oracle);
  check_binary(OpId::sub, NoAttrs{}, SignedTypes{}, oracle);
  ElementwiseOptions above;
  above.lo = 4, above.hi = 9;
  check_binary(OpId::sub, NoAttrs{}, TypeList<uint8_t, uint16_t, uint32_t, uint64_t>{}, oracle, above);
}

TEST(OpSub, IntegersWrap) {
  auto r = run(OpId::sub, NoAttrs{}, {Array::of<int8_t>({2}, {-128, 127}), Array::of<int8_t>({2}, {1, -1})});
  expect_values(r.outputs[0], {127, -128});
  r = run(OpId::sub, NoAttrs{}, {Array::of<uint32_t>({1}, {0}), Array::of<uint32_t>({1}, {1})});
  expect_values(r.outputs[0], {4294967295.0});
}

TEST(OpSub, ComputesOnlyTheRowsAskedFor) {
  RunOptions options;
  options.rows = {1, 3};
  const Array a = Array::random(DType::s8, {2, 4, 3}, 1), b = Array::random(DType::s8, {4, 1}, 2);
  const auto r = run(OpId::sub, NoAttrs{}, {a, b}, options);
  ASSERT_TRUE(r.ok()) << r.message();
  const double untouched = static_cast<int8_t>(0xa5);
  expect_oracle(r.outputs[0], [&](const Shape& i) { return i[1] == 1 || i[1] == 2 ? a.at(i) - b.get(i[1]) : untouched; });
}

TEST(OpSub, RefusesOtherTypes) { check_binary_refusals(OpId::sub, NoAttrs{}, DType::f32, DType::s32, DType::boolean); }

}  // namespace mote::optest
