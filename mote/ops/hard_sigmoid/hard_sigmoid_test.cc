#include "mote/ops/hard_sigmoid/hard_sigmoid.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpHardSigmoid, MatchesOracle) {
  const ops::hard_sigmoid::Attrs cases[] = {{}, {0.2f, 0.5f}, {-1, 0.25f}};
  for (const ops::hard_sigmoid::Attrs& a : cases) {
    const auto oracle = [=](double x) {
      const double line = double{a.alpha} * x + a.beta;
      return std::isnan(line) ? line : std::fmin(1, std::fmax(0, line));
    };
    check_unary(OpId::hard_sigmoid, a, ops::hard_sigmoid::Types{}, oracle, {-5, 5});
  }
}

TEST(OpHardSigmoid, KnownValues) {
  const auto r = run(OpId::hard_sigmoid, ops::hard_sigmoid::Attrs{}, {Array::of<float>({7}, {-3, -1.5, 0, 1.5, 3, INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.25, 0.5, 0.75, 1, 1, NAN});
}

TEST(OpHardSigmoid, RefusesIntegers) {
  EXPECT_EQ(run(OpId::hard_sigmoid, ops::hard_sigmoid::Attrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType);
}

}  // namespace mote::optest
