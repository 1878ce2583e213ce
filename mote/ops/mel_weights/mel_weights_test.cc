#include "mote/ops/mel_weights/mel_weights.h"

#include "mote/ops/testing/harness.h"

namespace mote::optest {

TEST(OpMelWeights, AgreesWithOnnx) {
  const auto r = run(OpId::mel_weights, ops::mel_weights::Attrs{5, 16, 8000, 20, 3800}, {});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {9, 5});
  expect_values(r.outputs[0], {1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.5, 0.5, 0, 0, 0,
                               0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   0,   0, 0});
}

TEST(OpMelWeights, BandsRiseToOneAndFall) {
  const auto r = run(OpId::mel_weights, ops::mel_weights::Attrs{20, 512, 16000, 0, 8000}, {});
  ASSERT_TRUE(r.ok()) << r.message();
  for (int band = 0; band < 20; ++band) {
    int peak = 0;
    for (int row = 0; row < 257; ++row)
      if (r.outputs[0].at({row, band}) > r.outputs[0].at({peak, band})) peak = row;
    EXPECT_EQ(r.outputs[0].at({peak, band}), 1);
    for (int row = 1; row < 257; ++row) {
      const double step = r.outputs[0].at({row, band}) - r.outputs[0].at({row - 1, band});
      EXPECT_TRUE(row <= peak ? step >= 0 : step <= 0) << row << " " << band;
    }
  }
}

TEST(OpMelWeights, EmptyAndBandsBeyondTheSpectrum) {
  auto r = run(OpId::mel_weights, ops::mel_weights::Attrs{0, 16, 8000, 20, 3800}, {});
  expect_shape(r.outputs[0], {9, 0});
  r = run(OpId::mel_weights, ops::mel_weights::Attrs{3, 4, 1, 1000, 3e38f}, {});
  ASSERT_TRUE(r.ok());
  expect_values(r.outputs[0], {0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST(OpMelWeights, RefusesBadAttributes) {
  using ops::mel_weights::Attrs;
  const auto why = [](const Attrs& a) { return run(OpId::mel_weights, a, {}).status.why(); };
  EXPECT_EQ(why({-1, 16, 8000, 20, 3800}), Why::kAttribute);
  EXPECT_EQ(why({5, -1, 8000, 20, 3800}), Why::kAttribute);
  EXPECT_EQ(why({5, 16, 0, 20, 3800}), Why::kAttribute);
  EXPECT_EQ(why({5, 16, 8000, -20, 3800}), Why::kAttribute);
  EXPECT_EQ(why({5, 16, 8000, 20, 10}), Why::kAttribute);
  EXPECT_EQ(why({5, 16, 8000, 20, NAN}), Why::kAttribute);
  EXPECT_EQ(why({5, 16, 8000, 20, INFINITY}), Why::kAttribute);
  EXPECT_EQ(why({1 << 20, 1 << 24, 8000, 20, 30}), Why::kShapeOverflow);
}

}  // namespace mote::optest
