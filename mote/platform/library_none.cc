// Systems on which nothing is loaded at run time: backends are linked in.

#include "mote/platform/library.h"

namespace mote {

const char kLibraryPrefix[] = "";
const char kLibrarySuffix[] = "";

void* open_library(const char*, char* why, size_t why_bytes) noexcept {
  const char text[] = "libraries are not loaded at run time on this system";
  for (size_t i = 0; i < why_bytes; ++i) {
    why[i] = i + 1 < why_bytes && i < sizeof text ? text[i] : '\0';
    if (why[i] == '\0') break;
  }
  return nullptr;
}
void* library_symbol(void*, const char*) noexcept { return nullptr; }
void close_library(void*) noexcept {}
bool folder_of_code(const void*, char*, size_t) noexcept { return false; }

}  // namespace mote
