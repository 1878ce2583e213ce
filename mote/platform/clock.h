#pragma once

#include <cstdint>

namespace mote {

// Nanoseconds since a fixed moment of this boot, never going back. Any thread. On a board without a clock: always 0.
uint64_t clock_now_ns() noexcept;

// The same as RunLimits::now wants it.
inline uint64_t clock_for_limits(void*) { return clock_now_ns(); }

}  // namespace mote
