#pragma once

// The publisher's half: a TUF repository in a folder that any static server can serve.
//
//   metadata/   root, targets, rollout, snapshot: N.<role>.json; timestamp.json
//   targets/    <sha256>.<name>
//   draft/      next versions of root, targets and rollout, on their way to enough signatures; not to be served
//   settings.toml  lifetimes; not to be served
//
// Offline keys (root, targets) sign packages. The online role "rollout" is delegated rollout/* alone: its files say which of the signed
// packages a channel gets, for how many devices, and whether it is halted; it cannot sign a package.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mote/fleet/base/clock.h"
#include "mote/fleet/base/files.h"
#include "mote/fleet/base/key.h"
#include "mote/fleet/publish/lifetimes.h"

namespace mote::fleet::publish {

// What a channel gets: devices whose hash (of device and rollout) is among the first `percent` of a hundred take the package.
struct Ring {
  std::string channel, package;  // target path of a package that the repository has
  int percent = 100;
  bool halted = false;
};

class Repository {
 public:
  Repository(Files& files, Clock& clock, std::string dir);  // throws Error when settings.toml is not what it should be

  // Drafts of root, targets and rollout for these keys: role -> private keys (only the public halves are written); all of a role's keys
  // must sign. Roles: root, targets, snapshot, timestamp, rollout. Throws Error when there is a repository already.
  void init(const std::map<std::string, std::vector<PrivateKey>>& keys, const Lifetimes& lifetimes = {});
  // Gives a role these keys, `threshold` of which (0: all) must sign from now on, in drafts of root (for rollout: of targets) and of what
  // the role itself has signed. Root's next version needs the signatures of its old keys and of its new ones.
  void rotate(const std::string& role, const std::vector<PrivateKey>& keys, size_t threshold = 0);
  // Copies a file in and lists it in the draft of targets.
  void add(const std::string& file, const std::string& target_path);
  void set_ring(const Ring& ring);
  void halt(const std::string& channel);      // devices on their way stop where they are
  void withdraw(const std::string& channel);  // the channel offers nothing any more: devices on their way forget about it
  // Signs rollout anew with this key, as a draft, where it lives less than half of its days longer; who publishes regularly need not think
  // of it. False: it is not time yet, a draft is on its way, or this key alone may not.
  bool renew_rollout(const PrivateKey& key);
  // Adds this key's signature to every draft that it may sign. Returns their names; throws Error when there are none. `show` is told before
  // each signature what it is given for, changes() of the very bytes that are signed then; what it throws leaves the draft unsigned.
  using Show = std::function<void(const std::string& role, const std::vector<std::string>& changes)>;
  std::vector<std::string> sign(const PrivateKey& key, const Show& show = nullptr);
  // What the draft of a role says that its newest public version does not, and the other way round, member by member: what a signature is
  // given for. One line each, "+ name = value" or "- name = value"; nothing is left out.
  std::vector<std::string> changes(const std::string& role);
  // Makes all drafts public, and new snapshot and timestamp of them. Throws Error, and publishes nothing, when a draft lacks signatures.
  // Returns until when (UTC) devices take it for fresh: it must be published again before.
  std::string publish(const PrivateKey& snapshot, const PrivateKey& timestamp);

 private:
  std::string draft_path(const std::string& role) const { return dir_ + "/draft/" + role + ".json"; }
  std::string public_path(const std::string& role, int64_t version) const;
  int64_t newest(const std::string& role);
  std::string load(const std::string& role);  // draft, or the newest public one
  std::string load_public(const std::string& role);
  std::vector<std::string> changes_to(const std::string& role, const std::string& draft);
  void require_signed(const std::string& role, const std::string& text);
  void put_target(const std::string& role, const std::string& target_path, std::string_view bytes);
  std::string expiry(uint64_t days);
  void draft_anew(const std::string& role, const std::string& text);

  Files& files_;
  Clock& clock_;
  const std::string dir_;
  Lifetimes lifetimes_;
};

}  // namespace mote::fleet::publish
