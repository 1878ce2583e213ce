#include "mote/fleet/tuf/client.h"

#include <algorithm>
#include <set>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet::tuf {
namespace {

constexpr const char* kTimeFloor = "/time_floor";
constexpr int64_t kFloorStepSeconds = 3600;  // spares the flash

std::string with_slash(std::string url) {
  if (url.empty() || url.back() != '/') url += '/';
  return url;
}

bool file_matches(Files& files, const std::string& path, const FileInfo& info) {
  if (files.size(path) != info.length) return false;
  return std::all_of(info.hashes.begin(), info.hashes.end(),
                     [&](const auto& hash) { return digest_file(files, path, hash.first) == hash.second; });
}

// Writes what a transfer brings, in large pieces.
class FileSink {
 public:
  FileSink(Files& files, const std::string& path) : files_(files), path_(path) { files_.create(path_); }
  void add(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= kPiece) flush();
  }
  void finish() {
    flush();
    files_.sync(path_);
  }

 private:
  static constexpr size_t kPiece = 1 << 20;
  void flush() {
    files_.write(path_, written_, buffer_);
    written_ += buffer_.size();
    buffer_.clear();
  }
  Files& files_;
  const std::string path_;
  std::string buffer_;
  uint64_t written_ = 0;
};

}  // namespace

Client::Client(Files& files, Fetcher& fetcher, Clock& clock, std::string metadata_dir, std::string metadata_url, ClientLimits limits)
    : files_(files),
      fetcher_(fetcher),
      clock_(clock),
      dir_(std::move(metadata_dir)),
      url_(with_slash(std::move(metadata_url))),
      limits_(limits) {}

void Client::init(Files& files, const std::string& metadata_dir, std::string_view root) {
  const Trust checked(root, 0);  // throws where it is no root
  files.make_dir(metadata_dir);
  replace_file(files, metadata_dir + "/root.json", root);
}

std::string Client::local_path(const std::string& role) const { return dir_ + "/" + percent_encode(role) + ".json"; }

// A local file that cannot be read as what it should be is as good as none: it is fetched anew.
std::optional<std::string> Client::recall(const std::string& role, uint64_t limit) try {
  return read_file(files_, local_path(role), limit);
} catch (const Error&) {
  return std::nullopt;
}

std::string Client::fetch_role(const std::string& role, uint64_t limit, std::optional<int64_t> version) {
  const std::string prefix = version ? std::to_string(*version) + "." : "";
  return fetch_bytes(fetcher_, url_ + prefix + percent_encode(role) + ".json", limit);
}

int64_t Client::time_floor() {
  const std::optional<std::string> text = read_file(files_, dir_ + kTimeFloor, 64);
  return text ? parse_utc(*text).value_or(0) : 0;
}

int64_t Client::believed_time() { return std::max(time_floor(), clock_.now()); }

void Client::raise_time_floor() {
  const int64_t now = std::min(clock_.now(), trust_->earliest_expiry());
  if (now - time_floor() >= kFloorStepSeconds) replace_file(files_, dir_ + kTimeFloor, utc_text(now));
}

void Client::refresh() {
  trust_.reset();
  const std::optional<std::string> root = read_file(files_, local_path(kRoot), limits_.root_bytes);
  if (!root) throw Error(local_path(kRoot) + " does not exist: the client was not given a first root");
  trust_ = std::make_unique<Trust>(*root, believed_time());
  try {
    update_root();
    trust_->require_root_not_expired();
    update_timestamp();
    update_snapshot();
    load_targets(kTargets, kRoot);
    raise_time_floor();
  } catch (...) {
    trust_.reset();
    throw;
  }
}

void Client::update_root() {
  for (int i = 0; i < limits_.root_rotations; ++i) {
    std::string bytes;
    try {
      bytes = fetch_role(kRoot, limits_.root_bytes, trust_->root().version() + 1);
    } catch (const HttpError& e) {
      if (e.status != 403 && e.status != 404) throw;
      return;  // the trusted one is the newest
    }
    trust_->update_root(bytes);
    replace_file(files_, local_path(kRoot), bytes);
  }
}

void Client::update_timestamp() {
  if (const auto known = recall(kTimestamp, limits_.timestamp_bytes)) trust_->recall_timestamp(*known);
  const std::string bytes = fetch_role(kTimestamp, limits_.timestamp_bytes, std::nullopt);
  if (trust_->update_timestamp(bytes)) replace_file(files_, local_path(kTimestamp), bytes);
}

void Client::update_snapshot() {
  const FileInfo info = trust_->snapshot_info();
  if (const auto known = recall(kSnapshot, limits_.snapshot_bytes)) {
    if (trust_->recall_snapshot(*known) && trust_->snapshot_is_current()) return;
  }
  const auto version = consistent_snapshot(trust_->root()) ? std::optional<int64_t>(info.version) : std::nullopt;
  const std::string bytes = fetch_role(kSnapshot, info.length.value_or(limits_.snapshot_bytes), version);
  trust_->update_snapshot(bytes);
  replace_file(files_, local_path(kSnapshot), bytes);
}

const Document& Client::load_targets(const std::string& role, const std::string& delegator) {
  if (trust_->has_targets(role, delegator)) return trust_->targets(role);
  const FileInfo info = trust_->targets_info(role);
  if (const auto known = recall(role, limits_.targets_bytes)) {
    try {
      trust_->update_targets(role, delegator, *known);
      return trust_->targets(role);
    } catch (const Error&) {
      // Outdated, or not signed for this delegator.
    }
  }
  const auto version = consistent_snapshot(trust_->root()) ? std::optional<int64_t>(info.version) : std::nullopt;
  const std::string bytes = fetch_role(role, info.length.value_or(limits_.targets_bytes), version);
  trust_->update_targets(role, delegator, bytes);
  replace_file(files_, local_path(role), bytes);
  return trust_->targets(role);
}

std::optional<Target> Client::find(const std::string& path) {
  if (!trust_) refresh();
  // Depth first, in the order of each role's delegations: (role, delegator), the next one last.
  std::vector<std::pair<std::string, std::string>> to_visit = {{kTargets, kRoot}};
  std::set<std::string> visited;
  while (!to_visit.empty() && visited.size() <= static_cast<size_t>(limits_.roles_visited)) {
    const auto [role, delegator] = to_visit.back();
    to_visit.pop_back();
    if (visited.count(role) > 0) continue;
    const Document& targets = load_targets(role, delegator);
    if (const auto info = find_target(targets, path)) return Target{path, *info};
    visited.insert(role);
    const std::vector<Delegation> next = delegations_for(targets, path);
    if (!next.empty() && next.back().terminating) to_visit.clear();
    for (auto it = next.rbegin(); it != next.rend(); ++it) to_visit.emplace_back(it->name, role);
  }
  return std::nullopt;
}

std::string Client::target_url(const Target& target, const std::string& base_url) const {
  std::string path = target.path;
  if (consistent_snapshot(trust_->root())) {
    const size_t slash = path.rfind('/');
    path.insert(slash == std::string::npos ? 0 : slash + 1, to_hex(target.info.hashes.front().second) + ".");
  }
  return with_slash(base_url) + escape_url_path(path);
}

std::string Client::download(const Target& target, const std::string& base_url, const std::string& dir) {
  std::string path = dir + "/" + percent_encode(target.path);
  const std::string part = path + ".part";
  if (file_matches(files_, path, target.info)) return path;
  files_.make_dir(dir);
  try {
    FileSink sink(files_, part);
    FetchRequest request;
    request.url = target_url(target, base_url);
    request.max_bytes = *target.info.length;
    fetcher_.get(request, {nullptr, [&](std::string_view bytes) { sink.add(bytes); }});
    sink.finish();
    if (!file_matches(files_, part, target.info)) throw Error(request.url + ": is not what was signed");
  } catch (...) {
    files_.remove(part);
    throw;
  }
  files_.rename(part, path);
  files_.sync_dir(dir);
  return path;
}

}  // namespace mote::fleet::tuf
