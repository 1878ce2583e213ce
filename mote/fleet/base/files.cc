#include "mote/fleet/base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"

namespace mote::fleet {
namespace {

[[noreturn]] void fail(const char* what, const std::string& path) {
  const int code = errno;
  throw IoError(path + ": " + what + ": " + std::strerror(code), code);
}

template <class Call>
auto again(Call call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

class Descriptor {
 public:
  Descriptor(const FileCalls& calls, const std::string& path, int flags, mode_t mode = 0644)
      : number(again([&] { return calls.open(path.c_str(), flags | O_CLOEXEC, mode); })) {
    if (number < 0) fail("cannot be opened", path);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(number); }
  const int number;
};

}  // namespace

const FileCalls& system_calls() {
  static const FileCalls calls = {
      [](const char* path, int flags, unsigned mode) { return ::open(path, flags, mode); },
      [](int file, void* to, size_t bytes, long offset) -> long { return ::pread(file, to, bytes, offset); },
      [](int file, const void* from, size_t bytes, long offset) -> long { return ::pwrite(file, from, bytes, offset); }, ::fdatasync,
      ::fsync};
  return calls;
}

std::optional<uint64_t> SystemFiles::size(const std::string& path) {
  struct stat about;
  if (::stat(path.c_str(), &about) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    fail("cannot be looked at", path);
  }
  if (!S_ISREG(about.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(about.st_size);
}

std::string SystemFiles::read(const std::string& path, uint64_t offset, uint64_t bytes) {
  const Descriptor file(calls_, path, O_RDONLY);
  std::string out(bytes, '\0');
  size_t done = 0;
  while (done < out.size()) {
    const long n =
        again([&] { return calls_.pread(file.number, out.data() + done, out.size() - done, static_cast<off_t>(offset + done)); });
    if (n < 0) fail("cannot be read", path);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  out.resize(done);
  return out;
}

void SystemFiles::make_private(const std::string& path) { Descriptor(calls_, path, O_WRONLY | O_CREAT | O_EXCL, 0600); }
void SystemFiles::create(const std::string& path) { Descriptor(calls_, path, O_WRONLY | O_CREAT | O_TRUNC); }

void SystemFiles::write(const std::string& path, uint64_t offset, std::string_view bytes) {
  const Descriptor file(calls_, path, O_WRONLY);
  while (!bytes.empty()) {
    const long n = again([&] { return calls_.pwrite(file.number, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (n < 0) fail("cannot be written", path);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
}

void SystemFiles::sync(const std::string& path) {
  const Descriptor file(calls_, path, O_RDONLY);
  if (again([&] { return calls_.fdatasync(file.number); }) != 0) fail("cannot be synced", path);
}

void SystemFiles::sync_dir(const std::string& path) {
  const Descriptor folder(calls_, path, O_RDONLY | O_DIRECTORY);
  if (again([&] { return calls_.fsync(folder.number); }) != 0) fail("cannot be synced", path);
}

void SystemFiles::drop_cache(const std::string& path) {
  const Descriptor file(calls_, path, O_RDONLY);
  ::posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED);
}

void SystemFiles::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail("cannot be renamed", from);
}

void SystemFiles::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail("cannot be removed", path);
}

void SystemFiles::make_dir(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0) {
    if (errno == EEXIST) return;
    if (errno != ENOENT || folder_of(path) == path) fail("cannot be made", path);
    make_dir(folder_of(path));
    if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) fail("cannot be made", path);
  }
  sync_dir(folder_of(path));
}

std::vector<std::string> SystemFiles::list(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) {
    if (errno == ENOENT) return names;
    fail("cannot be listed", path);
  }
  while (const dirent* entry = ::readdir(folder.get())) {
    if (size(path + "/" + entry->d_name)) names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::shared_ptr<void> Files::lock(const std::string&, bool) { return std::make_shared<int>(0); }

std::shared_ptr<void> SystemFiles::lock(const std::string& path, bool wait) {
  auto file = std::make_shared<Descriptor>(calls_, path, O_RDWR | O_CREAT);
  if (again([&] { return ::flock(file->number, LOCK_EX | (wait ? 0 : LOCK_NB)); }) == 0) return file;
  if (errno == EWOULDBLOCK) return nullptr;
  fail("cannot be locked", path);
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::optional<std::string> read_file(Files& files, const std::string& path, uint64_t limit) {
  const std::optional<uint64_t> size = files.size(path);
  if (!size) return std::nullopt;
  if (*size > limit) throw Error(path + ": " + std::to_string(*size) + " bytes; at most " + std::to_string(limit) + " are read");
  return files.read(path, 0, *size);
}

void replace_file(Files& files, const std::string& path, std::string_view bytes) {
  const std::string next = path + ".new";
  files.create(next);
  files.write(next, 0, bytes);
  files.sync(next);
  files.rename(next, path);
  files.sync_dir(folder_of(path));
}

void write_secret(Files& files, const std::string& path, std::string_view bytes) {
  files.make_private(path);
  files.write(path, 0, bytes);
  files.sync(path);
  files.sync_dir(folder_of(path));
}

std::string digest_file(Files& files, const std::string& path, std::string_view algorithm) {
  constexpr uint64_t kPiece = 1 << 20;
  Digest digest(algorithm);
  uint64_t at = 0;
  while (true) {
    const std::string piece = files.read(path, at, kPiece);
    digest.add(piece);
    at += piece.size();
    if (piece.size() < kPiece) return digest.finish();
  }
}

}  // namespace mote::fleet
