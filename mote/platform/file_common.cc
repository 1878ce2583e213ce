// What files have in common on every platform: moving them.

#include "mote/platform/file.h"

namespace mote {

File::File(File&& other) noexcept : handle_(other.handle_), size_(other.size_) {
  other.handle_ = -1;
  other.size_ = 0;
}

File& File::operator=(File&& other) noexcept {
  if (this == &other) return *this;
  close();
  handle_ = other.handle_;
  size_ = other.size_;
  other.handle_ = -1;
  other.size_ = 0;
  return *this;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(other.bytes_) { other.bytes_ = {}; }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  close();
  bytes_ = other.bytes_;
  other.bytes_ = {};
  return *this;
}

}  // namespace mote
