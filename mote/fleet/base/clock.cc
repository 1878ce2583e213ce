#include "mote/fleet/base/clock.h"

#include <chrono>
#include <ctime>
#include <thread>

namespace mote::fleet {

int64_t SystemClock::now() { return static_cast<int64_t>(std::time(nullptr)); }

int64_t SystemClock::monotonic_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void SystemClock::sleep_ms(int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace mote::fleet
