#include "mote/ops/cast/cast.h"

#include <limits>

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {
namespace cast_case {
namespace {

// Lowest and highest value of an integer type, as doubles one of which may be rounded up.
template <class... Ts>
void limits_of(DType type, double* lo, double* hi, TypeList<Ts...>) {
  ((type == dtype_of<Ts>
        ? (*lo = static_cast<double>(std::numeric_limits<Ts>::lowest()), *hi = static_cast<double>(std::numeric_limits<Ts>::max()))
        : 0),
   ...);
}

// What an element becomes, in exact arithmetic on the double that holds it.
double convert(double v, DType from, DType to) {
  if (to == DType::boolean) return v != 0 ? 1 : 0;
  if ((mask_of(to) & kFloat) != 0) return v;
  double lo = 0, hi = 0;
  limits_of(to, &lo, &hi, IntTypes{});
  if ((mask_of(from) & kFloat) != 0) return std::isnan(v) ? 0 : v <= lo ? lo : v >= hi ? hi : std::trunc(v);
  if (dtype_bytes(to) == 8) return v < 0 && to == DType::u64 ? v + 18446744073709551616.0 : v;
  const double period = std::ldexp(1, static_cast<int>(dtype_bits(to)));
  v = std::fmod(v, period);
  return v > hi ? v - period : v < lo ? v + period : v;
}

Array cast_bits(DType from, uint64_t bits, DType to) {
  Array x(from, {1});
  for (size_t i = 0; i < x.bytes().size(); ++i) x.bytes()[i] = static_cast<uint8_t>(bits >> (8 * i));
  return run(OpId::cast, ops::cast::Attrs{dtype_value(to)}, {x}).outputs.at(0);
}

}  // namespace
}  // namespace cast_case

TEST(OpCast, EveryPairOfTypes) {
  for (DType from : all_types()) {
    for (DType to : all_types()) {
      RunOptions options;
      options.in_place = dtype_bytes(from) == dtype_bytes(to);
      for (const Shape& shape : {Shape{}, Shape{40}, Shape{2, 0}, Shape{3, 4}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
        Array x = Array::random(from, shape, 9, -1000, 1000);
        if (from == DType::s8) x = Array::random(from, shape, 9, -128, 127);
        if (from == DType::u8) x = Array::random(from, shape, 9, 0, 255);
        if ((mask_of(from) & kFloat) != 0 && x.count() > 8) {
          const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 1e-3, 65504, 3e38, -3e38};
          for (int64_t i = 0; i < 8; ++i) x.set(i, special[i]);
        }
        const auto r = run(OpId::cast, ops::cast::Attrs{dtype_value(to)}, {x}, options);
        ASSERT_TRUE(r.ok()) << r.message();
        EXPECT_EQ(r.outputs[0].dtype(), to);
        const Array& y = r.outputs[0];
        for (int64_t i = 0; i < y.count(); ++i) {
          Array expected(to, {1});
          const double v = cast_case::convert(x.get(i), from, to);
          if ((mask_of(to) & kFloat) != 0) expected.set(0, v);
          EXPECT_TRUE(close(y.get(i), (mask_of(to) & kFloat) != 0 ? expected.get(0) : v, 0))
              << dtype_name(from) << " " << x.get(i) << " to " << dtype_name(to) << ": " << y.get(i);
        }
      }
    }
  }
}

TEST(OpCast, RoundsOnce) {
  // Half-way cases of the short type that a first rounding to f32 or f64 would hide.
  EXPECT_EQ(cast_case::cast_bits(DType::s64, (uint64_t{1} << 62) + (uint64_t{1} << 54) + 1, DType::bf16).get(0),
            std::ldexp(1.0, 62) + std::ldexp(1.0, 55));
  EXPECT_EQ(cast_case::cast_bits(DType::s64, (uint64_t{1} << 62) + (uint64_t{1} << 54), DType::bf16).get(0), std::ldexp(1.0, 62));
  EXPECT_EQ(cast_case::cast_bits(DType::u64, (uint64_t{1} << 63) + (uint64_t{1} << 55) + 1, DType::bf16).get(0),
            std::ldexp(1.0, 63) + std::ldexp(1.0, 56));
  EXPECT_EQ(cast_case::cast_bits(DType::s64, 0 - ((uint64_t{1} << 62) + (uint64_t{1} << 54) + 1), DType::bf16).get(0),
            -std::ldexp(1.0, 62) - std::ldexp(1.0, 55));
  EXPECT_EQ(cast_case::cast_bits(DType::s64, (uint64_t{1} << 62) + (uint64_t{1} << 38) + 1, DType::f32).get(0),
            std::ldexp(1.0, 62) + std::ldexp(1.0, 39));
  EXPECT_EQ(cast_case::cast_bits(DType::u64, ~uint64_t{0}, DType::f32).get(0), std::ldexp(1.0, 64));
  EXPECT_EQ(cast_case::cast_bits(DType::u64, ~uint64_t{0}, DType::f16).get(0), INFINITY);
  EXPECT_EQ(cast_case::cast_bits(DType::s32, 65519, DType::f16).get(0), 65504);
  EXPECT_EQ(cast_case::cast_bits(DType::s32, 65520, DType::f16).get(0), INFINITY);
  // 1 + 2^-11 + 2^-40 as f64: just above half way between two f16.
  EXPECT_EQ(cast_case::cast_bits(DType::f64, 0x3ff0000000000000ull + (uint64_t{1} << 41) + (uint64_t{1} << 12), DType::f16).get(0),
            1 + 1.0 / 1024);
}

TEST(OpCast, SaturatesAtTheLimitsOf64Bits) {
  const Array y =
      run(OpId::cast, ops::cast::Attrs{dtype_value(DType::s64)}, {Array::of<double>({4}, {9.3e18, -9.3e18, 9223372036854774784.0, NAN})})
          .outputs.at(0);
  int64_t v[4];
  std::memcpy(v, y.bytes().data(), sizeof v);
  EXPECT_EQ(v[0], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(v[1], std::numeric_limits<int64_t>::lowest());
  EXPECT_EQ(v[2], 9223372036854774784);
  EXPECT_EQ(v[3], 0);
}

TEST(OpCast, BoolFromAnyByteAndRows) {
  EXPECT_EQ(cast_case::cast_bits(DType::boolean, 2, DType::f32).get(0), 1);
  RunOptions options;
  options.rows = {1, 2};
  const auto r = run(OpId::cast, ops::cast::Attrs{dtype_value(DType::s16)}, {Array::of<float>({1, 3, 1}, {1, -2.7, 3})}, options);
  ASSERT_TRUE(r.ok()) << r.message();
  EXPECT_EQ(r.outputs[0].get(1), -2);
}

TEST(OpCast, Refuses) {
  for (int32_t to : {0, -1, 16, 1 << 30, dtype_value(DType::s4)})
    EXPECT_EQ(refusal(OpId::cast, ops::cast::Attrs{to}, {sample(DType::f32, {1}, 1)}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::cast, ops::cast::Attrs{1}, {Array(DType::u4, {2})}), Why::kDType);
}

}  // namespace mote::optest
