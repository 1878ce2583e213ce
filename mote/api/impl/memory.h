#pragma once

// Memory of the C layer: everything goes through the caller's allocator, every failure is visible, nothing throws.

#include <cstddef>
#include <cstdint>
#include <new>

#include "mote/core/size.h"

namespace mote::api {

void* allocate(size_t bytes, size_t alignment) noexcept;  // null when there is none
void release(void* memory) noexcept;

// What an allocation counts for under a memory limit: an allocator may go past almost a whole step of an alignment beyond the usual.
constexpr size_t kUsualAlignment = 16;
inline uint64_t footprint(uint64_t bytes, size_t alignment) noexcept {
  return alignment > kUsualAlignment ? plus(bytes, alignment - kUsualAlignment) : bytes;
}

// An object in that memory, or null.
template <class T, class... Args>
T* make(Args&&... args) noexcept {
  void* p = allocate(sizeof(T), alignof(T));
  return p != nullptr ? new (p) T{static_cast<Args&&>(args)...} : nullptr;
}
template <class T>
void destroy(T* object) noexcept {
  if (object == nullptr) return;
  object->~T();
  release(object);
}

// A fixed number of plain elements, zeroed. Move-less: lives inside a handle.
template <class T>
class Array {
 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { release(data_); }

  bool resize(size_t count) noexcept {  // once
    if (count == 0) return true;
    if (count > SIZE_MAX / sizeof(T)) return false;
    data_ = static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
    if (data_ == nullptr) return false;
    size_ = count;
    for (size_t i = 0; i < count; ++i) new (&data_[i]) T{};
    return true;
  }
  T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace mote::api
