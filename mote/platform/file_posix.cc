#include "mote/platform/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mote/platform/clock.h"

namespace mote {
namespace {

// strerror_r comes in two kinds: POSIX's fills the buffer, glibc's may return a text of its own instead.
[[maybe_unused]] const char* text_of(int failed, const char* buffer) noexcept { return failed == 0 ? buffer : ""; }
[[maybe_unused]] const char* text_of(const char* text, const char*) noexcept { return text; }

}  // namespace

void last_file_error(char* out, size_t capacity) noexcept {
  if (capacity == 0) return;
  char buffer[128] = {};
  const char* text = errno != 0 ? text_of(strerror_r(errno, buffer, sizeof buffer), buffer) : "";
  const size_t size = strnlen(text, capacity - 1);
  memcpy(out, text, size);
  out[size] = 0;
}

Status File::open(const char* path, File* out) noexcept {
  int fd;
  do fd = ::open(path, O_RDONLY | O_CLOEXEC);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) return {Status::kIo, Why::kFileOpen};
  struct stat info;
  // Directories and devices open too, but have no bytes at a position.
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0) {
    const int reason = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    ::close(fd);
    errno = reason;
    return {Status::kIo, Why::kFileOpen};
  }
  File file;
  file.handle_ = fd;
  file.size_ = static_cast<uint64_t>(info.st_size);
  *out = static_cast<File&&>(file);
  return Status::kOk;
}

void File::close() noexcept {
  if (handle_ != -1) ::close(static_cast<int>(handle_));
  handle_ = -1;
  size_ = 0;
}

Status File::read_at(uint64_t offset, ByteSpan to) const noexcept {
  if (handle_ == -1 || offset > size_ || to.size > size_ - offset) return {Status::kIo, Why::kFileRead};
  size_t done = 0;
  while (done < to.size) {
    const ssize_t n = pread(static_cast<int>(handle_), to.data + done, to.size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {Status::kIo, Why::kFileRead};
    done += static_cast<size_t>(n);
  }
  return Status::kOk;
}

namespace {

#if defined(__linux__) && defined(MADV_POPULATE_READ)
// Enters pages that the system's cache holds into the page table, which takes half of what as many faults would take in the first run.
// What is not cached comes when it is read. A page speaks for its neighbours: files are read, and dropped, in large pieces. How long it
// takes depends on the pieces that the system caches files in: a hundred megabytes in a tenth of a millisecond, or six in one.
void enter_cached_pages(uint8_t* data, size_t size) noexcept {
  constexpr size_t kPiece = 2u << 20;
  constexpr uint64_t kMostNs = 150'000;  // loading stays under a millisecond
  const uint64_t begin = clock_now_ns();
  for (size_t at = 0; at < size && clock_now_ns() - begin < kMostNs; at += kPiece) {
    unsigned char resident = 0;
    if (mincore(data + at, 1, &resident) != 0) return;
    if ((resident & 1) != 0) (void)madvise(data + at, size - at < kPiece ? size - at : kPiece, MADV_POPULATE_READ);
  }
}
#else
void enter_cached_pages(uint8_t*, size_t) noexcept {}
#endif

}  // namespace

Status MappedFile::open(const char* path, MappedFile* out) noexcept {
  File file;
  MOTE_TRY(File::open(path, &file));
  MappedFile mapped;
  if (file.size() > SIZE_MAX) return {Status::kIo, Why::kFileMap};
  if (file.size() > 0) {
    const size_t size = static_cast<size_t>(file.size());
    void* p = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, static_cast<int>(file.handle_), 0);
    if (p == MAP_FAILED) return {Status::kIo, Why::kFileMap};
    enter_cached_pages(static_cast<uint8_t*>(p), size);
    mapped.bytes_ = {static_cast<const uint8_t*>(p), size};
  }
  *out = static_cast<MappedFile&&>(mapped);
  return Status::kOk;
}

void MappedFile::close() noexcept {
  if (bytes_.data != nullptr) munmap(const_cast<uint8_t*>(bytes_.data), bytes_.size);
  bytes_ = {};
}

#if defined(__wasi__)
void drop_pages(ConstBytes) noexcept {}  // its mmap copies, and its library has no madvise
#else
void drop_pages(ConstBytes mapped) noexcept {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(mapped.data) + page - 1) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(mapped.data) + mapped.size) / page * page;
  const int kept = errno;
  if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  errno = kept;
}
#endif

}  // namespace mote
