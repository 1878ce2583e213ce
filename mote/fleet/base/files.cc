#include "mote/fleet/base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"

namespace mote::fleet {
namespace {

constexpr size_t kPiece = 1 << 20;  // read at once
constexpr uint64_t kLockStepMs = 10;

[[noreturn]] void fail(const char* what, const std::string& path) {
  const int code = errno;
  const char* why = code == ELOOP ? "it, or a folder above it, is a symbolic link, and those are not followed here" : std::strerror(code);
  throw IoError(path + ": " + what + ": " + why, code);
}

template <class Call>
auto again(Call call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// What new files and folders below a root take from the folder they are made in.
mode_t file_mode(mode_t folder) { return folder & 0664; }
mode_t folder_mode(mode_t folder) { return folder & 02775; }

}  // namespace

const FileCalls& system_calls() {
  static const FileCalls calls = {
      [](int folder, const char* path, int flags, unsigned mode) { return ::openat(folder, path, flags, mode); },
      [](int file, void* to, size_t bytes, long offset) -> long { return ::pread(file, to, bytes, offset); },
      [](int file, const void* from, size_t bytes, long offset) -> long { return ::pwrite(file, from, bytes, offset); }, ::fdatasync,
      ::fsync};
  return calls;
}

// A name, and the folder that it is looked up in. Below the root each folder on the way is opened in the one before: none may be a link.
class SystemFiles::Place {
 public:
  Place(const SystemFiles& files, const std::string& path) : name(path) {
    if (files.root_.empty() || path.compare(0, files.root_.size() + 1, files.root_ + "/") != 0) return;
    checked = true;
    folder = ::open(files.root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) fail("cannot be opened", files.root_);
    name = path.substr(files.root_.size() + 1);
    for (size_t slash; (slash = name.find('/')) != std::string::npos;) {
      const std::string step = name.substr(0, slash);
      name.erase(0, slash + 1);
      if (!step.empty()) enter(step, path);
    }
    if (name.empty() || name == "." || name == "..") refuse(path);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    if (checked) ::close(folder);
  }
  struct stat about_folder(const std::string& path) const {
    struct stat about {};
    if (::fstat(folder, &about) != 0) fail("its folder cannot be looked at", path);
    return about;
  }
  int no_links() const { return checked ? O_NOFOLLOW | O_NONBLOCK : 0; }
  int folder = AT_FDCWD;
  bool checked = false;
  std::string name;

 private:
  void enter(const std::string& step, const std::string& path) {
    if (step == "." || step == "..") refuse(path);
    const int next = ::openat(folder, step.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int code = errno;
    struct stat about {};
    const bool link = next < 0 && ::fstatat(folder, step.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode);
    if (link) code = ELOOP;
    ::close(folder);
    folder = next;
    if (next < 0) checked = false, errno = code, fail("cannot be reached", path);
  }
  [[noreturn]] void refuse(const std::string& path) {
    ::close(folder);
    checked = false;
    throw IoError(path + ": no name below the device's folder", EINVAL);
  }
};

class SystemFiles::Descriptor {
 public:
  Descriptor(const SystemFiles& files, const std::string& path, int flags, mode_t mode = 0644) : place(files, path) {
    number = again([&] { return files.calls_.openat(place.folder, place.name.c_str(), flags | place.no_links() | O_CLOEXEC, mode); });
    if (number < 0) fail("cannot be opened", path);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  // A pipe, a device, or a second name of a file that is somebody else's, is no file of ours.
  struct stat require_plain(const std::string& path, bool one_name) const {
    struct stat about {};
    if (::fstat(number, &about) != 0) fail("cannot be looked at", path);
    if (place.checked && !S_ISREG(about.st_mode)) throw IoError(path + ": no plain file", EINVAL);
    if (place.checked && one_name && about.st_nlink > 1) throw IoError(path + ": has other names too, and is not written", EMLINK);
    return about;
  }
  Place place;
  int number = -1;
};

std::optional<uint64_t> SystemFiles::size(const std::string& path) try {
  const Place place(*this, path);
  struct stat about;
  if (::fstatat(place.folder, place.name.c_str(), &about, place.checked ? AT_SYMLINK_NOFOLLOW : 0) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    fail("cannot be looked at", path);
  }
  if (!S_ISREG(about.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(about.st_size);
} catch (const IoError& e) {
  if (e.code == ENOENT || e.code == ENOTDIR) return std::nullopt;
  throw;
}

std::string SystemFiles::read(const std::string& path, uint64_t offset, uint64_t bytes) {
  const Descriptor file(*this, path, O_RDONLY);
  (void)file.require_plain(path, false);
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

Mapping SystemFiles::map(const std::string& path) {
  const Descriptor file(*this, path, O_RDONLY | O_NONBLOCK);
  (void)file.require_plain(path, false);
  return map_open_file(file.number, path, calls_);
}

// Mapped where nobody but this user (and root) may write the file. Otherwise its bytes could change after they were hashed: they are
// copied. Each byte is read once before: of a medium that fails a mapping tells with a signal only.
Mapping map_open_file(int file, const std::string& name, const FileCalls& calls) {
  struct stat about {};
  if (::fstat(file, &about) != 0) fail("cannot be looked at", name);
  if (!S_ISREG(about.st_mode)) throw IoError(name + ": no plain file", EINVAL);
  const auto size = static_cast<size_t>(about.st_size);
  const bool mine = (about.st_uid == ::geteuid() || about.st_uid == 0) && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  auto copy = std::make_shared<std::string>(mine ? std::min(size, kPiece) : size, '\0');
  for (size_t at = 0; at < size;) {
    char* to = copy->data() + (mine ? 0 : at);
    const size_t most = std::min(kPiece, size - at);
    const long n = again([&] { return calls.pread(file, to, most, static_cast<off_t>(at)); });
    if (n < 0) fail("cannot be read", name);
    if (n == 0) throw IoError(name + ": became shorter while it was read", EIO);
    at += static_cast<size_t>(n);
  }
  if (!mine || size == 0) return {copy, *copy};
  const int kept = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (kept < 0) fail("cannot be kept open", name);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, kept, 0);
  if (data == MAP_FAILED) {
    const int code = errno;
    ::close(kept);
    errno = code;
    fail("cannot be mapped", name);
  }
  const auto unmap = [size, kept](void* p) {
    ::munmap(p, size);
    ::close(kept);
  };
  return {std::shared_ptr<const void>(data, unmap), {static_cast<const char*>(data), size}, kept};
}

void SystemFiles::make_private(const std::string& path) { Descriptor(*this, path, O_WRONLY | O_CREAT | O_EXCL, 0600); }

void SystemFiles::create(const std::string& path) {
  const Place place(*this, path);
  if (!place.checked) return (void)Descriptor(*this, path, O_WRONLY | O_CREAT | O_TRUNC);
  // What is there may be another's, who waits for what is written into it.
  if (::unlinkat(place.folder, place.name.c_str(), 0) != 0 && errno != ENOENT) fail("cannot be replaced", path);
  const mode_t mode = file_mode(place.about_folder(path).st_mode);
  const Descriptor file(*this, path, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (::fchmod(file.number, mode) != 0) fail("cannot be given its permissions", path);
}

void SystemFiles::write(const std::string& path, uint64_t offset, std::string_view bytes) {
  const Descriptor file(*this, path, O_WRONLY);
  (void)file.require_plain(path, true);
  while (!bytes.empty()) {
    const long n = again([&] { return calls_.pwrite(file.number, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (n < 0) fail("cannot be written", path);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
}

void SystemFiles::sync(const std::string& path) {
  const Descriptor file(*this, path, O_RDONLY);
  if (again([&] { return calls_.fdatasync(file.number); }) != 0) fail("cannot be synced", path);
}

void SystemFiles::sync_dir(const std::string& path) {
  const Descriptor folder(*this, path, O_RDONLY | O_DIRECTORY);
  if (again([&] { return calls_.fsync(folder.number); }) != 0) fail("cannot be synced", path);
}

void SystemFiles::drop_cache(const std::string& path) {
  const Descriptor file(*this, path, O_RDONLY);
  ::posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED);
}

void SystemFiles::rename(const std::string& from, const std::string& to) {
  const Place old_place(*this, from), new_place(*this, to);
  if (::renameat(old_place.folder, old_place.name.c_str(), new_place.folder, new_place.name.c_str()) != 0) fail("cannot be renamed", from);
}

void SystemFiles::remove(const std::string& path) try {
  const Place place(*this, path);
  if (::unlinkat(place.folder, place.name.c_str(), 0) != 0 && errno != ENOENT) fail("cannot be removed", path);
} catch (const IoError& e) {
  if (e.code != ENOENT) throw;
}

void SystemFiles::make_dir(const std::string& path) {
  for (int attempt = 0;; ++attempt) {
    try {
      const Place place(*this, path);
      const mode_t mode = place.checked ? folder_mode(place.about_folder(path).st_mode) : 0755;
      if (::mkdirat(place.folder, place.name.c_str(), mode) != 0) {
        if (errno == EEXIST) return;
        fail("cannot be made", path);
      }
      if (place.checked && ::fchmod(Descriptor(*this, path, O_RDONLY | O_DIRECTORY).number, mode) != 0)
        fail("cannot be given its permissions", path);
      break;
    } catch (const IoError& e) {
      if (e.code != ENOENT || attempt > 0 || folder_of(path) == path) throw;
      make_dir(folder_of(path));
    }
  }
  sync_dir(folder_of(path));
}

std::vector<std::string> SystemFiles::list(const std::string& path) {
  std::vector<std::string> names;
  int number = -1;
  try {
    Descriptor folder(*this, path, O_RDONLY | O_DIRECTORY);
    std::swap(number, folder.number);
  } catch (const IoError& e) {
    if (e.code == ENOENT) return names;
    throw;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(number), ::closedir);
  if (!folder) {
    ::close(number);
    fail("cannot be listed", path);
  }
  while (const dirent* entry = ::readdir(folder.get())) {
    struct stat about;
    if (::fstatat(::dirfd(folder.get()), entry->d_name, &about, root_.empty() ? 0 : AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode))
      names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Mapping Files::map(const std::string& path) {
  const std::optional<uint64_t> bytes = size(path);
  if (!bytes) throw IoError(path + ": does not exist", ENOENT);
  const auto copy = std::make_shared<const std::string>(read(path, 0, *bytes));
  return {copy, *copy};
}

std::shared_ptr<void> Files::lock(const std::string&, uint64_t) { return std::make_shared<int>(0); }
void Files::share_dir(const std::string& path, const std::string&) { make_dir(path); }

// Locks of the open file: they need the right to write it, unlike flock(), so who may only read cannot hold anybody up. The file is for its
// owner, and for a group that may write the folder.
std::shared_ptr<void> SystemFiles::lock(const std::string& path, uint64_t wait_ms) {
  mode_t mode = 0600;
  {
    const Place place(*this, path);
    if (place.checked && (place.about_folder(path).st_mode & S_IWGRP) != 0) mode = 0660;
  }
  auto file = std::make_shared<Descriptor>(*this, path, O_RDWR | O_CREAT, mode);
  const struct stat about = file->require_plain(path, false);
  // Files of older programs are readable by all: with an OFD lock for reading anybody would be in the way.
  if (about.st_uid == ::geteuid() && (about.st_mode & 0777) != mode && ::fchmod(file->number, mode) != 0)
    fail("cannot be given its permissions", path);
  for (uint64_t waited = 0;; waited += kLockStepMs) {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (again([&] { return ::fcntl(file->number, F_OFD_SETLK, &whole); }) == 0) return file;
    if (errno != EAGAIN && errno != EACCES) fail("cannot be locked", path);
    if (waited >= wait_ms) return nullptr;
    const timespec step{0, static_cast<long>(kLockStepMs) * 1000000};
    ::nanosleep(&step, nullptr);
  }
}

void SystemFiles::share_dir(const std::string& path, const std::string& group) {
  make_dir(path);
  const Descriptor folder(*this, path, O_RDONLY | O_DIRECTORY);
  char text[16384];
  struct ::group entry, *found = nullptr;
  const int code = ::getgrnam_r(group.c_str(), &entry, text, sizeof text, &found);
  if (found == nullptr)
    throw Error(path + ": there is no group '" + group + "'" + (code != 0 ? std::string(": ") + std::strerror(code) : ""));
  struct stat about;
  if (::fstat(folder.number, &about) != 0) fail("cannot be looked at", path);
  if (about.st_gid == found->gr_gid && (about.st_mode & 07777) == 02770) return;
  if (::fchown(folder.number, static_cast<uid_t>(-1), found->gr_gid) != 0) fail("cannot be given to its group", path);
  if (::fchmod(folder.number, 02770) != 0) fail("cannot be given its permissions", path);
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
