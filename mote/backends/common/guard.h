#pragma once

// Backends are called through a C interface, from code that knows no exceptions: none of their functions may let one out.

#include <cstdint>
#include <new>

namespace mote::backends {

// What f() returns, or `out_of_memory`, or `failed` for anything else that was thrown.
template <class F>
uint32_t guarded(uint32_t out_of_memory, uint32_t failed, F f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return out_of_memory;
  } catch (...) {
    return failed;
  }
}

// The same for functions that give a text: why they cannot do something, unless said otherwise.
template <class F>
const char* guarded_text(F f, const char* failed = "there is too little memory") noexcept {
  try {
    return f();
  } catch (...) {
    return failed;
  }
}

}  // namespace mote::backends
