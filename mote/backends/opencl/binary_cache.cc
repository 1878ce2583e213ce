#include "mote/backends/opencl/binary_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "mote/format/sha256.h"

namespace mote::backends::opencl {
namespace {

namespace fs = std::filesystem;
constexpr uintmax_t kMaxBinaryBytes = 64u << 20;

// Empty: nothing is kept.
fs::path folder() {
  if (const char* own = std::getenv("MOTE_OPENCL_CACHE")) return own;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/') return fs::path(cache) / "mote/opencl";
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? fs::path(home) / ".cache/mote/opencl" : fs::path();
}

std::string digest_of(const void* data, size_t size) {
  uint8_t digest[32];
  Sha256 hash;
  hash.update({static_cast<const uint8_t*>(data), size});
  hash.finish(digest);
  std::string text;
  for (const uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// A binary runs in the driver with this process's rights, and its digest stands beside it: only what this user wrote is taken, from a
// folder that nobody else may write. Nobody's link is followed.
bool is_own(const struct stat& about) { return about.st_uid == geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0; }

// Closed with the object. Below 0: there is none, or it is not this user's.
class OwnFile {
 public:
  OwnFile(const fs::path& folder, const std::string& name, int flags) {
    struct stat about;
    const int dir = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) return;
    if (fstat(dir, &about) == 0 && is_own(about)) number = openat(dir, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    close(dir);
    if (number < 0 || (fstat(number, &about) == 0 && S_ISREG(about.st_mode) && is_own(about))) return;
    close(number);
    number = -1;
  }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;
  ~OwnFile() {
    if (number >= 0) close(number);
  }
  bool read(std::string* out) const {
    struct stat about;
    if (fstat(number, &about) != 0 || about.st_size <= 64 || static_cast<uintmax_t>(about.st_size) > kMaxBinaryBytes) return false;
    out->resize(static_cast<size_t>(about.st_size));
    for (size_t at = 0; at < out->size();) {
      const ssize_t n = ::read(number, &(*out)[at], out->size() - at);
      if (n <= 0) return false;
      at += static_cast<size_t>(n);
    }
    return true;
  }
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(number, bytes.data(), bytes.size());
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  int number = -1;
};

}  // namespace

std::string binary_key(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& p : parts) all += std::to_string(p.size()) + ":" + p;
  return digest_of(all.data(), all.size());
}

// A file is the digest of its binary, as text, and the binary.
bool load_binary(const std::string& key, std::vector<unsigned char>* out) try {
  const fs::path at = folder();
  if (at.empty()) return false;
  const OwnFile file(at, key, O_RDONLY);
  std::string bytes;
  if (file.number < 0 || !file.read(&bytes)) return false;
  if (digest_of(bytes.data() + 64, bytes.size() - 64) != bytes.substr(0, 64)) return false;
  out->assign(bytes.begin() + 64, bytes.end());
  return true;
} catch (const std::exception&) {
  return false;
}

void store_binary(const std::string& key, const std::vector<unsigned char>& binary) try {
  const fs::path at = folder();
  if (at.empty() || binary.empty() || binary.size() + 64 > kMaxBinaryBytes) return;
  std::error_code error;
  fs::create_directories(at.parent_path(), error);
  (void)mkdir(at.c_str(), 0700);
  const std::string name = key + "." + std::to_string(getpid());
  const fs::path part = at / name;
  {
    const OwnFile file(at, name, O_WRONLY | O_CREAT | O_EXCL);
    if (file.number < 0) return;
    const std::string_view bytes(reinterpret_cast<const char*>(binary.data()), binary.size());
    if (!file.write(digest_of(binary.data(), binary.size())) || !file.write(bytes)) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) fs::rename(part, at / key, error);
  if (error) fs::remove(part, error);
} catch (const std::exception&) {
  // Kept nothing: the next process compiles again.
}

}  // namespace mote::backends::opencl
