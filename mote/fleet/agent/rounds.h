#pragma once

// When the daemon looks for updates.

#include <algorithm>
#include <cstdint>

namespace mote::fleet::agent {

constexpr int64_t kTrialPollMs = 1000, kFirstRetryMs = 30'000;

// Milliseconds until the next round: the interval, or after `failures` in a row half a minute that doubles each time; a tenth more or less
// by `chance`, so that a fleet does not come all at once.
inline int64_t next_round_ms(uint64_t interval_seconds, uint32_t failures, uint32_t chance) {
  const int64_t interval = static_cast<int64_t>(std::min<uint64_t>(interval_seconds, 30 * 86400)) * 1000;
  int64_t wait = interval;
  if (failures > 0) wait = std::min(interval, kFirstRetryMs << std::min(failures - 1, 16u));
  return wait - wait / 10 + static_cast<int64_t>(chance % static_cast<uint32_t>(wait / 5 + 1));
}

}  // namespace mote::fleet::agent
