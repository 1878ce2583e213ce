#pragma once

// Files on disk. One implementation per platform: file_posix.cc, file_windows.cc, file_bare.cc; CMake picks one.

#include "mote/core/span.h"
#include "mote/core/status.h"

namespace mote {

// An open file, read at any position. Move-only; closes itself. One thread at a time may move it, any number may read.
class File {
 public:
  File() = default;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File() { close(); }

  // Opens a regular file for reading. Io/FileOpen when that fails.
  static Status open(const char* path, File* out) noexcept;
  void close() noexcept;

  bool is_open() const noexcept { return handle_ != -1; }
  uint64_t size() const noexcept { return size_; }
  // Fills `to` from byte `offset` on. Io/FileRead when the system fails or the file ends earlier: never a part of the bytes.
  Status read_at(uint64_t offset, ByteSpan to) const noexcept;

 private:
  friend class MappedFile;
  intptr_t handle_ = -1;
  uint64_t size_ = 0;
};

// A file mapped read-only: its pages are the page cache's, so it costs no memory of the process. Move-only.
// The file must not change or shrink while it is mapped: the bytes would change under their readers.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile() { close(); }

  // Io/FileOpen, Io/FileMap. An empty file maps to an empty span.
  static Status open(const char* path, MappedFile* out) noexcept;
  void close() noexcept;
  ConstBytes bytes() const noexcept { return bytes_; }

 private:
  ConstBytes bytes_;
};

// Gives whole pages of a mapping back to the system; they come again from the file when something reads them. Nothing where the platform
// cannot.
void drop_pages(ConstBytes mapped) noexcept;

// Why the system refused the last open() or read_at() of this thread, in its own words ("No such file or directory"), cut to the buffer and
// terminated; "" where it says nothing. To be asked at once: later calls of the system overwrite it.
void last_file_error(char* out, size_t capacity) noexcept;

}  // namespace mote
