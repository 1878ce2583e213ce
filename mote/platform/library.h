#pragma once

// Libraries loaded while a program runs, and where the running code lies. One implementation per platform: library_dl.cc, library_none.cc.

#include <cstddef>

namespace mote {

// Loads the library at an absolute path with the symbols it needs; its own stay with it. Null, and the system's reason in `why`, cut and
// terminated, when that fails. A path that is not absolute is refused: nothing is searched for.
void* open_library(const char* path, char* why, size_t why_bytes) noexcept;
// A function of the library, or null.
void* library_symbol(void* library, const char* name) noexcept;
void close_library(void* library) noexcept;

// The absolute folder, with the separator at its end, of the library or program that holds the code at `address`. False where the system
// does not say, or the text does not fit.
bool folder_of_code(const void* address, char* out, size_t capacity) noexcept;

// What the system calls a library of that name: kLibraryPrefix + name + kLibrarySuffix.
extern const char kLibraryPrefix[];
extern const char kLibrarySuffix[];

}  // namespace mote
