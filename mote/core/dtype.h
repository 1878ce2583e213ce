#pragma once

#include <cstdint>

#include "mote/core/half.h"

namespace mote {

// Element types. Values are part of the program format.
enum class DType : uint8_t {
  kNone = 0,
#define MOTE_DTYPE(value, name, type, bits) name = value,
#include "mote/core/dtype.def"
#undef MOTE_DTYPE
};

constexpr uint8_t kDTypeCount = 16;  // one more than the largest value

// Bits per element; 0 for a value that is no element type.
inline constexpr uint8_t kDTypeBits[kDTypeCount] = {0, 32, 64, 16, 16, 8, 8, 16, 16, 32, 32, 64, 64, 8, 4, 4};
constexpr uint32_t dtype_bits(DType t) { return static_cast<uint8_t>(t) < kDTypeCount ? kDTypeBits[static_cast<uint8_t>(t)] : 0; }
// Bytes per element; 0 for the 4-bit types, which have no byte of their own.
constexpr uint32_t dtype_bytes(DType t) { return dtype_bits(t) / 8; }

const char* dtype_name(DType t) noexcept;          // "f32"; host texts, see dtype_text.cc
DType dtype_from_name(const char* name) noexcept;  // kNone when unknown

// A set of element types.
using DTypeMask = uint32_t;
constexpr DTypeMask mask_of(DType t) { return 1u << static_cast<uint8_t>(t); }

template <class T>
struct DTypeOf;
#define MOTE_DTYPE(value, name, type, bits)                                                           \
  template <>                                                                                         \
  struct DTypeOf<type> {                                                                              \
    static constexpr DType value_ = DType::name;                                                      \
    static_assert(dtype_bits(DType::name) == (bits), "the table in dtype_bits must match dtype.def"); \
  };
#include "mote/core/dtype.def"
#undef MOTE_DTYPE
template <class T>
constexpr DType dtype_of = DTypeOf<T>::value_;

template <class... Ts>
struct TypeList {};
template <class... Ts>
constexpr DTypeMask mask_of_list(TypeList<Ts...>) {
  return (0u | ... | mask_of(dtype_of<Ts>));
}

using FloatTypes = TypeList<float, double, f16, bf16>;
using SignedTypes = TypeList<int8_t, int16_t, int32_t, int64_t>;
using IntTypes = TypeList<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
using NumberTypes = TypeList<float, double, f16, bf16, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
using AllTypes = TypeList<float, double, f16, bf16, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, bool>;

constexpr DTypeMask kFloat = mask_of_list(FloatTypes{});
constexpr DTypeMask kInt = mask_of_list(IntTypes{});
constexpr DTypeMask kNumber = kFloat | kInt;
constexpr DTypeMask kBool = mask_of(DType::boolean);
constexpr DTypeMask kAny = kNumber | kBool;
constexpr DTypeMask kIndex = mask_of(DType::s32) | mask_of(DType::s64);

// The type in which arithmetic on T happens: float for the 16-bit floats, T itself otherwise.
template <class T>
struct ComputeOf {
  using type = T;
};
template <>
struct ComputeOf<f16> {
  using type = float;
};
template <>
struct ComputeOf<bf16> {
  using type = float;
};
template <class T>
using Compute = typename ComputeOf<T>::type;

template <class T>
constexpr bool is_float_v = (mask_of(dtype_of<T>) & kFloat) != 0;

}  // namespace mote
