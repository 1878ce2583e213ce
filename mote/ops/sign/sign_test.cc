#include "mote/ops/sign/sign.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpSign, MatchesOracle) {
  check_unary(OpId::sign, NoAttrs{}, ops::sign::Types{}, [](double x) { return static_cast<double>((x > 0) - (x < 0)); });
}

TEST(OpSign, NanAndZerosGiveZero) {
  const auto r = run(OpId::sign, NoAttrs{}, {Array::of<float>({5}, {NAN, -0.0, 0.0, -1e-40, INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0, 0, -1, 1});
}

TEST(OpSign, ExtremeIntegers) {
  const auto r = run(OpId::sign, NoAttrs{}, {Array::of<int64_t>({4}, {-9223372036854775808.0, -1, 0, 4611686018427387904.0})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-1, -1, 0, 1});
}

TEST(OpSign, RefusesBool) { EXPECT_EQ(run(OpId::sign, NoAttrs{}, {Array::of<bool>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
