#pragma once

// TUF metadata files (specification 1.0.34, chapter 4): read, checked against their form, signatures counted. Nothing here touches files,
// network or clock.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mote/fleet/base/json.h"

namespace mote::fleet::tuf {

inline constexpr const char* kRoot = "root";
inline constexpr const char* kTimestamp = "timestamp";
inline constexpr const char* kSnapshot = "snapshot";
inline constexpr const char* kTargets = "targets";

// One signed file. Unknown members stay in the signed bytes, as the specification asks; only those are kept in memory.
class Document {
 public:
  // `type`: the _type it must have. Throws Error when anything in it is not as the specification says.
  Document(std::string_view text, std::string_view type);

  int64_t version() const { return version_; }
  int64_t expires() const { return expires_; }  // seconds since 1970
  Json body() const { return body_; }           // of "signed"; lives as long as a copy of this document
  const std::string& signed_bytes() const { return *signed_; }
  // Raw signature that claims to be of this key.
  const std::string* signature_of(const std::string& keyid) const;

 private:
  Document(const Json& whole, std::string_view type);

  std::shared_ptr<const std::string> signed_;  // canonical
  Json body_;
  std::map<std::string, std::string> signatures_;
  int64_t version_, expires_;
};

// Who may sign a role.
struct RoleKeys {
  std::vector<std::string> keyids;
  int64_t threshold;
};
RoleKeys parse_role_keys(const Json& role);

// Throws Error unless `threshold` different keys of `keys` (an object: keyid -> key) have signed. A key that is listed under two ids
// counts once; keys that cannot be used count as not signed.
void require_signatures(const Document& document, const Json& keys, const RoleKeys& role);

// What a file must be: of timestamp's and snapshot's "meta", and of "targets".
struct FileInfo {
  int64_t version = 0;                                      // of metadata
  std::optional<uint64_t> length;                           // always there for targets
  std::vector<std::pair<std::string, std::string>> hashes;  // algorithm, raw digest; may be empty for metadata
  std::string custom;                                       // of targets: canonical JSON, or empty
};
FileInfo parse_meta_file(const Json& value);
FileInfo parse_target_file(const Json& value);
// Throws Error when length or a digest differ.
void require_match(const FileInfo& info, std::string_view bytes);

// A delegation of a targets role, as far as one target path is concerned.
struct Delegation {
  std::string name;
  bool terminating;
};

// "targets" and "delegations" of a targets document.
std::optional<FileInfo> find_target(const Document& targets, std::string_view path);
std::vector<Delegation> delegations_for(const Document& targets, std::string_view path);  // in order, up to a terminating one
// Who may sign the role `name`, whatever the path (nothing: it is not delegated to); and the keys that its key ids name.
std::optional<RoleKeys> find_delegation(const Document& targets, std::string_view name);
Json delegation_keys(const Document& targets);

// Role of root's "roles".
RoleKeys root_role(const Document& root, std::string_view name);
bool consistent_snapshot(const Document& root);

// Entry of a "meta" object: `name` without ".json".
std::optional<FileInfo> find_meta(const Document& document, std::string_view name);

// Throws Error unless every file that `before` lists is in `after`, and not older.
void require_no_rollback(const Document& before, const Document& after);

}  // namespace mote::fleet::tuf
