// mote fleet: the models of a device (docs/fleet.md).

#include <algorithm>
#include <cstdio>

#include "mote/fleet/agent/agent.h"
#include "mote/fleet/agent/history.h"
#include "mote/fleet/agent/trial.h"
#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/fetch_oci.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/package/mapped.h"
#include "mote/tools/commands.h"
#include "mote/tools/failure.h"
#include "mote/tools/json_out.h"
#include "mote/tools/nearest.h"
#include "mote/tools/text_table.h"

namespace mote::tools {
namespace {

namespace agent = fleet::agent;
using fleet::store::State;

struct FleetSettings {
  std::string dir, id, package, root, reason = "a person asked for it";
  std::vector<std::string> models, words;
  agent::Config config;
  bool json = false;
};

class Device {
 public:
  explicit Device(const FleetSettings& s, agent::Agent::Turn turn = agent::Agent::Turn::kNow)
      : files(s.dir),
        machine(files, agent::conditions_path(s.dir)),
        fetcher(fleet::make_oci_fetcher(fleet::make_curl_fetcher(), files, agent::registry_auth_path(s.dir))),
        prober({"mote", "fleet", "probe"}, agent::read_config(files, s.dir).probe_seconds),
        a({files, *fetcher, clock, machine, prober}, s.dir, turn) {}

  // The models that a command is about: one, or all.
  std::vector<std::string> ids(const FleetSettings& s) const {
    std::vector<std::string> all;
    for (const auto& item : a.config().models) all.push_back(item.first);
    if (s.id.empty()) return all;
    if (std::find(all.begin(), all.end(), s.id) == all.end())
      throw Failure("the configuration has no model '" + s.id + "'" + did_you_mean(s.id, all) + ": expected one of " + listed(all));
    return {s.id};
  }

  // The model that a command is about that is for one.
  std::string one_id(const FleetSettings& s) const {
    const std::vector<std::string> all = ids(s);
    if (all.size() == 1) return all[0];
    throw usage("this device has " + std::to_string(all.size()) + " models: name one of " + fleet::joined(all));
  }

  fleet::SystemFiles files;
  fleet::SystemClock clock;
  fleet::Machine machine;
  std::unique_ptr<fleet::Fetcher> fetcher;
  agent::SandboxProber prober;
  agent::Agent a;
};

Json model_json(const fleet::store::Model& m) {
  if (m.digest.empty()) return nullptr;
  return {{"version", m.version}, {"sha256", fleet::to_hex(m.digest)}, {"bytes", m.bytes}, {"security_counter", m.security_counter}};
}

Json standing_json(const std::string& id, const agent::Agent::Standing& s) {
  const fleet::store::Record& r = s.record;
  Json quarantine = Json::array();
  for (const auto& q : r.quarantine) quarantine.push_back({{"sha256", fleet::to_hex(q.digest)}, {"reason", q.reason}});
  return {{"id", id},
          {"state", fleet::store::name_of(r.state)},
          {"active", model_json(fleet::store::active(r))},
          {"known_good", model_json(r.known_good)},
          {"candidate", model_json(r.candidate)},
          {"previous", model_json(r.previous)},
          {"tries_left", r.tries_left},
          {"security_floor", r.security_floor},
          {"reason", r.reason},
          {"note", s.note},
          {"generation", r.generation},
          {"quarantine", quarantine}};
}

void print_standings(const FleetSettings& s, const std::vector<std::pair<std::string, agent::Agent::Standing>>& all) {
  if (s.json) {
    Json models = Json::array();
    for (const auto& [id, standing] : all) models.push_back(standing_json(id, standing));
    return print_json({{"models", models}});
  }
  TextTable table({"model", "state", "active", "candidate", "said"});
  const auto version = [](const fleet::store::Model& m) { return m.version.empty() ? std::string("-") : m.version; };
  for (const auto& [id, standing] : all) {
    const fleet::store::Record& r = standing.record;
    const std::string said = standing.note.empty() ? r.reason : standing.note;
    table.add({id, fleet::store::name_of(r.state), version(fleet::store::active(r)), version(r.candidate), said});
  }
  std::printf("%s", table.text().c_str());
}

void status(const FleetSettings& s) {
  Device d(s, agent::Agent::Turn::kNone);
  std::vector<std::pair<std::string, agent::Agent::Standing>> all;
  for (const std::string& id : d.ids(s)) all.emplace_back(id, d.a.standing(id));
  print_standings(s, all);
}

// check, fetch and install: the same way, each a bit further.
void advance(const FleetSettings& s, State until) {
  Device d(s);
  d.a.refresh();
  std::vector<std::pair<std::string, agent::Agent::Standing>> all;
  for (const std::string& id : d.ids(s)) all.emplace_back(id, d.a.advance(id, until));
  print_standings(s, all);
}

// The agent may be at work on something else: then it judges the trial, when it looks at it next.
void confirm(const FleetSettings& s) {
  Device d(s);
  const std::string id = d.one_id(s);
  d.a.confirm(id);
  print_standings(s, {{id, d.a.has_turn() ? d.a.advance(id) : d.a.standing(id)}});
}

void rollback(const FleetSettings& s) {
  Device d(s, agent::Agent::Turn::kNone);
  d.a.rollback(d.one_id(s), s.reason);
  status(s);
}

void history(const FleetSettings& s) {
  Device d(s, agent::Agent::Turn::kNone);
  Json all = Json::array();
  for (const std::string& id : d.ids(s)) {
    for (const std::string& line : agent::read_history(d.files, agent::model_dir(s.dir, id))) {
      Json entry = Json::parse(line);
      entry["id"] = id;
      all.push_back(entry);
    }
  }
  if (s.json) return print_json({{"history", all}});
  TextTable table({"time", "model", "version", "state", "reason"});
  for (const Json& e : all) table.add({e["time"], e["id"], e["version"], e["state"], e["reason"]});
  std::printf("%s", table.text().c_str());
}

int doctor(const FleetSettings& s) {
  Device d(s, agent::Agent::Turn::kNone);
  bool good = true;
  Json all = Json::array();
  TextTable table({"check", "result", ""});
  for (const agent::Agent::Finding& f : d.a.doctor()) {
    good &= f.good;
    all.push_back({{"check", f.check}, {"ok", f.good}, {"text", f.text}});
    table.add({f.check, f.good ? "ok" : "WRONG", f.text});
  }
  if (s.json) print_json({{"ok", good}, {"checks", all}});
  else std::printf("%s", table.text().c_str());
  return good ? kSuccess : kFailed;
}

int explain(const FleetSettings& s) {
  Device d(s);
  const fleet::package::Mapped package(d.files.map(s.package), s.package);
  const fleet::package::Header h = package.header();
  try {
    d.a.refresh();
  } catch (const fleet::Error& e) {
    std::fprintf(stderr, "mote: the signed policy is not looked at: %s\n", e.what());
  }
  const uint64_t bytes = h.bytes + h.manifest.payload_bytes;
  const auto [reasons, variant] = d.a.explain(h.manifest, bytes, fleet::digest(package.bytes()));
  if (s.json) {
    print_json({{"package", s.package}, {"admitted", reasons.empty()}, {"reasons", reasons}, {"variant", variant}});
  } else {
    for (const std::string& r : reasons) std::printf("%s: refused: %s\n", s.package.c_str(), r.c_str());
    if (reasons.empty()) std::printf("%s: would be admitted; %s would run\n", s.package.c_str(), variant.c_str());
  }
  return reasons.empty() ? kSuccess : kFailed;
}

void init(const FleetSettings& s) {
  fleet::SystemFiles files(s.dir);
  agent::Config config = s.config;
  for (const std::string& model : s.models) {
    const size_t equals = model.find('=');
    if (equals == std::string::npos) throw usage("--model is ID=CHANNEL, found '" + model + "'");
    config.models[model.substr(0, equals)] = model.substr(equals + 1);
  }
  if (files.size(agent::config_path(s.dir))) throw Failure(agent::config_path(s.dir) + " is there already");
  const auto root = fleet::read_file(files, s.root, fleet::tuf::ClientLimits().root_bytes);
  if (!root) throw Failure(s.root + " does not exist");
  const std::string text = agent::config_text(config);
  (void)agent::parse_config(text);
  files.make_dir(s.dir);
  fleet::within(s.root, [&] { fleet::tuf::Client::init(files, agent::trust_dir(s.dir), *root); });
  fleet::replace_file(files, agent::config_path(s.dir), text);
}

void add_init(CLI::App* c, const std::shared_ptr<FleetSettings>& s) {
  CLI::App* sub = c->add_subcommand("init", "Make a device's folder: configuration and the root to trust");
  sub->add_option("--root", s->root, "first root (N.root.json of the repository)")->required();
  sub->add_option("--metadata-url", s->config.metadata_url, "where metadata are served")->required();
  sub->add_option("--targets-url", s->config.targets_url, "where packages are served")->required();
  sub->add_option("--device", s->config.device, "name of the device, for rings")->required();
  sub->add_option("--model", s->models, "ID=CHANNEL: models to keep up to date")->required();
  sub->add_option("--app-group", s->config.app_group, "group of the applications, where they are not the agent's user");
  sub->add_option("--interval", s->config.interval_seconds, "seconds between rounds of moted")->capture_default_str();
  sub->callback([s] { init(*s); });
}

}  // namespace

void add_fleet(CLI::App& app, Context& context) {
  auto s = std::make_shared<FleetSettings>();
  CLI::App* c = app.add_subcommand("fleet", "The models of a device: check, install, confirm, roll back");
  c->require_subcommand(1);
  c->fallthrough();
  c->add_option("--dir", s->dir, "folder of the device")->envname("MOTE_FLEET_DIR");
  c->add_flag("--json", s->json, "print JSON (docs/json.md)");
  const auto sub = [&](const char* name, const char* help, auto work) {
    CLI::App* out = c->add_subcommand(name, help);
    out->callback([s, work, &context] {
      context.json = s->json;
      if (s->dir.empty()) throw usage("--dir, or MOTE_FLEET_DIR, names the folder of the device");
      work(*s, context);
    });
    return out;
  };
  const auto with_id = [&](CLI::App* a, bool one) {
    a->add_option("ID", s->id, one ? "model (default: the only one)" : "model (default: all)");
  };
  add_init(c, s);
  with_id(sub("status", "Say what runs and how updates stand", [](const FleetSettings& f, Context&) { status(f); }), false);
  with_id(
      sub("check", "Look for updates and whether they may come", [](const FleetSettings& f, Context&) { advance(f, State::kAdmitted); }),
      false);
  with_id(sub("fetch", "Download and verify what may come", [](const FleetSettings& f, Context&) { advance(f, State::kVerified); }), false);
  with_id(sub("install", "Probe, stage and begin the trial", [](const FleetSettings& f, Context&) { advance(f, State::kReverted); }),
          false);
  with_id(sub("confirm", "Be content with a model in trial, for its application", [](const FleetSettings& f, Context&) { confirm(f); }),
          true);
  CLI::App* back = sub("rollback", "Go back to the model before", [](const FleetSettings& f, Context&) { rollback(f); });
  with_id(back, true);
  back->add_option("--reason", s->reason, "what to write down");
  with_id(sub("history", "List what happened", [](const FleetSettings& f, Context&) { history(f); }), false);
  sub("doctor", "Look for what is wrong", [](const FleetSettings& f, Context& x) { x.exit_code = doctor(f); });
  CLI::App* why = sub("explain", "Say whether a package would be taken, and why not",
                      [](const FleetSettings& f, Context& x) { x.exit_code = explain(f); });
  why->add_option("PACKAGE", s->package, "package (.mpkg)")->required();
  CLI::App* factory = sub("provision", "Install the first model, which comes with the device",
                          [](const FleetSettings& f, Context&) { Device(f).a.provision(f.package); });
  factory->add_option("PACKAGE", s->package, "package (.mpkg)")->required();
  CLI::App* probe = c->add_subcommand("probe", "")->group("");
  probe->add_option("WORDS", s->words);
  probe->callback([s, &context] { context.exit_code = agent::probe_main(s->words); });
}

}  // namespace mote::tools
