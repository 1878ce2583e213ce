#pragma once

// Element types that no DType stands for: floats of 8 and 4 bits, integers of 4 and 2. Values of them are codes in the graph, one to a
// byte: u8 the bits of a float or an unsigned integer, s8 a signed integer. Entity::element says which type the codes are of.

#include <cstdint>

#include "mote/core/dtype.h"

namespace mote::frontends::onnx {

// A float has a sign (but float8e8m0), `exponent_bits` and `mantissa_bits`; the type's own rules say what its last codes mean.
enum class NarrowKind : uint8_t {
  kInteger,
  kInfinite,      // infinities and NaN, as IEEE 754 has them: float8e5m2
  kNanOnly,       // no infinities, NaN where all bits are ones: float8e4m3fn
  kUnsignedZero,  // no infinities, NaN in the place of -0: the *fnuz types
  kFinite,        // numbers alone: float4e2m1
  kExponent,      // powers of two without a sign, and NaN: float8e8m0
};

struct NarrowType {
  int onnx;          // TensorProto.DataType
  const char* name;  // "float8e4m3fn", for people and for the program's evidence
  NarrowKind kind;
  bool is_signed;
  int bits, mantissa_bits, bias;

  bool is_float() const { return kind != NarrowKind::kInteger; }
  DType storage() const { return !is_float() && is_signed ? DType::s8 : DType::u8; }
  int low() const { return is_signed ? -(1 << (bits - 1)) : 0; }  // least and greatest integer
  int high() const { return is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1; }
};

// Null where the type is none of them.
const NarrowType* narrow_type(int onnx_type);

// Constants of these stay two to a byte until an operator wants codes: weights of 4 bits have kernels.
inline bool has_packed_kernels(const NarrowType& t) { return !t.is_float() && t.bits == 4; }

// The type itself where it is one of them, else 0: for Entity::element.
inline int narrow_element(int onnx_type) { return narrow_type(onnx_type) != nullptr ? onnx_type : 0; }

// What a DType of the graph an ONNX type's values have: that of the codes for narrow types. kNone when there is none.
DType storage_of(int onnx_type);

// How numbers become codes, as Cast has it.
enum class PowerRounding : uint8_t { kUp, kDown, kNearest };  // of float8e8m0
struct EncodeRule {
  bool saturate = true;  // beyond the largest number: that number; otherwise infinity or NaN
  PowerRounding power = PowerRounding::kUp;
};

float decode(const NarrowType& type, uint8_t code);
uint8_t encode(const NarrowType& type, float x, const EncodeRule& rule);

}  // namespace mote::frontends::onnx
