#pragma once

// The metadata that a client trusts, and the only ways to change it (specification, chapter 5). Pure: bytes and a time come in, an Error
// comes out when they are not to be trusted, and then nothing has changed.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "mote/fleet/tuf/metadata.h"

namespace mote::fleet::tuf {

class Trust {
 public:
  // `root`: what the client was shipped with or trusted last; it must be signed by its own keys. `now`: seconds since 1970.
  Trust(std::string_view root, int64_t now);

  // The next version of root: signed by this one's keys and by its own. An expired one may lead to the next.
  void update_root(std::string_view bytes);

  // What was trusted in earlier runs: compared with, whether expired or not. False, and not taken, when current keys did not sign it.
  bool recall_timestamp(std::string_view bytes);
  bool recall_snapshot(std::string_view bytes);

  // False when its version is the trusted one: it is not taken then.
  bool update_timestamp(std::string_view bytes);
  void update_snapshot(std::string_view bytes);
  // Is the recalled snapshot the one that timestamp names, and not expired?
  bool snapshot_is_current() const;
  // A targets role that `delegator` ("root" for "targets") has delegated to. Every delegator's keys must have signed it: what was loaded
  // for one is not trusted for another.
  void update_targets(const std::string& role, const std::string& delegator, std::string_view bytes);
  bool has_targets(const std::string& role, const std::string& delegator) const { return verified_.count({role, delegator}) > 0; }

  const Document& root() const { return root_; }
  FileInfo snapshot_info() const;                        // from timestamp
  FileInfo targets_info(const std::string& role) const;  // from snapshot
  const Document& targets(const std::string& role) const { return targets_.at(role); }
  int64_t earliest_expiry() const;  // of the top-level roles; all must be there

  void require_root_not_expired() const;

 private:
  void keep_targets(const std::string& role, const Document& next);
  void require_not_expired(const Document& document, const char* name) const;

  int64_t now_;
  Document root_;
  std::optional<Document> timestamp_, snapshot_;
  std::map<std::string, Document> targets_;
  std::set<std::pair<std::string, std::string>> verified_;  // role, delegator
};

}  // namespace mote::fleet::tuf
