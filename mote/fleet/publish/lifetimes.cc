#include "mote/fleet/publish/lifetimes.h"

#include <utility>

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json_object.h"
#include "mote/fleet/base/toml.h"

namespace mote::fleet::publish {
namespace {

constexpr std::pair<const char*, uint64_t Lifetimes::*> kLifetimes[] = {{"root_days", &Lifetimes::root_days},
                                                                        {"targets_days", &Lifetimes::targets_days},
                                                                        {"rollout_days", &Lifetimes::rollout_days},
                                                                        {"snapshot_days", &Lifetimes::snapshot_days},
                                                                        {"timestamp_days", &Lifetimes::timestamp_days}};

}  // namespace

Lifetimes parse_lifetimes(std::string_view toml) {
  Lifetimes out;
  const std::string json = toml_to_json(toml);
  JsonObject o(Json::parse_canonical(json));
  for (const auto& [name, member] : kLifetimes) {
    out.*member = o.number_or(name, out.*member);
    if (out.*member < 1 || out.*member > 36500) throw Error(std::string(name) + " is 1 to 36500");
  }
  o.finish();
  return out;
}

std::string lifetimes_text(const Lifetimes& lifetimes) {
  std::string out;
  for (const auto& [name, member] : kLifetimes) out += std::string(name) + " = " + std::to_string(lifetimes.*member) + "\n";
  return out;
}

}  // namespace mote::fleet::publish
