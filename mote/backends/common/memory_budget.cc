#include "mote/backends/common/memory_budget.h"

#include <cstdlib>
#include <new>

#include "mote/core/size.h"

namespace mote::backends {

MemoryBudget::MemoryBudget() : left_(kTooLarge) {
  const char* wish = std::getenv("MOTE_BACKEND_MEMORY");
  if (wish != nullptr && wish[0] != 0) left_ = std::strtoull(wish, nullptr, 10);
}

void MemoryBudget::take(uint64_t bytes) {
  if (bytes > left_) throw std::bad_alloc();
  left_ -= bytes;
}

}  // namespace mote::backends
