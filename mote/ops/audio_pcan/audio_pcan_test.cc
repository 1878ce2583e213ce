#include "mote/ops/audio_pcan/audio_pcan.h"

#include "mote/ops/testing/harness.h"

namespace mote::optest {
namespace {

constexpr double kOne = 65536;

struct Expected {
  double noise, y;
};
// One band of one frame, in floating point; magnitudes times 2^12, noise times 2^16.
Expected expected(const ops::audio_pcan::Attrs& a, int band, double noise, double x) {
  const double smoothing = (band % 2 == 0 ? a.even_smoothing : a.odd_smoothing) / 16384.0;
  noise = x * 16 * smoothing + noise * (1 - smoothing);
  const double signal = std::max(x - std::min(noise / 16, x), x * a.least / 16384);
  if (a.strength == 0) return {noise, signal};
  const double ratio = std::exp2(a.bias / kOne) * signal * std::pow(noise + a.offset, -(a.strength / 32768.0)) / 4096;
  return {noise, 64 * (ratio < 2 ? ratio * ratio / 4 : ratio - 1)};
}

void check(const ops::audio_pcan::Attrs& a) {
  const Array noise = Array::random(DType::u32, {5}, 1, 0, 3e6), x = Array::random(DType::u32, {7, 5}, 2, 0, 900000);
  const auto r = run(OpId::audio_pcan, a, {noise, x}, 2);
  ASSERT_TRUE(r.ok()) << r.message();
  std::vector<double> estimate;
  for (int n = 0; n < 5; ++n) estimate.push_back(noise.get(n));
  for (int t = 0; t < 7; ++t) {
    for (int n = 0; n < 5; ++n) {
      const Expected e = expected(a, n, estimate[static_cast<size_t>(n)], x.at({t, n}));
      estimate[static_cast<size_t>(n)] = e.noise;
      EXPECT_NEAR(r.outputs[1].at({t, n}), e.y, 3 + e.y * 3e-4) << t << " " << n;
    }
  }
  for (int n = 0; n < 5; ++n) EXPECT_NEAR(r.outputs[0].get(n), estimate[static_cast<size_t>(n)], 8);
}

}  // namespace

TEST(OpAudioPcan, AgreesWithFloatingPoint) {
  check({});
  check({410, 983, 819, 31130, 10240, 12 << 16});
  check({16384, 0, 16384, 16384, 1, 8 << 16});
}

// Frames one by one with the state in between are the same as all at once.
TEST(OpAudioPcan, TheStateCarriesOn) {
  const ops::audio_pcan::Attrs a{410, 983, 819, 31130, 10240, 12 << 16};
  const Array x = Array::random(DType::u32, {6, 3}, 5, 0, 500000);
  const auto all = run(OpId::audio_pcan, a, {Array(DType::u32, {3}), x}, 2);
  Array noise(DType::u32, {3});
  for (int t = 0; t < 6; ++t) {
    const Array frame = Array::of<uint32_t>({1, 3}, {x.at({t, 0}), x.at({t, 1}), x.at({t, 2})});
    RunOptions o;
    o.outputs = 2;
    o.in_place = true;
    const auto r = run(OpId::audio_pcan, a, {noise, frame}, o);
    ASSERT_TRUE(r.ok()) << r.message();
    noise = r.outputs[0];
    for (int n = 0; n < 3; ++n) EXPECT_EQ(r.outputs[1].get(n), all.outputs[1].at({t, n}));
  }
  EXPECT_EQ(noise.bytes(), all.outputs[0].bytes());
}

TEST(OpAudioPcan, EmptyAndExtremeValuesAreSafe) {
  EXPECT_TRUE(run(OpId::audio_pcan, ops::audio_pcan::Attrs{}, {Array(DType::u32, {0}), Array(DType::u32, {2, 0})}, 2).ok());
  const Array most = Array::random(DType::u32, {2}, 1, 4294967295.0, 4294967295.0);
  for (const int32_t bias : {INT32_MIN, 0, INT32_MAX}) {
    const ops::audio_pcan::Attrs a{16384, 1, 16384, 65536, ~0u, bias};
    EXPECT_TRUE(run(OpId::audio_pcan, a, {most, most.reshaped({1, 2})}, 2).ok());
    EXPECT_TRUE(run(OpId::audio_pcan, a, {Array(DType::u32, {2}), Array(DType::u32, {1, 2})}, 2).ok());
  }
}

TEST(OpAudioPcan, RefusesWhatDoesNotFit) {
  const Array noise(DType::u32, {3}), x(DType::u32, {2, 3});
  const auto why = [](const ops::audio_pcan::Attrs& a, const std::vector<Array>& in) {
    return run(OpId::audio_pcan, a, in, 2).status.why();
  };
  const ops::audio_pcan::Attrs a;
  EXPECT_EQ(why(a, {Array(DType::u32, {2}), x}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {noise, Array(DType::u32, {3})}), Why::kRank);
  EXPECT_EQ(why(a, {noise, Array(DType::s32, {2, 3})}), Why::kDType);
  EXPECT_EQ(why(a, {Array(DType::s32, {3}), x}), Why::kDTypeMismatch);
  EXPECT_EQ(why({16385, 0, 0, 0, 0, 0}, {noise, x}), Why::kAttribute);
  EXPECT_EQ(why({0, 16385, 0, 0, 0, 0}, {noise, x}), Why::kAttribute);
  EXPECT_EQ(why({0, 0, 16385, 0, 0, 0}, {noise, x}), Why::kAttribute);
  EXPECT_EQ(why({0, 0, 0, 65537, 0, 0}, {noise, x}), Why::kAttribute);
}

}  // namespace mote::optest
