#include "mote/fleet/package/mapped.h"

#include <algorithm>
#include <cerrno>

#include "mote/fleet/base/error.h"

namespace mote::fleet::package {
namespace {

// One file that is in memory, for readers that ask Files for it. Nothing of it can be changed.
class OneFile : public Files {
 public:
  explicit OneFile(std::string_view bytes) : bytes_(bytes) {}
  std::optional<uint64_t> size(const std::string&) override { return bytes_.size(); }
  std::string read(const std::string&, uint64_t offset, uint64_t bytes) override {
    return std::string(bytes_.substr(std::min<uint64_t>(offset, bytes_.size()), bytes));
  }
  void make_private(const std::string& path) override { refuse(path); }
  void create(const std::string& path) override { refuse(path); }
  void write(const std::string& path, uint64_t, std::string_view) override { refuse(path); }
  void sync(const std::string&) override {}
  void sync_dir(const std::string&) override {}
  void drop_cache(const std::string&) override {}
  void rename(const std::string& path, const std::string&) override { refuse(path); }
  void remove(const std::string& path) override { refuse(path); }
  void make_dir(const std::string& path) override { refuse(path); }
  std::vector<std::string> list(const std::string&) override { return {}; }

 private:
  static void refuse(const std::string& path) { throw IoError(path + ": only in memory", EROFS); }
  std::string_view bytes_;
};

}  // namespace

Header Mapped::header() const {
  return within(path_, [&] { return parse_header(bytes()); });
}

Header Mapped::verify() const {
  OneFile file(bytes());
  return package::verify(file, path_);
}

std::string_view Mapped::file(const Header& header, const std::string& name) const {
  for (const File& f : header.manifest.files) {
    // The header may say more than there is.
    if (f.name == name && header.bytes + f.offset <= bytes().size() && f.bytes <= bytes().size() - header.bytes - f.offset)
      return bytes().substr(header.bytes + f.offset, f.bytes);
  }
  throw Error(path_ + " has no file " + name);
}

}  // namespace mote::fleet::package
