#pragma once

// Memory with a page behind it that nobody may touch: what libraries and drivers do past its end is seen too, which no sanitizer compiled.

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace mote::backends {

class Fenced {
 public:
  // Ends at the page, but for what 16-byte alignment leaves.
  explicit Fenced(size_t bytes) : pages_((bytes + kPage - 1) / kPage * kPage + kPage) {
    void* p = mmap(nullptr, pages_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) std::abort();
    base_ = static_cast<uint8_t*>(p);
    if (mprotect(base_ + pages_ - kPage, kPage, PROT_NONE) != 0) std::abort();
    data_ = base_ + pages_ - kPage - (bytes + 15) / 16 * 16;
  }
  ~Fenced() { munmap(base_, pages_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  uint8_t* data() const { return data_; }

 private:
  static constexpr size_t kPage = 4096;
  size_t pages_;
  uint8_t *base_, *data_;
};

}  // namespace mote::backends
