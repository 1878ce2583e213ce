#pragma once

#include <cstdint>

namespace mote::fleet {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t now() = 0;           // seconds since 1970, UTC; may be wrong, may jump
  virtual int64_t monotonic_ms() = 0;  // since some start; never goes back
  virtual void sleep_ms(int64_t ms) = 0;
};

class SystemClock : public Clock {
 public:
  int64_t now() override;
  int64_t monotonic_ms() override;
  void sleep_ms(int64_t ms) override;
};

}  // namespace mote::fleet
