#include "mote/fleet/publish/repository.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/package/package.h"
#include "mote/fleet/tuf/trust.h"

namespace mote::fleet::publish {
namespace {

using Value = nlohmann::json;

constexpr const char* kRollout = "rollout";
constexpr const char* kSpecVersion = "1.0.34";
constexpr uint64_t kMaxMetadata = 64 << 20, kMaxTarget = uint64_t{1} << 34;

std::string canonical(const Value& value) { return Json::parse(value.dump()).canonical(); }
Value parse(const std::string& text) { return Value::parse(Json::parse(text).text()); }

Value key_value(const PrivateKey& key) {
  return {{"keytype", key.keytype()}, {"scheme", key.scheme()}, {"keyval", {{"public", key.public_text()}}}};
}

std::string key_id(const PrivateKey& key) { return to_hex(digest(canonical(key_value(key)))); }

void add_signature(Value& document, const PrivateKey& key) {
  const std::string id = key_id(key);
  Value kept = Value::array();
  for (const Value& signature : document["signatures"]) {
    if (signature["keyid"] != id) kept.push_back(signature);
  }
  kept.push_back({{"keyid", id}, {"sig", to_hex(key.sign(canonical(document["signed"])))}});
  document["signatures"] = kept;
}

Value role_keys(const std::vector<PrivateKey>& keys, size_t threshold = 0) {
  Value ids = Value::array();
  for (const PrivateKey& key : keys) ids.push_back(key_id(key));
  if (threshold > keys.size()) throw Error(std::to_string(keys.size()) + " keys cannot give " + std::to_string(threshold) + " signatures");
  return {{"keyids", ids}, {"threshold", threshold == 0 ? keys.size() : threshold}};
}

void list_keys(Value& keys, const std::vector<PrivateKey>& of_role) {
  for (const PrivateKey& key : of_role) keys[key_id(key)] = key_value(key);
}

Value unsigned_document(const char* type, int64_t version, const std::string& expires) {
  return {{"signatures", Value::array()},
          {"signed", {{"_type", type}, {"spec_version", kSpecVersion}, {"version", version}, {"expires", expires}}}};
}

// How snapshot and timestamp list a file.
Value meta_file(const std::string& text) {
  return {{"version", parse(text)["signed"]["version"]}, {"length", text.size()}, {"hashes", {{"sha256", to_hex(digest(text))}}}};
}

// Drops keys that no role names any more.
void drop_unused(Value& keys, const Value& roles) {
  std::set<std::string> used;
  for (const Value& role : roles) {
    for (const Value& id : role["keyids"]) used.insert(id.get<std::string>());
  }
  for (auto it = keys.begin(); it != keys.end();) it = used.count(it.key()) > 0 ? std::next(it) : keys.erase(it);
}

void check_target_path(const std::string& path) {
  const bool rollout = path.compare(0, 8, "rollout/") == 0;
  if (path.empty() || path[0] == '/' || path.find("..") != std::string::npos || rollout)
    throw Error("'" + path + "' is no path for a target: it is relative, without '..', and not below rollout/");
}

}  // namespace

Repository::Repository(Files& files, Clock& clock, std::string dir) : files_(files), clock_(clock), dir_(std::move(dir)) {
  const std::string path = dir_ + "/settings.toml";
  if (const auto text = read_file(files_, path, 1 << 16)) lifetimes_ = within(path, [&] { return parse_lifetimes(*text); });
}

std::string Repository::expiry(uint64_t days) { return utc_text(clock_.now() + static_cast<int64_t>(days) * 86400); }

std::string Repository::public_path(const std::string& role, int64_t version) const {
  return dir_ + "/metadata/" + (role == tuf::kTimestamp ? "" : std::to_string(version) + ".") + role + ".json";
}

// The newest public version of a role; 0 when there is none.
int64_t Repository::newest(const std::string& role) {
  int64_t version = 0;
  while (files_.size(public_path(role, version + 1))) ++version;
  return version;
}

std::string Repository::load_public(const std::string& role) {
  const std::optional<std::string> text = read_file(files_, public_path(role, newest(role)), kMaxMetadata);
  if (!text) throw Error(dir_ + " has no " + role + ": it is no repository, or was never published");
  return *text;
}

std::string Repository::load(const std::string& role) {
  if (const auto draft = read_file(files_, draft_path(role), kMaxMetadata)) return *draft;
  return load_public(role);
}

void Repository::init(const std::map<std::string, std::vector<PrivateKey>>& keys, const Lifetimes& lifetimes) {
  if (files_.size(draft_path(tuf::kRoot)) || newest(tuf::kRoot) > 0) throw Error(dir_ + " is a repository already");
  for (const char* role : {tuf::kRoot, tuf::kTargets, tuf::kSnapshot, tuf::kTimestamp, kRollout}) {
    if (keys.count(role) == 0 || keys.at(role).empty()) throw Error(std::string("no key for ") + role);
  }
  const std::string settings = lifetimes_text(lifetimes);
  lifetimes_ = parse_lifetimes(settings);
  for (const char* folder : {"/metadata", "/targets", "/draft"}) files_.make_dir(dir_ + folder);
  replace_file(files_, dir_ + "/settings.toml", settings);
  Value root = unsigned_document(tuf::kRoot, 1, expiry(lifetimes_.root_days));
  root["signed"]["consistent_snapshot"] = true;
  for (const char* role : {tuf::kRoot, tuf::kTargets, tuf::kSnapshot, tuf::kTimestamp}) {
    root["signed"]["roles"][role] = role_keys(keys.at(role));
    list_keys(root["signed"]["keys"], keys.at(role));
  }
  Value targets = unsigned_document(tuf::kTargets, 1, expiry(lifetimes_.targets_days)), rollout = targets;
  targets["signed"]["targets"] = rollout["signed"]["targets"] = Value::object();
  rollout["signed"]["expires"] = expiry(lifetimes_.rollout_days);
  Value delegation = role_keys(keys.at(kRollout));
  delegation.update(Value{{"name", kRollout}, {"paths", Value::array({"rollout/*"})}, {"terminating", true}});
  targets["signed"]["delegations"] = {{"keys", Value::object()}, {"roles", Value::array({delegation})}};
  list_keys(targets["signed"]["delegations"]["keys"], keys.at(kRollout));
  replace_file(files_, draft_path(kRollout), rollout.dump(1));
  replace_file(files_, draft_path(tuf::kTargets), targets.dump(1));
  replace_file(files_, draft_path(tuf::kRoot), root.dump(1));
}

// The next version of a role as a draft, without signatures.
void Repository::draft_anew(const std::string& role, const std::string& text) {
  Value document = parse(text);
  const uint64_t days = role == tuf::kRoot ? lifetimes_.root_days : role == kRollout ? lifetimes_.rollout_days : lifetimes_.targets_days;
  document["signatures"] = Value::array();
  document["signed"]["version"] = newest(role) + 1;
  document["signed"]["expires"] = expiry(days);
  replace_file(files_, draft_path(role), document.dump(1));
}

void Repository::rotate(const std::string& role, const std::vector<PrivateKey>& keys, size_t threshold) {
  if (keys.empty()) throw Error("no key for " + role);
  const bool rollout = role == kRollout;
  const std::string holder = rollout ? tuf::kTargets : tuf::kRoot;
  Value document = parse(load(holder));
  Value& body = rollout ? document["signed"]["delegations"] : document["signed"];
  if (!rollout && !body["roles"].contains(role)) throw Error("there is no role '" + role + "'");
  (rollout ? body["roles"][0] : body["roles"][role]).update(role_keys(keys, threshold));
  list_keys(body["keys"], keys);
  drop_unused(body["keys"], body["roles"]);
  draft_anew(holder, document.dump());
  if (rollout || role == tuf::kTargets) draft_anew(role, load(role));
}

// Lists bytes in the draft of a role, which loses its signatures.
void Repository::put_target(const std::string& role, const std::string& path, std::string_view bytes) {
  Value document = parse(load(role));
  const std::string hash = to_hex(digest(bytes));
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  files_.make_dir(dir_ + "/targets/" + folder);
  replace_file(files_, dir_ + "/targets/" + folder + hash + "." + path.substr(folder.size()), bytes);
  Value& listed = document["signed"]["targets"][path];
  listed = {{"length", bytes.size()}, {"hashes", {{"sha256", hash}}}};
  // Who knows the header's digest can check a package as it comes.
  if (package::is_package(bytes)) listed["custom"]["mpkg_header_sha256"] = to_hex(package::parse_header(bytes).sha256);
  draft_anew(role, document.dump());
}

void Repository::add(const std::string& file, const std::string& target_path) {
  check_target_path(target_path);
  const std::optional<std::string> bytes = read_file(files_, file, kMaxTarget);
  if (!bytes) throw Error(file + " does not exist");
  put_target(tuf::kTargets, target_path, *bytes);
}

void Repository::set_ring(const Ring& ring) {
  if (ring.channel.empty() || percent_encode(ring.channel) != ring.channel) throw Error("'" + ring.channel + "' is no name for a channel");
  if (ring.percent < 0 || ring.percent > 100) throw Error("percent is 0 to 100");
  const Value targets = parse(load(tuf::kTargets));
  const Value& listed = targets["signed"]["targets"];
  if (!listed.contains(ring.package)) throw Error("no package '" + ring.package + "' is listed in targets");
  const Value value = {{"channel", ring.channel},
                       {"package", ring.package},
                       {"sha256", listed[ring.package]["hashes"]["sha256"]},
                       {"percent", ring.percent},
                       {"halted", ring.halted}};
  put_target(kRollout, "rollout/" + ring.channel + ".json", canonical(value));
}

void Repository::halt(const std::string& channel) {
  const Value rollout = parse(load(kRollout));
  const std::string path = "rollout/" + channel + ".json";
  const Value& listed = rollout["signed"]["targets"];
  if (!listed.contains(path)) throw Error("there is no channel '" + channel + "'");
  const std::string hash = listed[path]["hashes"]["sha256"];
  const auto text = read_file(files_, dir_ + "/targets/rollout/" + hash + "." + channel + ".json", kMaxMetadata);
  if (!text) throw Error(path + " is listed, but its file is not there");
  Value value = parse(*text);
  value["halted"] = true;
  put_target(kRollout, path, canonical(value));
}

void Repository::withdraw(const std::string& channel) {
  Value rollout = parse(load(kRollout));
  if (rollout["signed"]["targets"].erase("rollout/" + channel + ".json") == 0) throw Error("there is no channel '" + channel + "'");
  draft_anew(kRollout, rollout.dump());
}

bool Repository::renew_rollout(const PrivateKey& key) {
  if (files_.size(draft_path(kRollout)) || newest(kRollout) == 0) return false;
  const std::string text = load_public(kRollout);
  const int64_t left = tuf::Document(text, tuf::kTargets).expires() - clock_.now();
  const std::optional<tuf::RoleKeys> signers = tuf::find_delegation(tuf::Document(load_public(tuf::kTargets), tuf::kTargets), kRollout);
  const bool alone = signers && signers->threshold == 1 && signers->keyids == std::vector<std::string>{key_id(key)};
  if (!alone || left > static_cast<int64_t>(lifetimes_.rollout_days) * 43200) return false;
  draft_anew(kRollout, text);
  sign(key);
  return true;
}

std::vector<std::string> Repository::sign(const PrivateKey& key, const Show& show) {
  const Value root = parse(load(tuf::kRoot)), targets = parse(load(tuf::kTargets));
  const auto may_sign = [&](const char* role) {
    const Value& holder = role == std::string(kRollout) ? targets["signed"]["delegations"]["roles"][0] : root["signed"]["roles"][role];
    const auto holds = [&](const Value& ids) { return std::find(ids.begin(), ids.end(), key_id(key)) != ids.end(); };
    if (holds(holder["keyids"])) return true;
    // The keys that root has now vouch for the next ones.
    return role == std::string(tuf::kRoot) && newest(role) > 0 && holds(parse(load_public(role))["signed"]["roles"][role]["keyids"]);
  };
  std::vector<std::string> out;
  for (const char* role : {tuf::kRoot, tuf::kTargets, kRollout}) {
    const auto draft = read_file(files_, draft_path(role), kMaxMetadata);
    if (!draft || !may_sign(role)) continue;
    if (show) show(role, changes_to(role, *draft));
    Value document = parse(*draft);
    add_signature(document, key);
    replace_file(files_, draft_path(role), document.dump(1));
    out.push_back(role);
  }
  if (out.empty()) throw Error("no draft waits for key " + key_id(key));
  return out;
}

std::vector<std::string> Repository::changes(const std::string& role) {
  const auto draft = read_file(files_, draft_path(role), kMaxMetadata);
  return draft ? changes_to(role, *draft) : std::vector<std::string>();
}

std::vector<std::string> Repository::changes_to(const std::string& role, const std::string& draft) {
  const Value after = parse(draft)["signed"].flatten();
  const Value before = newest(role) > 0 ? parse(load_public(role))["signed"].flatten() : Value::object();
  std::vector<std::string> out;
  const auto tell = [&](const char* sign, const std::string& name, const Value& value) {
    out.push_back(printable(std::string(sign) + " " + name.substr(1) + " = " + value.dump()));
  };
  for (const auto& [name, value] : before.items()) {
    if (!after.contains(name) || after[name] != value) tell("-", name, value);
  }
  for (const auto& [name, value] : after.items()) {
    if (!before.contains(name) || before[name] != value) tell("+", name, value);
  }
  return out;
}

// As a client will look at it: nothing becomes public that a client would refuse.
void Repository::require_signed(const std::string& role, const std::string& text) {
  within("draft of " + role, [&] {
    if (role == tuf::kRoot) {
      const tuf::Trust checked(text, clock_.now());  // throws where it is no root
      if (newest(role) > 0) tuf::Trust(load_public(role), clock_.now()).update_root(text);
      return;
    }
    if (role == kRollout) {
      const tuf::Document targets(load(tuf::kTargets), tuf::kTargets);
      return tuf::require_signatures(tuf::Document(text, tuf::kTargets), tuf::delegation_keys(targets),
                                     *tuf::find_delegation(targets, role));
    }
    const tuf::Document root(load(tuf::kRoot), tuf::kRoot);
    tuf::require_signatures(tuf::Document(text, role), root.body().at("keys"), tuf::root_role(root, role));
  });
}

std::string Repository::publish(const PrivateKey& snapshot_key, const PrivateKey& timestamp_key) {
  Value snapshot = unsigned_document(tuf::kSnapshot, newest(tuf::kSnapshot) + 1, expiry(lifetimes_.snapshot_days));
  std::map<std::string, std::string> drafts;
  for (const char* role : {tuf::kRoot, tuf::kTargets, kRollout}) {
    const auto draft = read_file(files_, draft_path(role), kMaxMetadata);
    // A draft that is public already is left over from a publish that did not come to its end.
    if (draft && (newest(role) == 0 || *draft != load_public(role))) {
      require_signed(role, *draft);
      drafts[role] = *draft;
    }
    if (role != std::string(tuf::kRoot)) snapshot["signed"]["meta"][role + std::string(".json")] = meta_file(load(role));
  }
  add_signature(snapshot, snapshot_key);
  const std::string snapshot_text = snapshot.dump(1);
  const auto before = read_file(files_, public_path(tuf::kTimestamp, 0), kMaxMetadata);
  const int64_t version = before ? parse(*before)["signed"]["version"].get<int64_t>() + 1 : 1;
  Value timestamp = unsigned_document(tuf::kTimestamp, version, expiry(lifetimes_.timestamp_days));
  timestamp["signed"]["meta"]["snapshot.json"] = meta_file(snapshot_text);
  add_signature(timestamp, timestamp_key);
  require_signed(tuf::kSnapshot, snapshot_text);
  require_signed(tuf::kTimestamp, timestamp.dump(1));
  // Clients begin with timestamp: until it is there, they see the old state, whole.
  for (const auto& [role, text] : drafts) replace_file(files_, public_path(role, parse(text)["signed"]["version"]), text);
  replace_file(files_, public_path(tuf::kSnapshot, snapshot["signed"]["version"]), snapshot_text);
  replace_file(files_, public_path(tuf::kTimestamp, 0), timestamp.dump(1));
  for (const char* role : {tuf::kRoot, tuf::kTargets, kRollout}) files_.remove(draft_path(role));
  std::string until = timestamp["signed"]["expires"];
  for (const char* role : {tuf::kRoot, tuf::kTargets, kRollout, tuf::kSnapshot})
    until = std::min(until, parse(load_public(role))["signed"]["expires"].get<std::string>());
  return until;
}

}  // namespace mote::fleet::publish
