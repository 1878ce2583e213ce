#pragma once

// A TUF client: keeps trusted metadata in a folder, brings it up to date, finds and downloads targets.

#include <memory>
#include <optional>
#include <string>

#include "mote/fleet/base/clock.h"
#include "mote/fleet/base/fetch.h"
#include "mote/fleet/base/files.h"
#include "mote/fleet/tuf/trust.h"

namespace mote::fleet::tuf {

struct ClientLimits {
  uint64_t root_bytes = 512'000, timestamp_bytes = 16'384, snapshot_bytes = 2'000'000, targets_bytes = 5'000'000;
  int root_rotations = 256, roles_visited = 32;
};

struct Target {
  std::string path;
  FileInfo info;
};

// The folder holds <role>.json (names percent-encoded) as they came, and time_floor: the latest moment at which a whole set of metadata
// was fresh. The clock is never believed to be before it, so setting it back does not revive expired metadata; it never passes the expiry
// of what was accepted, so a clock far ahead cannot raise it for good.
class Client {
 public:
  Client(Files& files, Fetcher& fetcher, Clock& clock, std::string metadata_dir, std::string metadata_url, ClientLimits limits = {});

  // Trusts `root` from now on. Throws Error when it is not signed by its own keys.
  static void init(Files& files, const std::string& metadata_dir, std::string_view root);

  // Throws Error when top-level metadata cannot be fetched or trusted. What was trusted before stays so.
  void refresh();

  // Searches the delegations (refreshing first where that was not done). Empty when no role lists the path.
  std::optional<Target> find(const std::string& path);

  // Into dir/<percent-encoded path>, unless it is there with the right digest. Returns that path.
  std::string download(const Target& target, const std::string& base_url, const std::string& dir);
  std::string target_url(const Target& target, const std::string& base_url) const;

 private:
  std::string local_path(const std::string& role) const;
  std::optional<std::string> recall(const std::string& role, uint64_t limit);
  std::string fetch_role(const std::string& role, uint64_t limit, std::optional<int64_t> version);
  int64_t time_floor();
  int64_t believed_time();
  void raise_time_floor();
  void update_root();
  void update_timestamp();
  void update_snapshot();
  const Document& load_targets(const std::string& role, const std::string& delegator);

  Files& files_;
  Fetcher& fetcher_;
  Clock& clock_;
  const std::string dir_, url_;
  const ClientLimits limits_;
  std::unique_ptr<Trust> trust_;  // after a refresh
};

}  // namespace mote::fleet::tuf
