#include "mote/compiler/frontends/onnx/narrow.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "mote/compiler/frontends/onnx/importer.h"

namespace mote::frontends::onnx {
namespace {

using ::onnx::TensorProto;

constexpr NarrowType kTypes[] = {
    {TensorProto::FLOAT8E4M3FN, "float8e4m3fn", NarrowKind::kNanOnly, true, 8, 3, 7},
    {TensorProto::FLOAT8E4M3FNUZ, "float8e4m3fnuz", NarrowKind::kUnsignedZero, true, 8, 3, 8},
    {TensorProto::FLOAT8E5M2, "float8e5m2", NarrowKind::kInfinite, true, 8, 2, 15},
    {TensorProto::FLOAT8E5M2FNUZ, "float8e5m2fnuz", NarrowKind::kUnsignedZero, true, 8, 2, 16},
    {TensorProto::FLOAT8E8M0, "float8e8m0", NarrowKind::kExponent, false, 8, 0, 127},
    {TensorProto::FLOAT4E2M1, "float4e2m1", NarrowKind::kFinite, true, 4, 1, 1},
    {TensorProto::INT4, "int4", NarrowKind::kInteger, true, 4, 0, 0},
    {TensorProto::UINT4, "uint4", NarrowKind::kInteger, false, 4, 0, 0},
    {TensorProto::INT2, "int2", NarrowKind::kInteger, true, 2, 0, 0},
    {TensorProto::UINT2, "uint2", NarrowKind::kInteger, false, 2, 0, 0},
};

constexpr uint8_t kPowerNan = 0xff;

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// What a code without a sign would mean if none stood for an infinity or NaN: so one behind the largest number has a place to round to.
double magnitude(const NarrowType& t, int code) {
  const int exponent = code >> t.mantissa_bits, fraction = code & ((1 << t.mantissa_bits) - 1), unit = 1 - t.bias - t.mantissa_bits;
  return exponent == 0 ? std::ldexp(fraction, unit) : std::ldexp((1 << t.mantissa_bits) + fraction, unit + exponent - 1);
}

int largest_code(const NarrowType& t) {
  const int all = (1 << (t.bits - 1)) - 1;
  return t.kind == NarrowKind::kInfinite ? all - (1 << t.mantissa_bits) : t.kind == NarrowKind::kNanOnly ? all - 1 : all;
}

// The exponent's bits alone count; the sign does not. Follows the `onnx` package bit by bit.
uint8_t encode_power(float x, const EncodeRule& rule) {
  constexpr uint32_t kHalf = 0x400000, kFraction = 0x7fffff, kLargest = 254;
  const uint32_t bits = bits_of(x), exponent = bits >> 23 & 255;
  if (exponent == 255) return kPowerNan;
  bool up = false;
  if (rule.power == PowerRounding::kUp) up = (bits & kFraction) != 0;
  if (rule.power == PowerRounding::kNearest) up = (bits & kHalf) != 0 && ((bits & (kHalf - 1)) != 0 || exponent > 0);
  if (exponent == kLargest && rule.saturate) up = false;
  return static_cast<uint8_t>(exponent + (up ? 1 : 0));
}

uint8_t nan_code(const NarrowType& t, int sign) {
  const int top = 1 << (t.bits - 1);
  switch (t.kind) {
    case NarrowKind::kUnsignedZero: return static_cast<uint8_t>(top);
    case NarrowKind::kFinite: return static_cast<uint8_t>(sign == 0 ? top : 0);  // no NaN: a zero of the other sign, as ml_dtypes has it
    case NarrowKind::kInfinite: return static_cast<uint8_t>(sign | 0x7e);
    default: return static_cast<uint8_t>(sign | (top - 1));
  }
}

}  // namespace

const NarrowType* narrow_type(int onnx_type) {
  for (const NarrowType& t : kTypes)
    if (t.onnx == onnx_type) return &t;
  return nullptr;
}

DType storage_of(int onnx_type) {
  const NarrowType* t = narrow_type(onnx_type);
  return t != nullptr ? t->storage() : to_dtype(onnx_type);
}

float decode(const NarrowType& t, uint8_t code) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  if (t.kind == NarrowKind::kInteger) return t.is_signed ? static_cast<float>(static_cast<int8_t>(code)) : static_cast<float>(code);
  if (t.kind == NarrowKind::kExponent) return code == kPowerNan ? kNan : std::ldexp(1.0f, code - t.bias);
  const int top = 1 << (t.bits - 1), sign = code & top, rest = code & (top - 1);
  float x = static_cast<float>(magnitude(t, rest));
  if (rest > largest_code(t)) x = t.kind == NarrowKind::kInfinite && rest == largest_code(t) + 1 ? kInfinity : kNan;
  if (t.kind == NarrowKind::kUnsignedZero && sign != 0 && rest == 0) return -kNan;  // its bits are a sign alone
  return sign != 0 ? -x : x;
}

uint8_t encode(const NarrowType& t, float x, const EncodeRule& rule) {
  if (t.kind == NarrowKind::kExponent) return encode_power(x, rule);
  const int top = 1 << (t.bits - 1), sign = (bits_of(x) >> 31) != 0 ? top : 0, largest = largest_code(t);
  if (std::isnan(x)) return nan_code(t, sign);
  const double a = std::fabs(static_cast<double>(x));
  int code = 0;  // the last one not above a
  for (int step = top; step > 0; step >>= 1)
    if (code + step <= largest + 1 && magnitude(t, code + step) <= a) code += step;
  if (code <= largest) {
    const double below = a - magnitude(t, code), above = magnitude(t, code + 1) - a;
    if (below > above || (below == above && (code & 1) != 0)) ++code;
  }
  if (code > largest) {
    const bool saturate = rule.saturate || t.kind == NarrowKind::kFinite;
    if (!saturate && t.kind != NarrowKind::kInfinite) return nan_code(t, sign);
    code = saturate ? largest : largest + 1;
  }
  if (code == 0 && t.kind == NarrowKind::kUnsignedZero) return 0;
  return static_cast<uint8_t>(sign | code);
}

}  // namespace mote::frontends::onnx
