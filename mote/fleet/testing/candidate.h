#pragma once

// The agent's half of an update without publisher and network, for tests of what an application makes of it.

#include "mote/fleet/agent/verdict.h"
#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/package/package.h"
#include "mote/fleet/store/testing/sim_files.h"
#include "mote/fleet/testing/world.h"

namespace mote::fleet {

inline constexpr const char* kFolder = "device/models/kws";
inline constexpr const char* kDeclaredOp = "acme::blend";  // an operator that the application brings along: the configuration says so

// A package and its description.
struct Version {
  std::string bytes;
  store::Model model;
  package::HealthGate gate;
  package::Requirements needs;

  bool lacks_declared(const agent::GoldenReport& report) const {
    return agent::lacks_declared(report, agent::declared_parts(needs, {}, {kDeclaredOp}));
  }
};

inline Version make_version(const std::string& version, const package::HealthGate& gate, const package::Requirements& needs = {}) {
  store::SimFiles files;
  package::Manifest m;
  m.id = "kws";
  m.version = version;
  m.runtime_min = "0.0.1";
  m.health = gate;
  m.variants = {{"kws.mote", needs}};
  replace_file(files, "kws.mote", "program " + version);
  package::create(files, m, {{"kws.mote", "kws.mote"}}, "p");
  Version out;
  out.bytes = *read_file(files, "p", 1 << 20);
  out.model.digest = digest(out.bytes);
  out.model.bytes = out.bytes.size();
  out.model.version = version;
  out.gate = gate;
  out.needs = needs;
  return out;
}

// Has the bytes of one version, whose probe comes to `report`.
class Source : public store::Device {
 public:
  Source(Files& files, const Version& version, agent::GoldenReport report) : files_(files), version_(version), report_(std::move(report)) {}
  std::optional<std::string> refusal(const store::Model&) override { return std::nullopt; }
  void fetch(const store::Model&, const std::string& path) override {
    files_.create(path);
    files_.write(path, 0, version_.bytes);
  }
  store::Probed probe(const Mapping&) override {
    switch (agent::verdict(agent::Gate::kProbe, report_, version_.lacks_declared(report_))) {
      case agent::Verdict::kFail: return {report_.failure, ""};
      case agent::Verdict::kUndecided: throw Error("again");
      default: return {std::nullopt, "kws.mote"};
    }
  }
  bool may_activate() override { return true; }
  store::Health health(std::string* why) override {
    return agent::judge_trial(files_, kFolder, store::Slots(files_, kFolder).record(), why);
  }

 private:
  Files& files_;
  const Version& version_;
  const agent::GoldenReport report_;
};

// A device with this model as known-good.
inline store::SimFiles device_with(const Version& version) {
  store::SimFiles files;
  replace_file(files, agent::config_path("device"),
               std::string("metadata_url = \"/m\"\ntargets_url = \"/t\"\ndevice = \"d1\"\ncustom_ops = [\"") + kDeclaredOp +
                   "\"]\n[models]\nkws = \"stable\"\n");
  Source source(files, version, {});
  store::Updater u(files, kFolder, source, {});
  u.objects().prepare();
  source.fetch(version.model, u.objects().incoming(version.model.digest));
  u.provision(version.model);
  return files.after_cut(store::Loss::kNothing, 0);
}

}  // namespace mote::fleet
