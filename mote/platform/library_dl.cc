// Systems with dlopen.

#include "mote/platform/library.h"

#include <dlfcn.h>
#include <string.h>
#if defined(__linux__)
#include <sys/auxv.h>
#include <unistd.h>
#endif

namespace mote {

const char kLibraryPrefix[] = "lib";
#if defined(__APPLE__)
const char kLibrarySuffix[] = ".dylib";
#else
const char kLibrarySuffix[] = ".so";
#endif

namespace {

void copy(const char* text, char* out, size_t capacity) noexcept {
  if (capacity == 0) return;
  const size_t size = strnlen(text, capacity - 1);
  memcpy(out, text, size);
  out[size] = 0;
}

#if defined(__linux__)
// A program that was started by a relative name is known to the loader by that name, which says nothing once the folder has changed.
bool program_path(const Dl_info& code, char* out, size_t capacity) noexcept {
  Dl_info program;
  const void* headers = reinterpret_cast<const void*>(getauxval(AT_PHDR));
  if (headers == nullptr || dladdr(headers, &program) == 0 || program.dli_fbase != code.dli_fbase) return false;
  const ssize_t size = readlink("/proc/self/exe", out, capacity);
  if (size <= 0 || static_cast<size_t>(size) >= capacity) return false;
  out[size] = 0;
  return true;
}
#else
bool program_path(const Dl_info&, char*, size_t) noexcept { return false; }
#endif

}  // namespace

void* open_library(const char* path, char* why, size_t why_bytes) noexcept {
  if (path[0] != '/') {
    copy("its path is not absolute", why, why_bytes);
    return nullptr;
  }
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* reason = dlerror();
  copy(reason != nullptr ? reason : "the system does not say why", why, why_bytes);
  return nullptr;
}

void* library_symbol(void* library, const char* name) noexcept { return dlsym(library, name); }
void close_library(void* library) noexcept { (void)dlclose(library); }

bool folder_of_code(const void* address, char* out, size_t capacity) noexcept {
  Dl_info code;
  if (dladdr(address, &code) == 0 || code.dli_fname == nullptr) return false;
  if (code.dli_fname[0] != '/') {
    if (!program_path(code, out, capacity)) return false;
  } else {
    if (strnlen(code.dli_fname, capacity) >= capacity) return false;
    copy(code.dli_fname, out, capacity);
  }
  char* end = strrchr(out, '/');
  if (end == nullptr) return false;
  end[1] = 0;
  return true;
}

}  // namespace mote
