#include "mote/backends/opencl/binary_cache.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "mote/format/sha256.h"

namespace mote::backends::opencl {
namespace {

namespace fs = std::filesystem;
constexpr uintmax_t kMostBytes = 64u << 20;

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

}  // namespace

std::string binary_key(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& p : parts) all += std::to_string(p.size()) + ":" + p;
  return digest_of(all.data(), all.size());
}

// A file is the digest of its binary, as text, and the binary.
bool load_binary(const std::string& key, std::vector<unsigned char>* out) try {
  const fs::path at = folder();
  std::error_code error;
  const uintmax_t size = at.empty() ? 0 : fs::file_size(at / key, error);
  if (at.empty() || error || size <= 64 || size > kMostBytes) return false;
  std::ifstream file(at / key, std::ios::binary);
  std::string bytes(static_cast<size_t>(size), '\0');
  if (!file.read(&bytes[0], static_cast<std::streamsize>(size))) return false;
  if (digest_of(bytes.data() + 64, bytes.size() - 64) != bytes.substr(0, 64)) return false;
  out->assign(bytes.begin() + 64, bytes.end());
  return true;
} catch (const std::exception&) {
  return false;
}

void store_binary(const std::string& key, const std::vector<unsigned char>& binary) try {
  const fs::path at = folder();
  if (at.empty() || binary.empty() || binary.size() + 64 > kMostBytes) return;
  std::error_code error;
  fs::create_directories(at, error);
  const fs::path part = at / (key + "." + std::to_string(getpid()));
  {
    std::ofstream file(part, std::ios::binary);
    file << digest_of(binary.data(), binary.size());
    file.write(reinterpret_cast<const char*>(binary.data()), static_cast<std::streamsize>(binary.size()));
    if (!file.flush()) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) fs::rename(part, at / key, error);
  if (error) fs::remove(part, error);
} catch (const std::exception&) {
  // Kept nothing: the next process compiles again.
}

}  // namespace mote::backends::opencl
