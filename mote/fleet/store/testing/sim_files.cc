#include "mote/fleet/store/testing/sim_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mote/fleet/base/error.h"

namespace mote::fleet::store {
namespace {

void overwrite(std::string& bytes, uint64_t offset, std::string_view with) {
  if (bytes.size() < offset + with.size()) bytes.resize(offset + with.size(), '\0');
  bytes.replace(offset, with.size(), with);
}

// A small generator is enough: each state wants its own choices, always the same.
class Dice {
 public:
  explicit Dice(uint32_t seed) : state_(seed * 2654435761u + 1) {}
  bool flip() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_ >> 16 & 1;
  }

 private:
  uint32_t state_;
};

}  // namespace

SimFiles::Inode& SimFiles::inode_of(const std::string& path) {
  const auto found = names_.find(path);
  if (found == names_.end()) throw IoError(path + ": does not exist", ENOENT);
  return inodes_[static_cast<size_t>(found->second)];
}

bool SimFiles::fails(bool writes) {
  const uint64_t call = calls_++;
  if (writes && no_writes_code_ != 0) return true;
  return call == fail_at_ || (fail_for_ever_ && call > fail_at_);
}

void SimFiles::fail(const std::string& path) const {
  const int code = no_writes_code_ != 0 ? no_writes_code_ : fail_code_;
  throw IoError(path + ": " + std::strerror(code), code);
}

// Called when a change has been recorded as unsynced, before anything is made durable.
void SimFiles::change() {
  if (changes_++ == cut_at_) throw PowerCut();
}

std::optional<uint64_t> SimFiles::size(const std::string& path) {
  if (fails()) fail(path);
  const auto found = names_.find(path);
  if (found == names_.end()) return std::nullopt;
  return inodes_[static_cast<size_t>(found->second)].now.size();
}

std::string SimFiles::read(const std::string& path, uint64_t offset, uint64_t bytes) {
  if (fails()) fail(path);
  const Inode& inode = inode_of(path);
  if (inode.unreadable) throw IoError(path + ": " + std::strerror(EIO), EIO);
  const std::string& all = inode.now;
  return offset < all.size() ? all.substr(offset, bytes) : "";
}

void SimFiles::apply(Names& names, const NameChange& c) {
  if (!c.also_removed.empty()) names.erase(c.also_removed);
  if (c.inode < 0) names.erase(c.name);
  else names[c.name] = c.inode;
}

void SimFiles::change_name(NameChange c) {
  apply(names_, c);
  unsynced_names_.push_back(std::move(c));
  last_written_ = -1;
  change();
}

void SimFiles::create(const std::string& path) {
  if (fails(true)) fail(path);
  if (names_.count(path) > 0) {
    Inode& inode = inode_of(path);
    inode.now.clear();
    inode.truncated = true;
    inode.unsynced.clear();
    last_written_ = -1;
    return change();
  }
  inodes_.emplace_back();
  change_name({path, static_cast<int>(inodes_.size()) - 1, ""});
}

void SimFiles::write(const std::string& path, uint64_t offset, std::string_view bytes) {
  if (no_writes_code_ != 0) fail(path);
  const bool failing = fails(true);
  if (failing) bytes = bytes.substr(0, bytes.size() / 2);
  Inode& inode = inode_of(path);
  overwrite(inode.now, offset, bytes);
  inode.unsynced.push_back({offset, std::string(bytes)});
  last_written_ = names_[path];
  change();
  if (failing) fail(path);
}

void SimFiles::sync(const std::string& path) {
  Inode& inode = inode_of(path);
  if (fails(true)) {
    // The pages count as clean from now on, though nothing has reached the medium.
    inode.unsynced.clear();
    inode.truncated = false;
    fail(path);
  }
  last_written_ = -1;
  change();
  if (inode.truncated) inode.durable.clear();
  for (const Write& w : inode.unsynced) overwrite(inode.durable, w.offset, w.bytes);
  inode.unsynced.clear();
  inode.truncated = false;
}

void SimFiles::drop_cache(const std::string& path) {
  if (fails()) fail(path);
  Inode& inode = inode_of(path);
  if (inode.unsynced.empty() && !inode.truncated) inode.now = inode.durable;
}

void SimFiles::sync_dir(const std::string& path) {
  if (fails(true)) fail(path);
  last_written_ = -1;
  change();
  std::vector<NameChange> others;
  for (NameChange& c : unsynced_names_) {
    if (folder_of(c.name) == path || (!c.also_removed.empty() && folder_of(c.also_removed) == path)) apply(durable_names_, c);
    else others.push_back(std::move(c));
  }
  unsynced_names_ = std::move(others);
}

void SimFiles::rename(const std::string& from, const std::string& to) {
  if (fails(true)) fail(from);
  inode_of(from);
  change_name({to, names_[from], from});
}

void SimFiles::remove(const std::string& path) {
  if (fails(true)) fail(path);
  if (names_.count(path) > 0) change_name({path, -1, ""});
}

std::vector<std::string> SimFiles::list(const std::string& path) {
  if (fails()) fail(path);
  std::vector<std::string> out;
  for (const auto& [name, inode] : names_) {
    if (folder_of(name) == path) out.push_back(name.substr(path.size() + 1));
  }
  return out;
}

bool SimFiles::anything_unsynced() const {
  if (!unsynced_names_.empty()) return true;
  for (const auto& [name, inode] : names_) {
    const Inode& i = inodes_[static_cast<size_t>(inode)];
    if (i.truncated || !i.unsynced.empty()) return true;
  }
  return false;
}

uint64_t SimFiles::torn_sectors() const {
  if (last_written_ < 0) return 0;
  const Inode& inode = inodes_[static_cast<size_t>(last_written_)];
  return inode.unsynced.empty() ? 0 : (inode.unsynced.back().bytes.size() + kSector - 1) / kSector;
}

SimFiles SimFiles::after_cut(Loss loss, uint32_t chance) const {
  Dice dice(chance);
  const bool by_chance = loss == Loss::kReordered, all = loss == Loss::kNothing || loss == Loss::kTorn;
  SimFiles out;
  Names names = durable_names_;
  for (const NameChange& c : unsynced_names_) {
    if (all || (by_chance && dice.flip())) apply(names, c);
  }
  for (const auto& [name, number] : names) {
    const Inode& inode = inodes_[static_cast<size_t>(number)];
    std::string bytes = inode.durable;
    if (inode.truncated && (all || (by_chance && dice.flip()))) bytes.clear();
    for (const Write& w : inode.unsynced) {
      const bool last = number == last_written_ && &w == &inode.unsynced.back();
      for (uint64_t at = 0; at < w.bytes.size(); at += kSector) {
        const bool whole = all && !(loss == Loss::kTorn && last && at / kSector >= chance);
        if (whole || (by_chance && dice.flip())) overwrite(bytes, w.offset + at, std::string_view(w.bytes).substr(at, kSector));
      }
    }
    out.names_[name] = static_cast<int>(out.inodes_.size());
    out.inodes_.push_back({bytes, bytes, {}, false, inode.unreadable});
  }
  out.durable_names_ = out.names_;
  return out;
}

void SimFiles::damage(const std::string& path, uint64_t byte) {
  std::string& bytes = inode_of(path).durable;
  bytes[byte] = static_cast<char>(bytes[byte] ^ 4);
}

}  // namespace mote::fleet::store
