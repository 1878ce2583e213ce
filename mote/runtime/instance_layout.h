#pragma once

#include <cstring>

#include "mote/core/op.h"

namespace mote {

// One instruction, resolved: what the executor reads to call a kernel.
struct Call {
  union {
    KernelFn kernel;   // kStatic
    const OpDef* def;  // kDynamic
    void* handle;      // kDelegate: what the backend's init gave
  };
  const void* attrs;
  const int32_t* operands;
  uint16_t input_count;
  uint8_t output_count;
  uint8_t kind;  // CallKind
};

// An open if, loop or strip range.
struct Frame {
  uint32_t control;  // the instruction that opened it
  uint32_t end;      // first instruction behind it
  uint32_t trip, trips;
};

// What instance memory holds, in this order: tensors, calls, frames, descriptors of dynamic tensors, extended attributes.
// The sizes for both pointer widths can be computed anywhere; certificates state them.
struct InstanceLayout {
  uint32_t tensors = 0, calls = 0, frames = 0, dynamic = 0;

  // A table has less than 2^31 bytes, 80 for each tensor and 16 for each call: the words fit 32 bits, the bytes may not.
  constexpr uint64_t bytes(uint32_t pointer) const { return uint64_t{tensors * 2 + calls * 4} * pointer + (frames * 16 + dynamic * 80); }
};
static_assert(sizeof(Tensor) == 2 * sizeof(void*) && sizeof(Call) == 4 * sizeof(void*) && sizeof(Frame) == 16, "InstanceLayout must match");

// Outside of strips every row is computed; inside, a kernel is chosen for a part of them.
constexpr Rows kSomeRows{0, 1};

// Points a context at one instruction's operands and attributes.
inline void set_call(OpContext& c, const Call& call) {
  c.operands = call.operands;
  c.attr_bytes = call.attrs;
  c.input_count = call.input_count;
  c.output_count = call.output_count;
}

inline void extend_attrs(const void* from, uint32_t from_bytes, uint32_t to_bytes, void* to) {
  std::memcpy(to, from, from_bytes);
  std::memset(static_cast<uint8_t*>(to) + from_bytes, 0, to_bytes - from_bytes);
}

}  // namespace mote
