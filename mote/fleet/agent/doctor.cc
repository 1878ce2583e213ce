// What may be wrong with a device, looked at without changing anything.

#include "mote/fleet/agent/agent.h"
#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/tuf/metadata.h"

namespace mote::fleet::agent {
namespace {

// A check that throws has failed, for the reason it gives.
template <class Work>
Agent::Finding check(const std::string& name, Work work) {
  try {
    return {name, work(), true};
  } catch (const std::exception& e) {
    return {name, e.what(), false};
  }
}

}  // namespace

std::vector<Agent::Finding> Agent::doctor() {
  std::vector<Finding> out;
  out.push_back(check("folder", [&] {
    const std::string path = dir_ + "/doctor";
    replace_file(parts_.files, path, "x");
    parts_.files.remove(path);
    return std::string("can be written");
  }));
  out.push_back(check("trust", [&] {
    const auto root = read_file(parts_.files, trust_dir(dir_) + "/root.json", tuf::ClientLimits().root_bytes);
    if (!root) throw Error("there is no root: 'mote fleet init' puts it there");
    const tuf::Document document(*root, tuf::kRoot);
    if (document.expires() < parts_.clock.now()) throw Error("root has expired at " + utc_text(document.expires()));
    return "root " + std::to_string(document.version()) + " until " + utc_text(document.expires());
  }));
  out.push_back(check("server", [&] {
    const std::string url = config_.metadata_url + "/timestamp.json";
    (void)fetch_bytes(parts_.fetcher, url, tuf::ClientLimits().timestamp_bytes);
    return url + " answers";
  }));
  out.push_back(check("clock", [&] {
    const auto floor = read_file(parts_.files, trust_dir(dir_) + "/time_floor", 64);
    if (floor && parse_utc(*floor).value_or(0) > parts_.clock.now()) throw Error("behind " + *floor + ", when metadata were fresh");
    return utc_text(parts_.clock.now());
  }));
  out.push_back(check("storage", [&] { return std::to_string(parts_.system.free_bytes(dir_)) + " bytes are free"; }));
  out.push_back(check("power and network", [&] {
    const Conditions c = parts_.system.conditions();
    return std::string(c.metered ? "metered" : "not metered") +
           (c.on_battery ? ", battery at " + std::to_string(c.battery_percent) + " %" : ", on mains");
  }));
  for (const auto& item : config_.models) {
    const std::string& id = item.first;
    out.push_back(check("model " + id, [&] {
      const store::Record r = record(id);
      // A first model has no other behind it until its trial is over.
      if (r.known_good.digest.empty() && r.state >= store::State::kRefreshed && r.state <= store::State::kTrial)
        return "first model " + r.candidate.version + " is on its way; state " + store::name_of(r.state);
      if (r.known_good.digest.empty()) throw Error(std::string("nothing is installed; state ") + store::name_of(r.state));
      if (const std::string wrong = damage(id, r.known_good); !wrong.empty()) throw Error(wrong);
      return "known-good " + r.known_good.version + " is intact; state " + store::name_of(r.state);
    }));
  }
  return out;
}

}  // namespace mote::fleet::agent
