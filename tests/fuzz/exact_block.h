#pragma once

#include <cstdlib>
#include <cstring>
#include <utility>

#include "mote/core/span.h"

namespace mote::fuzz {

// A heap block of exactly `size` bytes, so that a sanitizer sees the first byte past its end.
class ExactBlock {
 public:
  explicit ExactBlock(size_t size, size_t alignment = 64, uint8_t fill = 0xa5) : size_(size) {
    if (posix_memalign(&data_, alignment, size > 0 ? size : 1) != 0) std::abort();
    std::memset(data_, fill, size);
  }
  ~ExactBlock() { std::free(data_); }
  ExactBlock(ExactBlock&& o) noexcept : data_(std::exchange(o.data_, nullptr)), size_(o.size_) {}
  ExactBlock& operator=(ExactBlock&&) = delete;

  uint8_t* data() const { return static_cast<uint8_t*>(data_); }
  size_t size() const { return size_; }
  ByteSpan span() const { return {data(), size_}; }

 private:
  void* data_ = nullptr;
  size_t size_;
};

}  // namespace mote::fuzz
