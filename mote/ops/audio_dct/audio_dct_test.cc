#include "mote/ops/audio_dct/audio_dct.h"

#include "mote/ops/testing/harness.h"

namespace mote::optest {
namespace {

uint32_t dct_type(DType t) { return static_cast<uint32_t>(t); }

}  // namespace

TEST(OpAudioDct, AgreesWithFloatingPoint) {
  const Array x = Array::random(DType::s16, {4, 40}, 1, -32768, 32767), m = Array::random(DType::s16, {10, 40}, 2, -32768, 32767);
  for (const DType to : {DType::s8, DType::u8, DType::s16}) {
    const double lo = to == DType::s8 ? -128 : to == DType::u8 ? 0 : -32768, hi = to == DType::s8 ? 127 : to == DType::u8 ? 255 : 32767;
    const ops::audio_dct::Attrs a{dct_type(to), 12345, to == DType::s16 ? 34 : 41, 5};
    const auto r = run(OpId::audio_dct, a, {x, m});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_shape(r.outputs[0], {4, 10});
    expect_oracle(r.outputs[0], [&](const Shape& i) {
      double sum = 0;
      for (int k = 0; k < 40; ++k) sum += x.at({i[0], k}) * m.at({i[1], k});
      return std::min(std::max(std::floor(std::ldexp(sum * a.multiplier, -a.shift) + 0.5) + 5, lo), hi);
    });
  }
}

TEST(OpAudioDct, EmptyAndExtremeValuesAreSafe) {
  EXPECT_TRUE(run(OpId::audio_dct, ops::audio_dct::Attrs{}, {Array(DType::s16, {0, 3}), Array(DType::s16, {2, 3})}).ok());
  const Array least = Array::random(DType::s16, {1, 64}, 1, -32768, -32768);
  for (const int32_t m : {INT32_MIN, INT32_MAX})
    EXPECT_TRUE(run(OpId::audio_dct, ops::audio_dct::Attrs{dct_type(DType::s16), m, 1, -32768}, {least, least}).ok());
}

TEST(OpAudioDct, RefusesWhatDoesNotFit) {
  const Array x(DType::s16, {2, 3}), m(DType::s16, {4, 3});
  const auto why = [](const ops::audio_dct::Attrs& a, const std::vector<Array>& in) { return run(OpId::audio_dct, a, in).status.why(); };
  const ops::audio_dct::Attrs a;
  EXPECT_EQ(why(a, {x, Array(DType::s16, {4, 2})}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {x, Array(DType::s16, {3})}), Why::kRank);
  EXPECT_EQ(why(a, {Array(DType::s16, {3}), m}), Why::kRank);
  EXPECT_EQ(why(a, {x, Array(DType::s8, {4, 3})}), Why::kDTypeMismatch);
  EXPECT_EQ(why(a, {Array(DType::s8, {2, 3}), m}), Why::kDType);
  EXPECT_EQ(why({dct_type(DType::s32), 1, 1, 0}, {x, m}), Why::kDType);
  EXPECT_EQ(why({dct_type(DType::s8), 1, 0, 0}, {x, m}), Why::kAttribute);
  EXPECT_EQ(why({dct_type(DType::u8), 1, 1, -1}, {x, m}), Why::kAttribute);
}

}  // namespace mote::optest
