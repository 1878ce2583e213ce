#include "mote/ops/q_softmax/q_softmax.h"

#include <algorithm>

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

namespace q_softmax_case {
namespace {

// TFLite's table of 513 entries over [lo, hi], results in [-1, 1).
Array table(double (*f)(double), double lo, double hi) {
  Array t(DType::s16, {513});
  const double step = (hi - lo) / 512;
  const auto clamped = [](double v) { return std::min(std::max(v, -32768.0), 32767.0); };
  for (int i = 0; i < 512; ++i) {
    const double here = std::round(f(lo + i * step) * 32768), next = f(lo + (i + 1) * step) * 32768;
    const double error = std::round((next + here) / 2) - std::round(f(lo + i * step + step / 2) * 32768);
    t.set(i, clamped(here - std::round(error / 2)));
  }
  t.set(512, clamped(std::round(f(hi) * 32768)));
  return t;
}

}  // namespace
}  // namespace q_softmax_case

TEST(OpQSoftmax, CloseToTheRealSoftmaxForEveryType) {
  for (DType type : types_of(ops::q_softmax::Types{})) {
    const bool tables = type == DType::s16;
    const double scale = tables ? 0.0002 : 0.04;
    const FixedFactor f = fixed_factor(tables ? scale / (10.0 / 65535) : scale * (1 << 26));
    for (const Shape& shape : {Shape{7}, Shape{2, 3, 5}, Shape{2, 0}, Shape{0, 4}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
      for (DType to : {DType::s8, DType::u8, DType::s16}) {
        if (tables && to != DType::s16) continue;
        const Array x = full_range(type, shape, 4);
        std::vector<Array> inputs = {x};
        if (tables) inputs.push_back(q_softmax_case::table([](double v) { return std::exp(v); }, -10, 0));
        if (tables) inputs.push_back(q_softmax_case::table([](double v) { return 1 / (1 + v); }, 0, 1));
        const auto r =
            run(OpId::q_softmax, ops::q_softmax::Attrs{static_cast<uint32_t>(to), f.multiplier, f.shift, tables ? 0 : -700}, inputs);
        ASSERT_TRUE(r.ok()) << r.message();
        for_each_index(shape, [&](const Shape& i) {
          double sum = 0;
          Shape k = i;
          for (k.back() = 0; k.back() < shape.back(); ++k.back()) sum += std::exp((x.at(k) - x.at(i)) * scale);
          const double unit = to == DType::s16 ? (tables ? 32768 : 65536) : 256, base = tables ? 0 : ops::int_range(to).lo;
          EXPECT_NEAR((r.outputs[0].at(i) - base) / unit, 1 / sum, tables ? 2e-3 : 3e-3);
        });
      }
    }
  }
}

TEST(OpQSoftmax, ManyEqualElementsAndHostileTablesAreSafe) {
  const FixedFactor f = fixed_factor(0.04 * (1 << 26));
  EXPECT_TRUE(run(OpId::q_softmax, ops::q_softmax::Attrs{0, f.multiplier, f.shift, -700}, {Array(DType::s8, {9000})}).ok());
  const Array x = full_range(DType::s16, {9}, 1);
  for (const double v : {-32768.0, 0.0, 32767.0}) {
    Array t(DType::s16, {513});
    for (int i = 0; i < 513; ++i) t.set(i, v);
    EXPECT_TRUE(run(OpId::q_softmax, ops::q_softmax::Attrs{0, 1 << 30, 31, 0}, {x, t, t}).ok());
  }
}

TEST(OpQSoftmax, RefusesWhatDoesNotFit) {
  const Array x = full_range(DType::s8, {4}, 1), y = full_range(DType::s16, {4}, 1), t(DType::s16, {513});
  const auto why = [](const ops::q_softmax::Attrs& a, const std::vector<Array>& in) { return run(OpId::q_softmax, a, in).status.why(); };
  EXPECT_EQ(why({1, 1, 1, 0}, {x}), Why::kDType);
  EXPECT_EQ(why({5, 1, 1, 0}, {y, t, t}), Why::kDType);
  EXPECT_EQ(why({0, 1, 1, 1}, {x}), Why::kAttribute);
  EXPECT_EQ(why({0, 1, -1, 0}, {x}), Why::kAttribute);
  EXPECT_EQ(why({0, 1, 32, 0}, {x}), Why::kAttribute);
  EXPECT_EQ(why({0, 1, 1, 0}, {y}), Why::kInputMissing);
  EXPECT_EQ(why({0, 1, 1, 0}, {x, t, t}), Why::kInputCount);
  EXPECT_EQ(why({0, 1, 1, 0}, {y, t, Array(DType::s16, {512})}), Why::kDimMismatch);
  EXPECT_EQ(why({0, 1, 1, 0}, {Array(DType::s8, {})}), Why::kRank);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQSoftmax, AgreesWithTfliteInt8) {
  const ops::q_softmax::Attrs a{static_cast<uint32_t>(dtype_of<int8_t>), 1202590848, 23, -248};
  const auto r = run(OpId::q_softmax, a, {Array::of<int8_t>({2, 6}, {-37, 61, 99, 108, 31, -59, -109, 18, 13, 1, 6, -109})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-128, -122, -41, 35, -127, -128, -128, -23, -54, -96, -83, -128});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQSoftmax, AgreesWithTfliteUint8) {
  const ops::q_softmax::Attrs a{static_cast<uint32_t>(dtype_of<uint8_t>), 1202590848, 23, -248};
  const auto r = run(OpId::q_softmax, a, {Array::of<uint8_t>({2, 6}, {100, 31, 218, 226, 210, 121, 205, 205, 89, 17, 215, 152})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0, 77, 135, 44, 0, 63, 63, 0, 0, 128, 2});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQSoftmax, AgreesWithTfliteInt8ToInt16) {
  const ops::q_softmax::Attrs a{static_cast<uint32_t>(dtype_of<int16_t>), 1202590848, 23, -248};
  const auto r = run(OpId::q_softmax, a, {Array::of<int8_t>({2, 6}, {-14, 93, 115, 93, -125, -127, -3, 5, -69, -34, 16, 66})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-32763, -22935, 13097, -22935, -32768, -32768, -32271, -31898, -32763, -32711, -30889, 29460});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQSoftmax, AgreesWithTfliteInt16) {
  const ops::q_softmax::Attrs a{0, 1407353373, 2, 0};
  const auto r = run(OpId::q_softmax, a,
                     {Array::of<int16_t>({2, 6}, {16841, -27970, -7665, -15406, -13825, 20489, -4652, -1996, 31376, -3071, 16491, 30707}),
                      q_softmax_case::table([](double v) { return std::exp(v); }, -10, 0),
                      q_softmax_case::table([](double v) { return 1 / (1 + v); }, 0, 1)});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {6178, 2, 2, 2, 2, 26583, 1, 1, 18534, 1, 48, 14182});
}

}  // namespace mote::optest
