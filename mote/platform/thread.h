#pragma once

#include <cstddef>
#include <cstdint>

namespace mote {

// A thread of the system, started once and joined once.
class Thread {
 public:
  // Calls body(context) on a new thread. False when the system gives none.
  bool start(void (*body)(void* context), void* context) noexcept;
  void join() noexcept;

 private:
  alignas(8) uint8_t handle_[16];
  void (*body_)(void*) = nullptr;
  void* context_ = nullptr;
  friend struct ThreadEntry;
};

// A lock, and a place to sleep until someone wakes all who sleep there.
class Gate {
 public:
  Gate() noexcept;
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void lock() noexcept;
  void unlock() noexcept;
  void sleep() noexcept;  // locked before and after
  void wake_all() noexcept;

 private:
  alignas(16) uint8_t state_[128];
};

// Tells the processor that this thread waits for another one.
void relax() noexcept;
// Lets another thread run on this processor.
void yield_processor() noexcept;

}  // namespace mote
