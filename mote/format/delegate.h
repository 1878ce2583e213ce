#pragma once

#include "mote/format/program.h"

namespace mote {

// The attributes of a delegate with a fallback: the instructions that follow compute the same without the backend. They run in its place
// when it cannot be had, and only then; without a fallback the attributes are DelegateAttrs alone.
struct DelegateRange {
  DelegateAttrs call;
  uint32_t fallback_count;
};

// The attributes of a delegate that need not be waited for at once: `overlap_count` instructions behind the fallback neither touch its
// outputs nor write to its inputs, and may run while the backend works.
struct DelegateOverlap {
  DelegateRange range;
  uint32_t overlap_count;
};

inline uint32_t fallback_count(const Instruction& n, const void* attrs) {
  return n.attrs_size >= sizeof(DelegateRange) ? static_cast<const DelegateRange*>(attrs)->fallback_count : 0;
}
inline uint32_t overlap_count(const Instruction& n, const void* attrs) {
  return n.attrs_size == sizeof(DelegateOverlap) ? static_cast<const DelegateOverlap*>(attrs)->overlap_count : 0;
}

}  // namespace mote
