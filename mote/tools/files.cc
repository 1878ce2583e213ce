#include "mote/tools/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace mote::tools {
namespace {

struct Close {
  void operator()(FILE* f) const { std::fclose(f); }
};
using OpenFile = std::unique_ptr<FILE, Close>;

bool fail(std::string* error, const std::string& what) {
  *error = what + ": " + std::strerror(errno);
  return false;
}

}  // namespace

bool read_whole_file(const std::string& path, std::vector<uint8_t>* out, std::string* error) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    errno = EISDIR;
    return fail(error, "the file cannot be read");
  }
  const OpenFile f(std::fopen(path.c_str(), "rb"));
  if (!f) return fail(error, "the file cannot be opened");
  std::vector<uint8_t> bytes;
  uint8_t part[65536];
  size_t n;
  while ((n = std::fread(part, 1, sizeof part, f.get())) > 0) bytes.insert(bytes.end(), part, part + n);
  if (std::ferror(f.get()) != 0) return fail(error, "the file cannot be read");
  *out = std::move(bytes);
  return true;
}

bool write_whole_file(const std::string& path, const std::vector<uint8_t>& bytes, std::string* error) {
  OpenFile f(std::fopen(path.c_str(), "wb"));
  if (!f) return fail(error, "the file cannot be created");
  if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), f.get()) != bytes.size())
    return fail(error, "the file cannot be written");
  if (std::fclose(f.release()) != 0) return fail(error, "the file cannot be written");
  return true;
}

}  // namespace mote::tools
