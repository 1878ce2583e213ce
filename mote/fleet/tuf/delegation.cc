#include "mote/fleet/tuf/delegation.h"

#include <set>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/tuf/metadata.h"

namespace mote::fleet::tuf {
namespace {

constexpr size_t kMaxName = 1024, kMaxDelegations = 1024;

// [...] at pattern[0]: its length, 0 when no ] closes it; *match says whether it has c.
size_t match_class(std::string_view pattern, char c, bool* match) {
  size_t i = 1;
  const bool negated = i < pattern.size() && pattern[i] == '!';
  if (negated) ++i;
  bool found = false;
  for (const size_t first = i; i < pattern.size(); ++i) {
    if (pattern[i] == ']' && i > first) {
      *match = found != negated;
      return i + 1;
    }
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      found |= pattern[i] <= c && c <= pattern[i + 2];
      i += 2;
    } else {
      found |= pattern[i] == c;
    }
  }
  return 0;
}

// One part, without slashes. After a star that fails, the last star takes one character more.
bool part_matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
      continue;
    }
    bool match = false;
    size_t length = 0;
    if (p < pattern.size()) {
      if (pattern[p] == '[') length = match_class(pattern.substr(p), text[t], &match);
      if (length == 0) {
        match = pattern[p] == '?' || pattern[p] == text[t];
        length = 1;
      }
    }
    if (match) {
      p += length;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool role_covers(const Json& role, std::string_view path, const std::string& path_hash) {
  if (const auto prefixes = role.find("path_hash_prefixes")) {
    for (Json::Cursor c(*prefixes); c.next();) {
      const std::string prefix = c.value().string(path_hash.size());
      if (path_hash.compare(0, prefix.size(), prefix) == 0) return true;
    }
    return false;
  }
  for (Json::Cursor c(role.at("paths")); c.next();) {
    if (path_matches(c.value().string(), path)) return true;
  }
  return false;
}

void check_name(const std::string& name) {
  if (name.empty()) throw Error("a role without name");
  for (const char* top : {kRoot, kTimestamp, kSnapshot, kTargets}) {
    if (name == top) throw Error("'" + name + "' is the name of a top-level role");
  }
}

void check_role(const Json& role) {
  parse_role_keys(role);
  role.at("terminating").boolean();
  const auto paths = role.find("paths"), prefixes = role.find("path_hash_prefixes");
  if (static_cast<bool>(paths) == static_cast<bool>(prefixes)) throw Error("needs either paths or path_hash_prefixes");
  for (Json::Cursor c(paths ? *paths : *prefixes); c.next();) c.value().string();
}

// TAP 15: 2^bit_length roles of one prefix, chosen by the first bits of the path's digest.
struct Succinct {
  explicit Succinct(const Json& value)
      : keys(parse_role_keys(value)), bits(value.at("bit_length").integer()), prefix(value.at("name_prefix").string(kMaxName)) {
    if (bits < 1 || bits > 32) throw Error("bit_length is not 1 to 32");
  }
  std::string name(uint64_t bin) const {
    const size_t digits = static_cast<size_t>((bits + 3) / 4);
    std::string hex;
    for (size_t i = 0; i < digits; ++i) hex.insert(hex.begin(), "0123456789abcdef"[bin >> (4 * i) & 15]);
    return prefix + "-" + hex;
  }
  uint64_t bin_of(std::string_view path) const {
    const std::string hash = digest(path);
    uint64_t first = 0;
    for (size_t i = 0; i < 4; ++i) first = first << 8 | static_cast<unsigned char>(hash[i]);
    return first >> (32 - bits);
  }
  // Is this the name of one of the bins?
  bool has(std::string_view role) const {
    const size_t digits = static_cast<size_t>((bits + 3) / 4);
    if (role.size() != prefix.size() + 1 + digits || role.substr(0, prefix.size() + 1) != prefix + "-") return false;
    uint64_t bin = 0;
    for (const char c : role.substr(prefix.size() + 1)) {
      const size_t digit = std::string_view("0123456789abcdef").find(c);
      if (digit == std::string_view::npos) return false;
      bin = bin * 16 + digit;
    }
    return bin >> bits == 0;
  }
  RoleKeys keys;
  int64_t bits;
  std::string prefix;
};

}  // namespace

bool path_matches(std::string_view pattern, std::string_view path) {
  while (true) {
    const size_t a = pattern.find('/'), b = path.find('/');
    if (!part_matches(pattern.substr(0, a), path.substr(0, b))) return false;
    if (a == std::string_view::npos || b == std::string_view::npos) return a == b;
    pattern.remove_prefix(a + 1);
    path.remove_prefix(b + 1);
  }
}

void check_delegations(const Json& delegations) {
  const auto roles = delegations.find("roles"), succinct = delegations.find("succinct_roles");
  if (static_cast<bool>(roles) == static_cast<bool>(succinct)) throw Error("delegations need either roles or succinct_roles");
  if (succinct) {
    const Succinct checked(*succinct);
    check_name(checked.prefix);
    return;
  }
  std::set<std::string> names;
  for (Json::Cursor c(*roles); c.next();) {
    const std::string name = c.value().at("name").string(kMaxName);
    check_name(name);
    if (!names.insert(name).second) throw Error("role " + name + " is delegated to twice");
    within("role " + name, [&] { check_role(c.value()); });
  }
}

std::vector<Delegation> delegations_for(const Document& targets, std::string_view path) {
  std::vector<Delegation> out;
  const std::optional<Json> delegations = targets.body().find("delegations");
  if (!delegations) return out;
  if (const auto value = delegations->find("succinct_roles")) {
    const Succinct succinct(*value);
    out.push_back({succinct.name(succinct.bin_of(path)), true});
    return out;
  }
  const std::string path_hash = to_hex(digest(path));
  for (Json::Cursor c(delegations->at("roles")); c.next();) {
    if (!role_covers(c.value(), path, path_hash)) continue;
    out.push_back({c.value().at("name").string(), c.value().at("terminating").boolean()});
    if (out.back().terminating) break;
    if (out.size() > kMaxDelegations) throw Error("more than 1024 roles for a path");
  }
  return out;
}

std::optional<RoleKeys> find_delegation(const Document& targets, std::string_view name) {
  const std::optional<Json> delegations = targets.body().find("delegations");
  if (!delegations) return std::nullopt;
  if (const auto value = delegations->find("succinct_roles")) {
    const Succinct succinct(*value);
    if (!succinct.has(name)) return std::nullopt;
    return succinct.keys;
  }
  for (Json::Cursor c(delegations->at("roles")); c.next();) {
    if (c.value().at("name").string() == name) return parse_role_keys(c.value());
  }
  return std::nullopt;
}

Json delegation_keys(const Document& targets) { return targets.body().at("delegations").at("keys"); }

}  // namespace mote::fleet::tuf
