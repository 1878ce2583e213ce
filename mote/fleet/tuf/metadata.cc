#include "mote/fleet/tuf/metadata.h"

#include <algorithm>
#include <set>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/key.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/tuf/delegation.h"

namespace mote::fleet::tuf {
namespace {

constexpr size_t kMaxSignatures = 1024, kMaxKeysOfRole = 1024, kShort = 128, kMaxKeyId = 512, kMaxKey = 16384;

// "1.0.34", "1.0": the first number decides.
void check_spec_version(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  if (!digits || text.find('.') == std::string::npos) throw Error("spec_version '" + text + "' is no version");
  if (text.substr(0, text.find('.')) != "1") throw Error("specification " + text + " is not 1.x");
}

int64_t positive(const Json& object, const char* name) {
  return within(name, [&] {
    const int64_t value = object.at(name).integer();
    if (value < 1) throw Error("expected at least 1, found " + std::to_string(value));
    return value;
  });
}

std::vector<std::pair<std::string, std::string>> parse_hashes(const Json& value) {
  std::vector<std::pair<std::string, std::string>> out;
  for (Json::Cursor c(value); c.next();) {
    const std::optional<std::string> raw = from_hex(c.value().string(kShort));
    if (!raw) throw Error("the digest " + c.key() + " is not hexadecimal");
    out.emplace_back(c.key(), *raw);
    if (out.size() > 16) throw Error("more than 16 digests of a file");
  }
  if (out.empty()) throw Error("no digests");
  return out;
}

uint64_t parse_length(const Json& value) {
  const int64_t length = value.integer();
  if (length < 0) throw Error("a length below 0");
  return static_cast<uint64_t>(length);
}

void check_keys(const Json& keys) {
  for (Json::Cursor c(keys); c.next();) {
    within("key " + c.key(), [&] {
      c.value().at("keytype").string();
      c.value().at("scheme").string();
      c.value().at("keyval").at("public").string();
    });
  }
}

void check_root(const Json& body) {
  check_keys(body.at("keys"));
  for (Json::Cursor c(body.at("roles")); c.next();) within("role " + c.key(), [&] { parse_role_keys(c.value()); });
  for (const char* role : {kRoot, kTimestamp, kSnapshot, kTargets}) body.at("roles").at(role);
  if (const auto flag = body.find("consistent_snapshot")) flag->boolean();
}

void check_meta(const Json& body) {
  for (Json::Cursor c(body.at("meta")); c.next();) within(c.key(), [&] { parse_meta_file(c.value()); });
}

void check_targets(const Json& body) {
  for (Json::Cursor c(body.at("targets")); c.next();) within("target " + c.key(), [&] { parse_target_file(c.value()); });
  if (const auto delegations = body.find("delegations")) {
    check_keys(delegations->at("keys"));
    check_delegations(*delegations);
  }
}

}  // namespace

Document::Document(std::string_view text, std::string_view type) : Document(Json::parse(text), type) {}

Document::Document(const Json& whole, std::string_view type)
    : signed_(std::make_shared<const std::string>(whole.at("signed").canonical())), body_(Json::parse_canonical(*signed_)) {
  const std::string found = body_.at("_type").string(kShort);
  if (found != type) throw Error("_type is '" + found + "', expected '" + std::string(type) + "'");
  check_spec_version(body_.at("spec_version").string(kShort));
  version_ = positive(body_, "version");
  const std::string expires = body_.at("expires").string(kShort);
  const std::optional<int64_t> seconds = parse_utc(expires);
  if (!seconds) throw Error("expires '" + expires + "' is not YYYY-MM-DDTHH:MM:SSZ");
  expires_ = *seconds;
  for (Json::Cursor c(whole.at("signatures")); c.next();) {
    const std::string keyid = c.value().at("keyid").string(kMaxKeyId);
    // Not hexadecimal, or empty (a key that has not signed yet): a signature that is no good.
    const std::string raw = from_hex(c.value().at("sig").string()).value_or("");
    if (!signatures_.emplace(keyid, raw).second) throw Error("two signatures of key " + keyid);
    if (signatures_.size() > kMaxSignatures) throw Error("more than 1024 signatures");
  }
  if (type == kRoot) check_root(body_);
  if (type == kTimestamp) body_.at("meta").at("snapshot.json");
  if (type == kTimestamp || type == kSnapshot) check_meta(body_);
  if (type == kTargets) check_targets(body_);
}

const std::string* Document::signature_of(const std::string& keyid) const {
  const auto found = signatures_.find(keyid);
  return found == signatures_.end() ? nullptr : &found->second;
}

RoleKeys parse_role_keys(const Json& role) {
  RoleKeys out;
  std::set<std::string> seen;
  for (Json::Cursor c(role.at("keyids")); c.next();) {
    out.keyids.push_back(c.value().string(kMaxKeyId));
    if (!seen.insert(out.keyids.back()).second) throw Error("key " + out.keyids.back() + " is listed twice");
    if (seen.size() > kMaxKeysOfRole) throw Error("more than 1024 keys of a role");
  }
  out.threshold = positive(role, "threshold");
  return out;
}

void require_signatures(const Document& document, const Json& keys, const RoleKeys& role) {
  std::set<std::string> signers;
  for (const std::string& keyid : role.keyids) {
    const std::string* signature = document.signature_of(keyid);
    const std::optional<Json> key = keys.find(keyid);
    if (!signature || signature->empty() || !key) continue;
    try {
      const PublicKey usable(key->at("scheme").string(kShort), key->at("keyval").at("public").string(kMaxKey));
      if (usable.verifies(document.signed_bytes(), *signature)) signers.insert(usable.der());
    } catch (const Error&) {
      // An unknown kind of key: others may reach the threshold.
    }
  }
  if (static_cast<int64_t>(signers.size()) < role.threshold)
    throw Error("signed by " + std::to_string(signers.size()) + " of its keys, " + std::to_string(role.threshold) + " needed");
}

FileInfo parse_meta_file(const Json& value) {
  FileInfo out;
  out.version = positive(value, "version");
  if (const auto length = value.find("length")) out.length = parse_length(*length);
  if (const auto hashes = value.find("hashes")) out.hashes = parse_hashes(*hashes);
  return out;
}

FileInfo parse_target_file(const Json& value) {
  FileInfo out;
  out.length = parse_length(value.at("length"));
  out.hashes = parse_hashes(value.at("hashes"));
  if (const auto custom = value.find("custom")) out.custom = custom->text();
  return out;
}

void require_match(const FileInfo& info, std::string_view bytes) {
  if (info.length && *info.length != bytes.size())
    throw Error("has " + std::to_string(bytes.size()) + " bytes, " + std::to_string(*info.length) + " expected");
  for (const auto& [algorithm, expected] : info.hashes) {
    if (digest(bytes, algorithm) != expected) throw Error("its " + algorithm + " is not the signed one");
  }
}

std::optional<FileInfo> find_target(const Document& targets, std::string_view path) {
  const std::optional<Json> found = targets.body().at("targets").find(path);
  if (!found) return std::nullopt;
  return parse_target_file(*found);
}

RoleKeys root_role(const Document& root, std::string_view name) { return parse_role_keys(root.body().at("roles").at(name)); }

bool consistent_snapshot(const Document& root) {
  const std::optional<Json> flag = root.body().find("consistent_snapshot");
  return flag && flag->boolean();
}

std::optional<FileInfo> find_meta(const Document& document, std::string_view name) {
  const std::optional<Json> found = document.body().at("meta").find(std::string(name) + ".json");
  if (!found) return std::nullopt;
  return parse_meta_file(*found);
}

void require_no_rollback(const Document& before, const Document& after) {
  // Both are in canonical order: one walk through each.
  const Json old_meta = before.body().at("meta"), new_meta = after.body().at("meta");
  Json::Cursor fresh(new_meta);
  bool more = fresh.next();
  for (Json::Cursor old(old_meta); old.next();) {
    const std::string name = old.key();
    while (more && fresh.key() < name) more = fresh.next();
    if (!more || fresh.key() != name) throw Error("no longer lists " + name);
    const int64_t was = parse_meta_file(old.value()).version, is = parse_meta_file(fresh.value()).version;
    if (is < was) throw Error("takes " + name + " back from version " + std::to_string(was) + " to " + std::to_string(is));
  }
}

}  // namespace mote::fleet::tuf
