#include "mote/fleet/base/clock.h"

#include <chrono>
#include <ctime>

namespace mote::fleet {

int64_t SystemClock::now() { return static_cast<int64_t>(std::time(nullptr)); }

int64_t SystemClock::monotonic_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace mote::fleet
