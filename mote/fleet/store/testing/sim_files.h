#pragma once

// A file system in memory that tells what has been written from what has been synced, loses power at any call, and fails on demand.
//
// After a cut, what was not synced may be there or not, in any combination, and writes may have stopped between any two sectors. Names are
// lost independently of contents: a file may be renamed and empty.

#include <map>
#include <memory>

#include "mote/fleet/base/files.h"

namespace mote::fleet::store {

struct PowerCut {};

enum class Loss {
  kNothing,    // all that was asked for is there
  kUnsynced,   // nothing that was not synced is there
  kTorn,       // all is there, but of the last write only the first sectors
  kReordered,  // of all that was not synced, a choice by chance, sector by sector
};

class SimFiles : public Files {
 public:
  static constexpr uint64_t kSector = 512;

  std::optional<uint64_t> size(const std::string& path) override;
  std::string read(const std::string& path, uint64_t offset, uint64_t bytes) override;
  void make_private(const std::string& path) override { create(path); }
  void create(const std::string& path) override;
  void write(const std::string& path, uint64_t offset, std::string_view bytes) override;
  void sync(const std::string& path) override;
  void sync_dir(const std::string& path) override;
  void drop_cache(const std::string& path) override;
  void rename(const std::string& from, const std::string& to) override;
  void remove(const std::string& path) override;
  void make_dir(const std::string&) override {}
  std::vector<std::string> list(const std::string& path) override;

  // PowerCut is thrown by the change with this number (from 0, counted from now on): begun, not finished.
  void cut_at(uint64_t change) { changes_ = 0, cut_at_ = change; }
  uint64_t changes() const { return changes_; }
  // The file system as the next start finds it. `chance` chooses sectors and names; for kTorn it is the number of sectors.
  SimFiles after_cut(Loss loss, uint32_t chance) const;
  bool anything_unsynced() const;
  uint64_t torn_sectors() const;  // of the last write, when that is what the power cut interrupted

  // The call with this number (reads too) throws IoError, that one only or all from then on. A write may have done half of its work.
  // What a failing sync should have made durable is lost with the power, though it can still be read: later syncs do not help.
  void fail_at(uint64_t call, int code, bool for_ever) { calls_ = 0, fail_at_ = call, fail_code_ = code, fail_for_ever_ = for_ever; }
  void fail_never() { fail_at_ = UINT64_MAX, no_writes_code_ = 0; }
  // From now on everything that changes something fails: EROFS, ENOSPC. Reading works.
  void fail_writes(int code) { no_writes_code_ = code; }
  uint64_t calls() const { return calls_; }
  // This file, whatever it is called later, cannot be read from now on (EIO): a bad block. A new one in its place can.
  void fail_reads_of(const std::string& path) { inode_of(path).unreadable = true; }

  void damage(const std::string& path, uint64_t byte);  // on the medium: seen after drop_cache() or a cut

 private:
  struct Write {
    uint64_t offset;
    std::string bytes;
  };
  struct Inode {
    std::string now, durable;
    std::vector<Write> unsynced;
    bool truncated = false;  // since the last sync
    bool unreadable = false;
  };
  struct NameChange {
    std::string name;
    int inode;                 // -1: removed
    std::string also_removed;  // the old name of a rename
  };
  using Names = std::map<std::string, int>;

  Inode& inode_of(const std::string& path);
  bool fails(bool writes = false);
  void fail(const std::string& path) const;
  void change();
  void change_name(NameChange c);
  static void apply(Names& names, const NameChange& c);

  std::vector<Inode> inodes_;
  Names names_, durable_names_;
  std::vector<NameChange> unsynced_names_;
  uint64_t changes_ = 0, cut_at_ = UINT64_MAX, calls_ = 0, fail_at_ = UINT64_MAX;
  int fail_code_ = 0, no_writes_code_ = 0;
  bool fail_for_ever_ = false;
  int last_written_ = -1;  // inode of the write that is the last change
};

}  // namespace mote::fleet::store
