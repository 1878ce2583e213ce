#pragma once

// Immutable files, named by the SHA-256 of their bytes. A name is there only after its bytes are: written aside, synced, read again from
// the medium, hashed, renamed.

#include <functional>
#include <string>
#include <vector>

#include "mote/fleet/base/files.h"
#include "mote/fleet/store/record.h"

namespace mote::fleet::store {

// What became of an object since it was stored.
enum class Condition { kIntact, kDamaged, kUnreadable };  // kDamaged: gone, or other bytes; kUnreadable: the medium fails

class Objects {
 public:
  Objects(Files& files, std::string dir) : files_(files), dir_(std::move(dir)) {}

  std::string path(const std::string& digest) const;      // raw digest
  std::string incoming(const std::string& digest) const;  // where it is written before
  void prepare();                                         // makes the folders

  // The bytes, after all of them were read and hashed; nothing when they are not the right ones. Whoever uses the object uses these,
  // whatever its name means by then. Throws IoError where they cannot be read.
  std::optional<Mapping> open(const Model& model);
  // The same as a value: `out_mapping` is set where it is intact, `out_why` where the medium fails.
  Condition look(const Model& model, Mapping* out_mapping = nullptr, std::string* out_why = nullptr);
  // Takes what incoming() holds into the store. False, and nothing taken, when it is not the model; it is removed then.
  bool adopt(const Model& model);

  uint64_t used_bytes();
  // Objects for which `keep` says no, and incoming files but that of `incoming_digest`; and their removal. What cannot be removed is left
  // for the next time.
  std::vector<std::string> leftovers(const std::function<bool(const std::string& digest)>& keep, const std::string& incoming_digest);
  void remove(const std::vector<std::string>& paths);

 private:
  std::vector<std::string> digests(const std::string& dir);

  Files& files_;
  const std::string dir_;
};

}  // namespace mote::fleet::store
