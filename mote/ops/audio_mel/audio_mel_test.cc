#include "mote/ops/audio_mel/audio_mel.h"

#include <complex>

#include "mote/ops/testing/harness.h"

namespace mote::optest {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int kWindow = 48, kSize = 64;

Array hann() {
  Array w(DType::s16, {kWindow});
  for (int i = 0; i < kWindow; ++i) w.set(i, std::round(32767 * (0.5 - 0.5 * std::cos(2 * kPi * (i + 0.5) / kWindow))));
  return w;
}
Array cosines(int size) {
  Array t(DType::s32, {size / 4 + 1});
  for (int i = 0; i <= size / 4; ++i) t.set(i, std::min(2147483647.0, std::round(2147483648.0 * std::cos(2 * kPi * i / size))));
  return t;
}
const Array kBands = Array::of<int32_t>({4, 2}, {0, 3, 2, 5, 6, 10, 15, 18});
Array weights() { return Array::random(DType::u16, {36}, 7, 1, 4096); }

// What the operator means, in floating point.
double magnitude(const ops::audio_mel::Attrs& a, const Array& x, const Array& w, int frame, int band) {
  const Array window = hann();
  std::vector<double> v(kSize, 0.0);
  for (int i = 0; i < kWindow; ++i) {
    const int at = a.lead + frame * a.step + i;
    const double before = at > 0 ? x.get(at - 1) : 0;
    v[static_cast<size_t>(i)] = (x.get(at) - before * a.preemphasis / 32768) * window.get(i) / 32768;
  }
  double sum = 0;
  int weight = 0;
  for (int b = 0; b < band; ++b) weight += static_cast<int>(kBands.at({b, 1}));
  for (int k = 0; k < static_cast<int>(kBands.at({band, 1})); ++k) {
    std::complex<double> f = 0;
    for (int i = 0; i < kSize; ++i) f += v[static_cast<size_t>(i)] * std::polar(1.0, -2 * kPi * i * (kBands.at({band, 0}) + k) / kSize);
    const double power = std::norm(f / double{kSize}), part = w.get(weight + k) / 4096;
    sum += a.magnitude != 0 ? part * std::sqrt(power) : part * power;
  }
  return 4096 * (a.magnitude != 0 ? sum : std::sqrt(sum));
}

void check(const ops::audio_mel::Attrs& a, double loudness) {
  const Array x = Array::random(DType::s16, {200}, 3, -loudness, loudness), w = weights();
  const auto r = run(OpId::audio_mel, a, {x, hann(), cosines(kSize), kBands, w}, 2);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {(200 - a.lead - kWindow) / a.step + 1, 4});
  for_each_index(r.outputs[0].shape(), [&](const Shape& i) {
    const double expected = magnitude(a, x, w, i[0], i[1]);
    EXPECT_NEAR(r.outputs[0].at(i), expected, 2 + expected * (a.preemphasis != 0 ? 1e-2 : 2e-4)) << i[0] << " " << i[1];
  });
}

}  // namespace

TEST(OpAudioMel, AgreesWithFloatingPoint) {
  for (const double loudness : {3.0, 500.0, 32767.0})
    for (const int32_t magnitude : {0, 1}) check({40, magnitude, 0, 0}, loudness);
}

TEST(OpAudioMel, TakesPartOfTheSampleBeforeAway) {
  for (const int32_t lead : {0, 1}) check({32, 0, 31744, lead}, 9000);
}

TEST(OpAudioMel, SilenceGivesZeros) {
  const auto r =
      run(OpId::audio_mel, ops::audio_mel::Attrs{16, 1, 0, 0}, {Array(DType::s16, {80}), hann(), cosines(kSize), kBands, weights()}, 2);
  ASSERT_TRUE(r.ok()) << r.message();
  for (int64_t i = 0; i < r.outputs[0].count(); ++i) EXPECT_EQ(r.outputs[0].get(i), 0);
}

// The loudest sine of all sizes that are allowed: nothing overflows, and the bin has the height it must have.
TEST(OpAudioMel, NothingOverflows) {
  for (const int size : {8, 16, 512, 2048, 16384}) {
    Array x(DType::s16, {size}), window(DType::s16, {size});
    for (int i = 0; i < size; ++i) {
      x.set(i, std::round(32767 * std::cos(2 * kPi * i / 8)));
      window.set(i, 32767);
    }
    const auto r = run(
        OpId::audio_mel, ops::audio_mel::Attrs{},
        {x, window, cosines(size), Array::of<int32_t>({1, 2}, {static_cast<double>(size / 8), 1}), Array::of<uint16_t>({1}, {4096})}, 2);
    ASSERT_TRUE(r.ok()) << r.message();
    EXPECT_NEAR(r.outputs[0].get(0), 4096 * 32767 / 2.0, 4096 * 20) << size;
  }
}

TEST(OpAudioMel, TooFewSamplesGiveNoFrame) {
  const auto r = run(OpId::audio_mel, ops::audio_mel::Attrs{}, {Array(DType::s16, {0}), hann(), cosines(kSize), kBands, weights()}, 2);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {0, 4});
}

TEST(OpAudioMel, HostileTablesAreSafe) {
  const Array x = Array::random(DType::s16, {64}, 1, -32768, 32767), w = Array::random(DType::s16, {kWindow}, 2, -32768, 32767);
  const Array c = Array::random(DType::s32, {17}, 3, -2147483648.0, 2147483647.0);
  const Array most = Array::random(DType::u16, {36}, 4, 65535, 65535);
  EXPECT_TRUE(run(OpId::audio_mel, ops::audio_mel::Attrs{}, {x, w, c, kBands, most}, 2).ok());
  const auto why = [&](const Array& bands) {
    return run(OpId::audio_mel, ops::audio_mel::Attrs{}, {x, w, c, bands, most}, 2).status.why();
  };
  EXPECT_EQ(why(Array::of<int32_t>({1, 2}, {-1, 3})), Why::kIndexRange);
  EXPECT_EQ(why(Array::of<int32_t>({1, 2}, {30, 4})), Why::kIndexRange);
  EXPECT_EQ(why(Array::of<int32_t>({1, 2}, {2147483647, 2147483647})), Why::kIndexRange);
  EXPECT_EQ(why(Array::of<int32_t>({2, 2}, {0, 33, 0, 4})), Why::kIndexRange);  // not so many weights
}

TEST(OpAudioMel, RefusesWhatDoesNotFit) {
  const Array x(DType::s16, {100}), w = hann(), c = cosines(kSize), m = weights();
  const auto why = [](const ops::audio_mel::Attrs& a, const std::vector<Array>& in) { return run(OpId::audio_mel, a, in, 2).status.why(); };
  const ops::audio_mel::Attrs a;
  EXPECT_EQ(why(a, {Array(DType::s16, {100, 1}), w, c, kBands, m}), Why::kRank);
  EXPECT_EQ(why(a, {Array(DType::s8, {100}), w, c, kBands, m}), Why::kDType);
  EXPECT_EQ(why(a, {x, Array(DType::s16, {65}), c, kBands, m}), Why::kWindow);
  EXPECT_EQ(why(a, {x, Array(DType::s16, {0}), c, kBands, m}), Why::kWindow);
  EXPECT_EQ(why(a, {x, w, Array(DType::s32, {18}), kBands, m}), Why::kWindow);
  EXPECT_EQ(why(a, {x, w, Array(DType::s32, {0}), kBands, m}), Why::kWindow);
  EXPECT_EQ(why(a, {x, w, c, Array(DType::s32, {4, 3}), m}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {x, w, c, kBands, Array(DType::s16, {36})}), Why::kDTypeMismatch);
  EXPECT_EQ(why({0, 0, 0, 0}, {x, w, c, kBands, m}), Why::kAttribute);
  EXPECT_EQ(why({1, 2, 0, 0}, {x, w, c, kBands, m}), Why::kAttribute);
  EXPECT_EQ(why({1, 0, 32769, 0}, {x, w, c, kBands, m}), Why::kAttribute);
  EXPECT_EQ(why({1, 0, 0, 2}, {x, w, c, kBands, m}), Why::kAttribute);
}

}  // namespace mote::optest
