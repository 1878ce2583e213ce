#pragma once

// Immutable files, named by the SHA-256 of their bytes. A name is there only after its bytes are: written aside, synced, read again from
// the medium, hashed, renamed.

#include <functional>
#include <string>
#include <vector>

#include "mote/fleet/base/files.h"
#include "mote/fleet/store/record.h"

namespace mote::fleet::store {

class Objects {
 public:
  Objects(Files& files, std::string dir) : files_(files), dir_(std::move(dir)) {}

  std::string path(const std::string& digest) const;      // raw digest
  std::string incoming(const std::string& digest) const;  // where it is written before
  void prepare();                                         // makes the folders

  // Are the bytes there, and the right ones? Reads all of them.
  bool intact(const Model& model);
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
