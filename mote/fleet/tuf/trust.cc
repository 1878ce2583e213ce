#include "mote/fleet/tuf/trust.h"

#include <algorithm>

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet::tuf {
namespace {

void require_root_signatures(const Document& document, const Document& root, const char* role) {
  require_signatures(document, root.body().at("keys"), root_role(root, role));
}

}  // namespace

Trust::Trust(std::string_view root, int64_t now)
    : now_(now), root_(within("root", [&] {
        Document document(root, kRoot);
        require_root_signatures(document, document, kRoot);
        return document;
      })) {}

void Trust::update_root(std::string_view bytes) {
  within("new root", [&] {
    const Document next(bytes, kRoot);
    require_root_signatures(next, root_, kRoot);
    if (next.version() != root_.version() + 1)
      throw Error("version " + std::to_string(next.version()) + " cannot follow " + std::to_string(root_.version()));
    require_root_signatures(next, next, kRoot);
    root_ = next;
  });
}

void Trust::require_not_expired(const Document& document, const char* name) const {
  if (document.expires() <= now_) throw Error(std::string(name) + " expired at " + utc_text(document.expires()));
}

void Trust::require_root_not_expired() const { require_not_expired(root_, kRoot); }

bool Trust::recall_timestamp(std::string_view bytes) try {
  const Document document(bytes, kTimestamp);
  require_root_signatures(document, root_, kTimestamp);
  timestamp_ = document;
  return true;
} catch (const Error&) {
  return false;
}

bool Trust::recall_snapshot(std::string_view bytes) try {
  const Document document(bytes, kSnapshot);
  require_root_signatures(document, root_, kSnapshot);
  snapshot_ = document;
  return true;
} catch (const Error&) {
  return false;
}

bool Trust::update_timestamp(std::string_view bytes) {
  return within(kTimestamp, [&] {
    const Document next(bytes, kTimestamp);
    require_root_signatures(next, root_, kTimestamp);
    if (timestamp_) {
      if (next.version() < timestamp_->version())
        throw Error("version " + std::to_string(next.version()) + " is older than " + std::to_string(timestamp_->version()));
      if (next.version() == timestamp_->version()) {
        require_not_expired(*timestamp_, kTimestamp);
        return false;
      }
      const int64_t before = snapshot_info().version, after = find_meta(next, kSnapshot)->version;
      if (after < before) throw Error("takes snapshot back from version " + std::to_string(before) + " to " + std::to_string(after));
    }
    require_not_expired(next, kTimestamp);
    timestamp_ = next;
    return true;
  });
}

void Trust::update_snapshot(std::string_view bytes) {
  within(kSnapshot, [&] {
    const FileInfo info = snapshot_info();
    require_match(info, bytes);
    const Document next(bytes, kSnapshot);
    require_root_signatures(next, root_, kSnapshot);
    if (next.version() != info.version)
      throw Error("version " + std::to_string(next.version()) + " is not the " + std::to_string(info.version) + " that timestamp names");
    if (snapshot_) require_no_rollback(*snapshot_, next);
    require_not_expired(next, kSnapshot);
    snapshot_ = next;
  });
}

bool Trust::snapshot_is_current() const {
  return snapshot_ && snapshot_->version() == snapshot_info().version && snapshot_->expires() > now_;
}

void Trust::update_targets(const std::string& role, const std::string& delegator, std::string_view bytes) {
  within(role, [&] {
    const FileInfo info = targets_info(role);
    require_match(info, bytes);
    const Document next(bytes, kTargets);
    if (delegator == kRoot) {
      require_root_signatures(next, root_, kTargets);
    } else {
      const Document& parent = targets_.at(delegator);
      const std::optional<RoleKeys> signers = find_delegation(parent, role);
      if (!signers) throw Error("is not delegated to by " + delegator);
      require_signatures(next, delegation_keys(parent), *signers);
    }
    if (next.version() != info.version)
      throw Error("version " + std::to_string(next.version()) + " is not the " + std::to_string(info.version) + " that snapshot names");
    require_not_expired(next, role.c_str());
    keep_targets(role, next);
    verified_.emplace(role, delegator);
  });
}

// Other bytes under the same name: what was verified for, or by, the old ones must be verified again.
void Trust::keep_targets(const std::string& role, const Document& next) {
  const auto old = targets_.find(role);
  if (old != targets_.end() && old->second.signed_bytes() != next.signed_bytes()) {
    for (auto it = verified_.begin(); it != verified_.end();)
      it = it->first == role || it->second == role ? verified_.erase(it) : std::next(it);
  }
  targets_.insert_or_assign(role, next);
}

FileInfo Trust::snapshot_info() const { return *find_meta(*timestamp_, kSnapshot); }

FileInfo Trust::targets_info(const std::string& role) const {
  const std::optional<FileInfo> info = find_meta(*snapshot_, role);
  if (!info) throw Error(role + " is delegated to, but snapshot does not list it");
  return *info;
}

int64_t Trust::earliest_expiry() const {
  return std::min({root_.expires(), timestamp_->expires(), snapshot_->expires(), targets_.at(kTargets).expires()});
}

}  // namespace mote::fleet::tuf
