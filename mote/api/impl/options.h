#pragma once

#include <cstddef>
#include <cstring>

namespace mote::api {

// Structs of the C interface begin with the size their author knew. What one side does not know is zero.
// Every version's size is a multiple of a pointer's; another one would cut a pointer in two.
constexpr bool is_struct_size(size_t size) noexcept { return size >= sizeof(size_t) && size % sizeof(size_t) == 0; }

template <class T>
bool read_struct(const T* from, T* to) noexcept {
  std::memset(static_cast<void*>(to), 0, sizeof(T));
  if (from == nullptr) return true;
  if (!is_struct_size(from->struct_size)) return false;
  std::memcpy(to, from, from->struct_size < sizeof(T) ? from->struct_size : sizeof(T));
  return true;
}

template <class T>
bool write_struct(const T& from, T* to) noexcept {
  if (to == nullptr || !is_struct_size(to->struct_size)) return false;
  const size_t size = to->struct_size;
  std::memcpy(static_cast<void*>(to), &from, size < sizeof(T) ? size : sizeof(T));
  to->struct_size = size;
  return true;
}

}  // namespace mote::api
