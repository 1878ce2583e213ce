#pragma once

// The file system as fleet code sees it. Every change of durable state goes through here, so a simulator can cut the power between,
// or in the middle of, any two of them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mote::fleet {

// Bytes of a file in memory, there as long as `owner` is.
struct Mapping {
  std::shared_ptr<const void> owner;
  std::string_view bytes;
  int file = -1;  // descriptor of the file that they are mapped from, for handing it on; -1: they are a copy
};

// Paths are as the system has them. Failures are IoError (ENOSPC, EIO, ...); interrupted calls are taken up again. Nothing is durable
// before sync() of the file and sync_dir() of the folder that its name is in.
class Files {
 public:
  virtual ~Files() = default;
  virtual std::optional<uint64_t> size(const std::string& path) = 0;  // of a plain file; empty when there is none
  // Up to `bytes` from `offset`, less only where the file ends. Throws ENOENT.
  virtual std::string read(const std::string& path, uint64_t offset, uint64_t bytes) = 0;
  // The whole file as it is now; whoever hashes these bytes uses the ones he hashed, whatever the name means afterwards. Throws where the
  // medium cannot be read. A simulator has copies.
  virtual Mapping map(const std::string& path);
  virtual void make_private(const std::string& path) = 0;  // a new empty file for its owner only; throws EEXIST
  virtual void create(const std::string& path) = 0;        // an empty file, in place of whatever was there
  virtual void write(const std::string& path, uint64_t offset, std::string_view bytes) = 0;
  virtual void sync(const std::string& path) = 0;      // contents and length (fdatasync)
  virtual void sync_dir(const std::string& path) = 0;  // names in the folder
  // What is read next comes from the medium, not from memory; only after sync(). A system may be unable to.
  virtual void drop_cache(const std::string& path) = 0;
  virtual void rename(const std::string& from, const std::string& to) = 0;
  virtual void remove(const std::string& path) = 0;                    // a file; none there is no failure
  virtual void make_dir(const std::string& path) = 0;                  // with those above it, durably; there already is no failure
  virtual std::vector<std::string> list(const std::string& path) = 0;  // names of plain files, sorted; none when there is no folder
  // Keeps other processes out until the result is gone; the file is made where there is none. Null when somebody else has had it for
  // `wait_ms`: whoever may write the file may hold it, so nobody waits for ever. A simulator, which has one process, need not do anything.
  virtual std::shared_ptr<void> lock(const std::string& path, uint64_t wait_ms);
  // Makes a folder that this group may write too, and nobody else see. A simulator has no owners.
  virtual void share_dir(const std::string& path, const std::string& group);
};

// The system calls that may be interrupted, or do less than they were asked to: tests put worse ones in their place.
struct FileCalls {
  int (*openat)(int folder, const char* path, int flags, unsigned mode);
  long (*pread)(int file, void* to, size_t bytes, long offset);
  long (*pwrite)(int file, const void* from, size_t bytes, long offset);
  int (*fdatasync)(int file);
  int (*fsync)(int file);
};
const FileCalls& system_calls();

// The whole plain file that is open as `file`, as SystemFiles::map() has it. `name` is for messages.
Mapping map_open_file(int file, const std::string& name, const FileCalls& calls = system_calls());

// The machine's own.
//
// With a `root` (a device's folder), what lies below it may be written by others, who are not trusted: no name below it may be a symbolic
// link, files must be plain and are written only where they have one name; a file that is created is new, and takes over the permissions of
// its folder (never for others to write). Paths elsewhere are the user's own, and are taken as the system takes them.
class SystemFiles : public Files {
 public:
  explicit SystemFiles(const FileCalls& calls = system_calls()) : calls_(calls) {}
  explicit SystemFiles(std::string root, const FileCalls& calls = system_calls()) : calls_(calls), root_(std::move(root)) {}
  std::optional<uint64_t> size(const std::string& path) override;
  std::string read(const std::string& path, uint64_t offset, uint64_t bytes) override;
  Mapping map(const std::string& path) override;
  void make_private(const std::string& path) override;
  void create(const std::string& path) override;
  void write(const std::string& path, uint64_t offset, std::string_view bytes) override;
  void sync(const std::string& path) override;
  void sync_dir(const std::string& path) override;
  void drop_cache(const std::string& path) override;
  void rename(const std::string& from, const std::string& to) override;
  void remove(const std::string& path) override;
  void make_dir(const std::string& path) override;
  std::vector<std::string> list(const std::string& path) override;
  std::shared_ptr<void> lock(const std::string& path, uint64_t wait_ms) override;
  void share_dir(const std::string& path, const std::string& group) override;

 private:
  class Place;
  class Descriptor;
  const FileCalls& calls_;
  const std::string root_;
};

std::string folder_of(const std::string& path);

// A whole file, or nothing when there is none. Throws Error when it has more than `limit` bytes.
std::optional<std::string> read_file(Files& files, const std::string& path, uint64_t limit);

// After this, and after a power cut at any point of it, the file holds the old bytes or the new.
void replace_file(Files& files, const std::string& path, std::string_view bytes);

// The same for a new file that only its owner may read, on systems that have owners. Throws when it exists.
void write_secret(Files& files, const std::string& path, std::string_view bytes);

// Digest of a file's bytes, read piece by piece.
std::string digest_file(Files& files, const std::string& path, std::string_view algorithm = "sha256");

}  // namespace mote::fleet
