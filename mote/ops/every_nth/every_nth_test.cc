#include "mote/ops/every_nth/every_nth.h"

#include "mote/ops/testing/harness.h"

namespace mote::optest {

TEST(OpEveryNth, OneOfThreeIsDue) {
  Array counter = Array::scalar(DType::s32, 0);
  RunOptions o;
  o.outputs = 2;
  o.in_place = true;
  for (int i = 1; i <= 9; ++i) {
    const auto r = run(OpId::every_nth, ops::every_nth::Attrs{3}, {counter}, o);
    ASSERT_TRUE(r.ok()) << r.message();
    EXPECT_EQ(r.outputs[1].get(0), i % 3 == 0 ? 1 : 0) << i;
    counter = r.outputs[0];
  }
}

TEST(OpEveryNth, AnyCounterIsSafe) {
  for (const double v : {-2147483648.0, -1.0, 5.0, 2147483647.0}) {
    const auto r = run(OpId::every_nth, ops::every_nth::Attrs{3}, {Array::scalar(DType::s32, v)}, 2);
    ASSERT_TRUE(r.ok()) << r.message();
    EXPECT_EQ(r.outputs[0].get(0), 0);
    EXPECT_EQ(r.outputs[1].get(0), 1);
  }
}

TEST(OpEveryNth, EveryShape) {
  EXPECT_TRUE(run(OpId::every_nth, ops::every_nth::Attrs{2}, {Array(DType::s32, {2, 0})}, 2).ok());
  const auto r = run(OpId::every_nth, ops::every_nth::Attrs{2}, {Array::of<int32_t>({1, 2, 1, 1, 1, 1, 1, 2}, {0, 1, 2, 0})}, 2);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, 0, 0, 1});
  expect_values(r.outputs[1], {0, 1, 1, 0});
}

TEST(OpEveryNth, RefusesWhatDoesNotFit) {
  const auto why = [](int32_t count, const Array& c) { return run(OpId::every_nth, ops::every_nth::Attrs{count}, {c}, 2).status.why(); };
  EXPECT_EQ(why(0, Array::scalar(DType::s32, 0)), Why::kAttribute);
  EXPECT_EQ(why(1, Array::scalar(DType::s64, 0)), Why::kDType);
}

}  // namespace mote::optest
