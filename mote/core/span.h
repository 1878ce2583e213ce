#pragma once

#include <cstddef>
#include <cstdint>

namespace mote {

// A borrowed run of elements. Does not own, does not check.
template <class T>
struct Span {
  T* data = nullptr;
  size_t size = 0;

  constexpr Span() = default;
  constexpr Span(T* d, size_t n) : data(d), size(n) {}
  template <size_t N>
  constexpr Span(T (&a)[N]) : data(a), size(N) {}  // NOLINT(google-explicit-constructor)

  constexpr T& operator[](size_t i) const { return data[i]; }
  constexpr T* begin() const { return data; }
  constexpr T* end() const { return data + size; }
  constexpr bool empty() const { return size == 0; }
  constexpr operator Span<const T>() const { return {data, size}; }  // NOLINT(google-explicit-constructor)
};

using ByteSpan = Span<uint8_t>;
using ConstBytes = Span<const uint8_t>;

}  // namespace mote
