#pragma once

#include <sys/auxv.h>

#include <cstdint>

#include "mote/core/cpu.h"

namespace mote {

// Detection on Linux for Arm: a bit of the auxiliary vector that a feature stands for. word: 1 for AT_HWCAP, 2 for AT_HWCAP2.
struct Hwcap {
  uint32_t feature;
  int word, bit;
};

// The features all of whose bits are set.
template <int N>
uint32_t features_of(const Hwcap (&hwcaps)[N]) noexcept {
  uint32_t known = 0, missing = 0;
  for (const Hwcap& h : hwcaps) {
    known |= h.feature;
    if ((getauxval(h.word == 1 ? AT_HWCAP : AT_HWCAP2) >> h.bit & 1) == 0) missing |= h.feature;
  }
  return known & ~missing;
}

}  // namespace mote
