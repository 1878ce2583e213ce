#pragma once

namespace mote {

// For device code, where a C library's strcmp, written for speed, is larger than what needs it.
[[gnu::noinline]] inline bool same_text(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

}  // namespace mote
