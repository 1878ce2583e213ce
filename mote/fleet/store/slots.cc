#include "mote/fleet/store/slots.h"

#include <cerrno>

#include "mote/fleet/base/error.h"

namespace mote::fleet::store {
namespace {

constexpr uint64_t kLockMs = 5000;  // a commit takes milliseconds: who holds the lock longer hangs, or means harm

}  // namespace

Slots::Slots(Files& files, std::string dir) : files_(files), dir_(std::move(dir)) { load(); }

void Slots::load() {
  const Record before = record_;
  bool found = false;
  unreadable_ = false;
  for (int slot = 0; slot < 2; ++slot) {
    std::optional<Record> read;
    try {
      if (files_.size(path(slot))) read = decode(files_.read(path(slot), 0, kRecordBytes));
    } catch (const IoError&) {
      unreadable_ = true;  // run with what the other slot says
    }
    if (!read || (found && read->generation <= record_.generation)) continue;
    record_ = *read;
    newest_ = slot;
    found = true;
  }
  if (!(record_ == before)) affirmed_ = false;
}

void Slots::make_files() {
  for (int slot = 0; slot < 2; ++slot) {
    if (files_.size(path(slot))) continue;
    files_.make_dir(dir_);
    files_.create(path(slot));
    files_.sync_dir(dir_);
  }
}

void Slots::write(int slot, const Record& record) {
  files_.write(path(slot), 0, encode(record));
  files_.sync(path(slot));
}

void Slots::require_readable() const {
  if (unreadable_) throw Error(dir_ + ": a slot record cannot be read; nothing is changed before it can");
}

// An earlier sync may have failed and left the newest record in memory only: the same bytes once more do no harm wherever they stop.
void Slots::affirm() {
  require_readable();
  if (!affirmed_ && record_.generation > 0) write(newest_, record_);
  affirmed_ = true;
}

std::shared_ptr<void> Slots::hold() {
  std::shared_ptr<void> alone = files_.lock(dir_ + "/lock", kLockMs);
  if (!alone) return nullptr;
  const uint64_t known = record_.generation;
  load();
  return record_.generation == known ? alone : nullptr;
}

bool Slots::tell(const Event& event) {
  if (step(record_, event) == record_) return false;
  make_files();
  const std::shared_ptr<void> alone = files_.lock(dir_ + "/lock", kLockMs);
  if (!alone) throw Error(dir_ + "/lock: another process has held it for " + std::to_string(kLockMs / 1000) + " s; nothing was changed");
  load();
  Record next = step(record_, event);
  if (next == record_) return false;
  ++next.generation;
  require_readable();
  affirm();
  affirmed_ = false;  // should the write fail, the newest slot is made sure of before the next one
  write(1 - newest_, next);
  affirmed_ = true;
  newest_ = 1 - newest_;
  record_ = next;
  return true;
}

}  // namespace mote::fleet::store
