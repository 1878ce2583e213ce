#pragma once

// What a device may take, when, and how. One policy is signed (target policy.json), another may be local (TOML); each is asked, and each
// must permit: so a local one can tighten and never widen.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mote/fleet/base/system.h"

namespace mote::fleet::agent {

// "mon,tue 01:00-05:00", "sat 22:00-04:00" (into the next day), "* 00:00-24:00"; UTC.
struct Window {
  uint8_t days = 0;                      // bit 0: Monday
  int from_minute = 0, to_minute = 0;    // of the day; to <= from: until the next day
  bool contains(int64_t seconds) const;  // since 1970
};

struct Policy {
  std::vector<std::string> channels;                                 // that may be followed; none: any
  uint64_t min_percent = 0;                                          // a rollout is waited for until it has got so far
  std::vector<Window> windows;                                       // fetch and activate only in one of these; none: always
  bool metered = true;                                               // may fetch over networks that cost
  uint64_t fetch_battery_percent = 0, activate_battery_percent = 0;  // at least, where the device runs on battery
  uint64_t max_bytes_per_second = 0, storage_bytes = 0;              // 0: no limit
  // Backends of a variant ("cpu" where it names none): one of `require` among them, none outside `allow`, none of `forbid`.
  std::vector<std::string> require, allow, forbid;
};

// Throws Error for unknown names and values that make no sense. `text`: JSON.
Policy parse_policy(std::string_view text);

enum class Step { kFetch, kActivate };

// All of them together. Every refusal is a text that says what was found and what is asked for.
class Policies {
 public:
  void add(std::string origin, Policy policy) { list_.emplace_back(std::move(origin), std::move(policy)); }

  std::optional<std::string> refuses_channel(const std::string& channel) const;
  std::optional<std::string> refuses_percent(uint64_t percent) const;
  std::optional<std::string> refuses_backends(std::vector<std::string> backends) const;
  std::optional<std::string> refuses_now(Step step, int64_t now, const Conditions& conditions) const;
  uint64_t max_bytes_per_second() const;  // 0: no limit; likewise:
  uint64_t storage_bytes() const;

 private:
  std::vector<std::pair<std::string, Policy>> list_;
};

// What the role "rollout" says of a channel.
struct Rollout {
  std::string channel, package, sha256;  // raw digest of the package
  uint64_t percent = 0;
  bool halted = false;
};
Rollout parse_rollout(std::string_view text);

// Is the device among the first `percent` of a hundred? The same devices stay in when a rollout grows.
bool in_ring(const std::string& device, const Rollout& rollout);

}  // namespace mote::fleet::agent
