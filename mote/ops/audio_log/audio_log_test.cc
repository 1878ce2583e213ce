#include "mote/ops/audio_log/audio_log.h"

#include "mote/ops/testing/harness.h"

namespace mote::optest {
namespace {

uint32_t type(DType t) { return static_cast<uint32_t>(t); }

}  // namespace

TEST(OpAudioLog, AgreesWithFloatingPoint) {
  Array x(DType::u32, {3, 400});
  for (int i = 0; i < 1200; ++i) x.set(i, std::floor(std::exp2(i * 32.0 / 1201)));
  for (const DType to : {DType::s8, DType::u8, DType::s16}) {
    const double zero = to == DType::s8 ? -100 : to == DType::u8 ? 3 : -7, factor = to == DType::s16 ? 1000 : 7.5;
    ops::audio_log::Attrs a;
    a.to = type(to), a.add = 2, a.bias = -(1 << 16), a.multiplier = static_cast<int32_t>(factor * 8192), a.shift = 29;
    a.zero = static_cast<int32_t>(zero);
    const auto r = run(OpId::audio_log, a, {x});
    ASSERT_TRUE(r.ok()) << r.message();
    const double lo = to == DType::s8 ? -128 : to == DType::u8 ? 0 : -32768, hi = to == DType::s8 ? 127 : to == DType::u8 ? 255 : 32767;
    for (int i = 0; i < 1200; ++i) {
      const double v = (std::log2(x.get(i) + 2) - 1) * factor + zero;
      EXPECT_NEAR(r.outputs[0].get(i), std::min(std::max(v, lo), hi), 0.55) << i;
    }
  }
}

TEST(OpAudioLog, ZeroBecomesTheLeastValue) {
  ops::audio_log::Attrs a;
  a.to = type(DType::s16), a.shift = 8;
  const auto r = run(OpId::audio_log, a, {Array::of<uint32_t>({4}, {0, 1, 2, 1024})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-32768, 0, 256, 2560});
  ops::audio_log::Attrs clamped = a;
  clamped.clamp_lo = 100, clamped.clamp_hi = 300;
  expect_values(run(OpId::audio_log, clamped, {Array::of<uint32_t>({4}, {0, 1, 2, 1024})}).outputs[0], {100, 100, 256, 300});
}

TEST(OpAudioLog, EveryRankAndExtremeValues) {
  EXPECT_TRUE(run(OpId::audio_log, ops::audio_log::Attrs{}, {Array(DType::u32, {0, 2})}).ok());
  EXPECT_TRUE(run(OpId::audio_log, ops::audio_log::Attrs{}, {Array::scalar(DType::u32, 5)}).ok());
  EXPECT_TRUE(run(OpId::audio_log, ops::audio_log::Attrs{}, {Array::random(DType::u32, {1, 2, 1, 1, 3, 1, 1, 2}, 1, 0, 1e9)}).ok());
  const Array most = Array::of<uint32_t>({2}, {4294967295.0, 0});
  for (const int32_t m : {INT32_MIN, INT32_MAX})
    for (const int32_t shift : {1, 62}) {
      const auto r = run(OpId::audio_log, ops::audio_log::Attrs{type(DType::s8), ~0u, m, m, shift, 127, -128, 127}, {most});
      ASSERT_TRUE(r.ok()) << r.message();
    }
}

TEST(OpAudioLog, RefusesWhatDoesNotFit) {
  const Array x(DType::u32, {2});
  const auto why = [&](const ops::audio_log::Attrs& a) { return run(OpId::audio_log, a, {x}).status.why(); };
  EXPECT_EQ(run(OpId::audio_log, ops::audio_log::Attrs{}, {Array(DType::s32, {2})}).status.why(), Why::kDType);
  EXPECT_EQ(why({type(DType::f32), 0, 0, 1, 16, 0, -128, 127}), Why::kDType);
  EXPECT_EQ(why({999, 0, 0, 1, 16, 0, -128, 127}), Why::kDType);
  EXPECT_EQ(why({type(DType::s8), 0, 0, 1, 0, 0, -128, 127}), Why::kAttribute);
  EXPECT_EQ(why({type(DType::s8), 0, 0, 1, 63, 0, -128, 127}), Why::kAttribute);
  EXPECT_EQ(why({type(DType::s8), 0, 0, 1, 16, 128, -128, 127}), Why::kAttribute);
  EXPECT_EQ(why({type(DType::s8), 0, 0, 1, 16, 0, 5, 4}), Why::kAttribute);
}

}  // namespace mote::optest
