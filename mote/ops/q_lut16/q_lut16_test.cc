#include "mote/ops/q_lut16/q_lut16.h"

#include <algorithm>

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

namespace q_lut16_case {
namespace {

// The tables as TFLite fills them.
Array sigmoid_table() {
  Array t(DType::u16, {256});
  for (int i = 0; i < 256; ++i) t.set(i, std::min(65535.0, std::round(65536 / (1 + std::exp(-i / 24.0)))));
  return t;
}
Array table(float (*f)(float), float input_scale, float output_scale) {
  Array t(DType::s16, {513});
  const float lo = input_scale * -32768, hi = input_scale * 32767, step = (hi - lo) / 512,
              inverse = 65536 / (output_scale * 32767 - output_scale * -32768);
  const auto clamped = [](float v) { return std::min(std::max(v, -32768.0f), 32767.0f); };
  for (int i = 0; i < 512; ++i) {
    const float at = lo + static_cast<float>(i) * step, here = std::round(f(at) * inverse), next = f(lo + static_cast<float>(i + 1) * step);
    const float error = std::round((next * inverse + here) / 2) - std::round(f(at + step / 2) * inverse);
    t.set(i, clamped(here - std::round(error / 2)));
  }
  t.set(512, clamped(std::round(f(hi) * inverse)));
  return t;
}

}  // namespace
}  // namespace q_lut16_case

TEST(OpQLut16, InterpolatesAtEveryShape) {
  const Array table = Array::random(DType::s16, {513}, 5, -9000, 9000);
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{2, 3, 4}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
    const Array x = full_range(DType::s16, shape, 6);
    const auto r = run(OpId::q_lut16, ops::q_lut16::Attrs{}, {x, table});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_oracle(r.outputs[0], [&](const Shape& i) {
      const double at = (x.at(i) + 32768) / 128, whole = std::floor(at), low = table.get(static_cast<int>(whole)),
                   high = table.get(static_cast<int>(whole) + 1);
      return low + std::floor((high - low) * (at - whole) + 0.5);
    });
  }
}

TEST(OpQLut16, LogisticAndTanhAreCloseToTheRealOnesAndSafe) {
  const Array x = full_range(DType::s16, {500}, 7);
  for (const uint32_t kind : {1u, 2u}) {
    const auto r = run(OpId::q_lut16, ops::q_lut16::Attrs{kind, 3, 0}, {x, q_lut16_case::sigmoid_table()});  // scale 2^-12
    ASSERT_TRUE(r.ok()) << r.message();
    for (int i = 0; i < 500; ++i) {
      const double v = x.get(i) / 4096, real = kind == 1 ? 1 / (1 + std::exp(-v)) : std::tanh(v);
      EXPECT_NEAR(r.outputs[0].get(i) / 32768, real, 3e-4);
    }
    for (const int32_t multiplier : {-2147483647 - 1, 2147483647})
      EXPECT_TRUE(run(OpId::q_lut16, ops::q_lut16::Attrs{kind, multiplier, 30}, {x, full_range(DType::u16, {256}, 3)}).ok());
  }
}

TEST(OpQLut16, RefusesOtherTablesAndAttributes) {
  const Array x = full_range(DType::s16, {3}, 1), t(DType::s16, {513});
  const auto why = [](const ops::q_lut16::Attrs& a, const std::vector<Array>& in) { return run(OpId::q_lut16, a, in).status.why(); };
  EXPECT_EQ(why({}, {x, Array(DType::s16, {512})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {x, Array(DType::s16, {1, 513})}), Why::kRank);
  EXPECT_EQ(why({}, {x, Array(DType::u16, {513})}), Why::kDType);
  EXPECT_EQ(why({1, 1, 0}, {x, t}), Why::kDType);
  EXPECT_EQ(why({3, 1, 0}, {x, t}), Why::kAttribute);
  EXPECT_EQ(why({1, 1, 31}, {x, t}), Why::kAttribute);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQLut16, AgreesWithTfliteLogistic) {
  const ops::q_lut16::Attrs a{1, 25165, 12};
  const auto r =
      run(OpId::q_lut16, a,
          {Array::of<int16_t>({11}, {-32768, -20000, -5000, -300, -1, 0, 1, 77, 4096, 12345, 32767}), q_lut16_case::sigmoid_table()});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, 1, 2486, 15158, 16380, 16384, 16388, 16699, 29024, 32700, 32767});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQLut16, AgreesWithTfliteTanh) {
  const ops::q_lut16::Attrs a{2, 25165, 12};
  const auto r =
      run(OpId::q_lut16, a,
          {Array::of<int16_t>({11}, {-32768, -20000, -5000, -300, -1, 0, 1, 77, 4096, 12345, 32767}), q_lut16_case::sigmoid_table()});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-32767, -32767, -32329, -4878, -16, 0, 16, 1261, 31695, 32767, 32767});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQLut16, AgreesWithTfliteExp) {
  const auto r = run(OpId::q_lut16, ops::q_lut16::Attrs{},
                     {Array::of<int16_t>({11}, {-32768, -20000, -5000, -300, -1, 0, 1, 77, 4096, 12345, 32767}),
                      q_lut16_case::table([](float v) { return std::exp(v); }, 0.00019999999494757503f, 0.019999999552965164f)});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 1, 19, 47, 50, 50, 50, 51, 113, 591, 32767});
}

}  // namespace mote::optest
