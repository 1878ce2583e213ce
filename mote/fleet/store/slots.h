#pragma once

// Two slot records on the medium: slot.0 and slot.1 of a folder. The valid one with the higher generation counts; a commit overwrites the
// other, then syncs. Whatever a power cut does to that write, one whole record remains.

#include <memory>
#include <string>

#include "mote/fleet/base/files.h"
#include "mote/fleet/store/machine.h"

namespace mote::fleet::store {

class Slots {
 public:
  // Makes the folder and empty slots where there are none.
  Slots(Files& files, std::string dir);

  // The record as last read or committed.
  const Record& record() const { return record_; }
  bool readable() const { return !unreadable_; }  // false: what a slot that could not be read holds may be newer

  // Commits step(record, event) when that changes anything; says whether it did. Other processes may have committed since: the record is
  // read again, and nobody else commits meanwhile. When it throws, the medium may hold either record: the next commit makes sure of the
  // newest slot before it touches the other one.
  bool tell(const Event& event);

  // Afterwards the medium holds record(), whatever became of an earlier sync: what only older records needed may go.
  void affirm();

  // Keeps others from committing while the result lives. Null when somebody has committed since record() was read.
  std::shared_ptr<void> hold();

 private:
  std::string path(int slot) const { return dir_ + "/slot." + std::to_string(slot); }
  void load();
  void make_files();
  void write(int slot, const Record& record);
  void require_readable() const;

  Files& files_;
  const std::string dir_;
  Record record_;
  int newest_ = 1;           // slot of record_; the other is written next
  bool unreadable_ = false;  // a slot could not be read: what it holds may be newer, so nothing is overwritten
  bool affirmed_ = false;    // the newest record is known to be on the medium, not only in memory
};

}  // namespace mote::fleet::store
