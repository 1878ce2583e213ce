#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mote::fleet::publish {

// Days until what is signed today expires. Kept in settings.toml of the repository.
struct Lifetimes {
  uint64_t root_days = 365, targets_days = 180, rollout_days = 14, snapshot_days = 14, timestamp_days = 3;
};

Lifetimes parse_lifetimes(std::string_view toml);  // throws Error
std::string lifetimes_text(const Lifetimes& lifetimes);

}  // namespace mote::fleet::publish
