#pragma once

// What the quantized operators share: ranges, conversion of floats, reading of integers whose type is known only when running.

#include <cmath>
#include <initializer_list>

#include "mote/core/op.h"
#include "mote/ops/common/fixed_point.h"

namespace mote::ops {

struct IntRange {
  int32_t lo = 0, hi = 0;
};

// The values of an integer type of at most 32 bits; 0..0 for others.
constexpr IntRange int_range(DType t) {
  switch (t) {
    case DType::s4: return {-8, 7};
    case DType::u4: return {0, 15};
    case DType::s8: return {-128, 127};
    case DType::u8: return {0, 255};
    case DType::s16: return {-32768, 32767};
    case DType::u16: return {0, 65535};
    case DType::s32: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    default: return {0, 0};
  }
}
inline int32_t clamp_to(int64_t v, IntRange r) { return clamp_to(v, r.lo, r.hi); }

constexpr DTypeMask kQuant8 = mask_of(DType::s8) | mask_of(DType::u8);
constexpr DTypeMask kQuant = kQuant8 | mask_of(DType::s16);
constexpr int32_t kNoClampLo = std::numeric_limits<int32_t>::min(), kNoClampHi = std::numeric_limits<int32_t>::max();

// How a real number becomes a whole one. Values are part of the program format.
enum class Rounding : uint32_t { kHalfEven = 0, kHalfAway = 1 };

// Saturates; NaN gives 0.
template <class C>
int32_t round_to_s32(C x, Rounding rounding = Rounding::kHalfEven) {
  if (!(x == x)) return 0;
  if (x >= static_cast<C>(2147483647.0)) return std::numeric_limits<int32_t>::max();
  if (x <= static_cast<C>(-2147483648.0)) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(rounding == Rounding::kHalfAway ? std::round(x) : std::nearbyint(x));
}
// round(x) + zero, saturated to the range.
template <class C>
int32_t quantize_value(C x, int32_t zero, IntRange range, Rounding rounding = Rounding::kHalfEven) {
  return clamp_to(int64_t{round_to_s32(x, rounding)} + zero, range);
}

// Byte strides of a tensor; for 4-bit types, which have no gaps, strides in elements.
struct Strides {
  int32_t of[kMaxRank] = {};
  explicit Strides(const TensorDesc& d) {
    int32_t dense = 1;
    for (int i = d.rank - 1; i >= 0; --i) {
      of[i] = dtype_bytes(d.dtype) == 0 ? dense : d.strides[i];
      dense *= d.dims[i];
    }
  }
};

// The integer at an offset as Strides count it.
inline int32_t load_int(const Tensor& t, int32_t offset) {
  const uint8_t* p = t.as<const uint8_t>();
  switch (t.dtype()) {
    case DType::s8: return static_cast<int8_t>(p[offset]);
    case DType::u8: return p[offset];
    case DType::s16: return *reinterpret_cast<const int16_t*>(p + offset);
    case DType::u16: return *reinterpret_cast<const uint16_t*>(p + offset);
    case DType::s32: return *reinterpret_cast<const int32_t*>(p + offset);
    case DType::s4:
    case DType::u4: {
      const int32_t v = offset % 2 != 0 ? p[offset / 2] >> 4 : p[offset / 2] & 15;
      return t.dtype() == DType::s4 && v >= 8 ? v - 16 : v;
    }
    default: return 0;
  }
}
// Stores into an integer type of 8, 16 or 32 bits; the value is in range.
inline void store_int(const Tensor& t, int32_t offset, int32_t v) {
  uint8_t* p = t.as<uint8_t>() + offset;
  switch (dtype_bytes(t.dtype())) {
    case 1: *p = static_cast<uint8_t>(v); return;
    case 2: *reinterpret_cast<uint16_t*>(p) = static_cast<uint16_t>(v); return;
    default: *reinterpret_cast<int32_t*>(p) = v; return;
  }
}

// Element `i` of a short vector (rank 0 or 1), whatever its integer type.
inline int32_t vector_int(const Tensor& t, int32_t i) {
  return load_int(t, dtype_bytes(t.dtype()) == 0 ? i : i * static_cast<int32_t>(dtype_bytes(t.dtype())));
}

// --- checks for infer() ---

// The element type an attribute names; kNone when it names none of `types`.
inline DType named_type(uint32_t value, DTypeMask types) {
  return value < kDTypeCount && (types >> value & 1) != 0 ? static_cast<DType>(value) : DType::kNone;
}
inline Status check_zero(const InferContext& c, int32_t zero, DType type) noexcept {
  const IntRange r = int_range(type);
  return zero < r.lo || zero > r.hi ? c.reject(Why::kAttribute, zero < r.lo ? r.lo : r.hi, zero) : Status(Status::kOk);
}
inline Status check_clamp(const InferContext& c, int32_t lo, int32_t hi, DType type) noexcept {
  const IntRange r = int_range(type);
  return lo > hi || lo > r.hi || hi < r.lo ? c.reject(Why::kAttribute, lo, hi) : Status(Status::kOk);
}
inline IntRange clamp_range(int32_t lo, int32_t hi, DType type) {
  const IntRange r = int_range(type);
  return {lo > r.lo ? lo : r.lo, hi < r.hi ? hi : r.hi};
}
// An optional vector input: rank 0 or 1, with one element or `count`.
inline Status check_vector(const InferContext& c, int i, DTypeMask types, int64_t count) noexcept {
  if (!c.has(i)) return Status::kOk;
  const TensorDesc& d = c.in(i);
  if ((mask_of(d.dtype) & types) == 0) return c.require(i, types);
  if (d.rank > 1) return c.reject(Why::kRank, 1, d.rank);
  const int32_t n = d.rank == 1 ? d.dims[0] : 1;
  return n != 1 && n != count ? c.reject(Why::kDimMismatch, count, n) : Status(Status::kOk);
}

}  // namespace mote::ops
