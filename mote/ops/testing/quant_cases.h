#pragma once

// For tests of quantized operators: their arithmetic in double, from its definition.

#include <cmath>

#include "mote/ops/common/quant.h"
#include "mote/ops/testing/harness.h"

namespace mote::optest {

// A real factor as TFLite writes it: multiplier / 2^31 * 2^shift.
struct FixedFactor {
  int32_t multiplier = 0, shift = 0;
};
inline FixedFactor fixed_factor(double real) {
  FixedFactor f;
  int exponent = 0;
  const double whole = std::round(std::frexp(real, &exponent) * 2147483648.0);
  f.multiplier = static_cast<int32_t>(whole == 2147483648.0 ? whole / 2 : whole);
  f.shift = whole == 2147483648.0 ? exponent + 1 : exponent;
  return f;
}
// x times the factor: rounded half up at 2^-31, then half away from zero at the right shift.
inline double tflite_scaled(double x, FixedFactor f) {
  const double left = x * std::ldexp(1.0, f.shift > 0 ? f.shift : 0);
  // 62 bits: the product needs a whole number with more bits than double has.
  const int64_t product = static_cast<int64_t>(left) * f.multiplier;
  const int64_t high = product / (int64_t{1} << 31), rest = product % (int64_t{1} << 31);
  const double rounded = static_cast<double>(high) + std::floor(static_cast<double>(rest) / 2147483648.0 + 0.5);
  return std::round(std::ldexp(rounded, f.shift < 0 ? f.shift : 0));
}
inline double saturated(double v, DType t) {
  const ops::IntRange r = ops::int_range(t);
  return std::fmin(std::fmax(v, r.lo), r.hi);
}
inline Array full_range(DType t, const Shape& shape, uint32_t seed) {
  const ops::IntRange r = ops::int_range(t);
  return Array::random(t, shape, seed, r.lo, r.hi);
}
// A zero point that fits the type.
inline int32_t some_zero(DType t) { return t == DType::u8 ? 121 : t == DType::s8 ? -5 : 0; }

// Rows [1, 3) of dimension 1 come out the same when only they are computed.
template <class A>
void check_row_range(OpId op, const A& attrs, const std::vector<Array>& inputs) {
  RunOptions options;
  options.rows = {1, 3};
  const auto whole = run(op, attrs, inputs), part = run(op, attrs, inputs, options);
  ASSERT_TRUE(whole.ok() && part.ok()) << part.message();
  for_each_index(whole.outputs[0].shape(), [&](const Shape& i) {
    if (i[1] != 1 && i[1] != 2) return;
    EXPECT_EQ(whole.outputs[0].at(i), part.outputs[0].at(i));
  });
}

inline Array int_vector(const std::vector<double>& values) { return Array::of<int32_t>({static_cast<int32_t>(values.size())}, values); }
inline Array real_vector(const std::vector<double>& values) { return Array::of<float>({static_cast<int32_t>(values.size())}, values); }

}  // namespace mote::optest
