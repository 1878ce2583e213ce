#pragma once

// What the backends that take pieces may allocate for one: a small file can ask for any amount, and the memory limit of an instance counts
// what the instance has, not what its backends have.

#include <cstdint>

namespace mote::backends {

class MemoryBudget {
 public:
  // MOTE_BACKEND_MEMORY=BYTES; no limit without it.
  MemoryBudget();
  // Counts what is about to be allocated; throws std::bad_alloc beyond the limit.
  void take(uint64_t bytes);

 private:
  uint64_t left_;
};

}  // namespace mote::backends
