#pragma once

// What operators on 8-bit numbers share: u8 is computed as s8 with its highest bit flipped.

#include <cstring>

#include "mote/backends/common/piece.h"

namespace mote::backends::opencl {

inline bool is_byte(DType t) { return t == DType::s8 || t == DType::u8; }

inline int32_t flip_of(DType t) { return t == DType::u8 ? 0x80 : 0; }
// A zero point of bytes whose highest bit is flipped.
inline int32_t zero_of(DType t, int32_t zero) { return t == DType::u8 ? zero - 128 : zero; }

// Element k of a constant with one element or one of each channel.
template <class T>
T element(const Operand& o, int32_t k) {
  T v;
  std::memcpy(&v, static_cast<const uint8_t*>(o.data) + (o.count() == 1 ? 0 : static_cast<size_t>(k) * sizeof(T)), sizeof v);
  return v;
}

}  // namespace mote::backends::opencl
