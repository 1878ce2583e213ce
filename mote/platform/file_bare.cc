#include "mote/platform/board.h"
#include "mote/platform/file.h"

namespace mote {

// A board's files fail without a word.
void last_file_error(char* out, size_t capacity) noexcept {
  if (capacity > 0) out[0] = 0;
}

Status File::open(const char* path, File* out) noexcept {
  uint64_t size = 0;
  const int handle = mote_board_file_open(path, &size);
  if (handle < 0) return {Status::kIo, Why::kFileOpen};
  File file;
  file.handle_ = handle;
  file.size_ = size;
  *out = static_cast<File&&>(file);
  return Status::kOk;
}

void File::close() noexcept {
  if (handle_ != -1) mote_board_file_close(static_cast<int>(handle_));
  handle_ = -1;
  size_ = 0;
}

Status File::read_at(uint64_t offset, ByteSpan to) const noexcept {
  if (handle_ == -1 || offset > size_ || to.size > size_ - offset) return {Status::kIo, Why::kFileRead};
  if (to.size > 0 && mote_board_file_read(static_cast<int>(handle_), offset, to.data, to.size) != 0) return {Status::kIo, Why::kFileRead};
  return Status::kOk;
}

Status MappedFile::open(const char* path, MappedFile* out) noexcept {
  uint64_t size = 0;
  const void* p = mote_board_file_map(path, &size);
  if (p == nullptr || size > SIZE_MAX) return {Status::kIo, Why::kFileMap};
  out->close();
  out->bytes_ = {static_cast<const uint8_t*>(p), static_cast<size_t>(size)};
  return Status::kOk;
}

// Flash is never unmapped.
void MappedFile::close() noexcept { bytes_ = {}; }

void drop_pages(ConstBytes) noexcept {}

}  // namespace mote
