#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include "mote/platform/file.h"

namespace mote {
namespace {

// Paths are UTF-8, as everywhere in Mote; longer ones than this are refused.
constexpr int kMaxPath = 1024;

HANDLE as_handle(intptr_t h) noexcept { return reinterpret_cast<HANDLE>(h); }

}  // namespace

void last_file_error(char* out, size_t capacity) noexcept {
  if (capacity == 0) return;
  constexpr DWORD kFlags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
  DWORD size = FormatMessageA(kFlags, nullptr, GetLastError(), 0, out, static_cast<DWORD>(capacity), nullptr);
  while (size > 0 && (out[size - 1] == '\r' || out[size - 1] == '\n' || out[size - 1] == '.')) --size;
  out[size] = 0;
}

Status File::open(const char* path, File* out) noexcept {
  wchar_t wide[kMaxPath];
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, kMaxPath) == 0) return {Status::kIo, Why::kFileOpen};
  const HANDLE h = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (h == INVALID_HANDLE_VALUE) return {Status::kIo, Why::kFileOpen};
  LARGE_INTEGER size;
  if (GetFileType(h) != FILE_TYPE_DISK || !GetFileSizeEx(h, &size)) {
    CloseHandle(h);
    return {Status::kIo, Why::kFileOpen};
  }
  File file;
  file.handle_ = reinterpret_cast<intptr_t>(h);
  file.size_ = static_cast<uint64_t>(size.QuadPart);
  *out = static_cast<File&&>(file);
  return Status::kOk;
}

void File::close() noexcept {
  if (handle_ != -1) CloseHandle(as_handle(handle_));
  handle_ = -1;
  size_ = 0;
}

Status File::read_at(uint64_t offset, ByteSpan to) const noexcept {
  if (handle_ == -1 || offset > size_ || to.size > size_ - offset) return {Status::kIo, Why::kFileRead};
  size_t done = 0;
  while (done < to.size) {
    const uint64_t at = offset + done;
    const size_t left = to.size - done;
    OVERLAPPED where = {};
    where.Offset = static_cast<DWORD>(at);
    where.OffsetHigh = static_cast<DWORD>(at >> 32);
    DWORD n = 0;
    const DWORD wanted = left > (1u << 30) ? (1u << 30) : static_cast<DWORD>(left);
    if (!ReadFile(as_handle(handle_), to.data + done, wanted, &n, &where) || n == 0) return {Status::kIo, Why::kFileRead};
    done += n;
  }
  return Status::kOk;
}

Status MappedFile::open(const char* path, MappedFile* out) noexcept {
  File file;
  MOTE_TRY(File::open(path, &file));
  MappedFile mapped;
  if (file.size() > SIZE_MAX) return {Status::kIo, Why::kFileMap};
  if (file.size() > 0) {
    const HANDLE mapping = CreateFileMappingW(as_handle(file.handle_), nullptr, PAGE_READONLY, 0, 0, nullptr);
    if (mapping == nullptr) return {Status::kIo, Why::kFileMap};
    const void* p = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    CloseHandle(mapping);  // the view keeps it alive
    if (p == nullptr) return {Status::kIo, Why::kFileMap};
    mapped.bytes_ = {static_cast<const uint8_t*>(p), static_cast<size_t>(file.size())};
  }
  *out = static_cast<MappedFile&&>(mapped);
  return Status::kOk;
}

void MappedFile::close() noexcept {
  if (bytes_.data != nullptr) UnmapViewOfFile(bytes_.data);
  bytes_ = {};
}

void drop_pages(ConstBytes) noexcept {}

}  // namespace mote
