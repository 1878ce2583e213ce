#pragma once

#include <cstddef>
#include <cstring>

namespace mote::api {

// Structs of the C interface begin with the size their author knew. What one side does not know is zero.
template <class T>
bool read_struct(const T* from, T* to) noexcept {
  std::memset(static_cast<void*>(to), 0, sizeof(T));
  if (from == nullptr) return true;
  if (from->struct_size < sizeof(size_t)) return false;
  std::memcpy(to, from, from->struct_size < sizeof(T) ? from->struct_size : sizeof(T));
  return true;
}

template <class T>
bool write_struct(const T& from, T* to) noexcept {
  if (to == nullptr || to->struct_size < sizeof(size_t)) return false;
  const size_t size = to->struct_size;
  std::memcpy(static_cast<void*>(to), &from, size < sizeof(T) ? size : sizeof(T));
  to->struct_size = size;
  return true;
}

}  // namespace mote::api
