#include "mote/fleet/agent/agent.h"

#include <algorithm>

#include "mote/fleet/agent/history.h"
#include "mote/fleet/agent/trial.h"
#include "mote/fleet/agent/verdict.h"
#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/json_object.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/package/download.h"
#include "mote/fleet/package/mapped.h"

namespace mote::fleet::agent {
namespace {

constexpr const char* kPolicyTarget = "policy.json";
constexpr uint64_t kSmallTarget = 1 << 20;
constexpr uint64_t kTurnMs = 60'000;  // then the daemon's round ends, and says so

bool under_way(store::State s) { return s >= store::State::kRefreshed && s <= store::State::kStaged; }

}  // namespace

// What the store asks of this device while a model is updated. Without an offer nothing is fetched or activated.
class ModelDevice : public store::Device {
 public:
  ModelDevice(Agent& agent, std::string id, std::optional<Offer> offer) : agent_(agent), id_(std::move(id)), offer_(std::move(offer)) {}

  std::optional<std::string> refusal(const store::Model&) override { return std::nullopt; }  // asked before it was offered

  void fetch(const store::Model& candidate, const std::string& path) override {
    if (!offer_) throw Error("nothing is fetched without fresh metadata");
    if (const auto why = refuses_now(Step::kFetch)) throw Error(*why);
    package::DownloadRequest request;
    request.url = offer_->url;
    request.header_sha256 = offer_->header_sha256;
    request.bytes = candidate.bytes;
    request.max_bytes_per_second = agent_.policies_.max_bytes_per_second();
    package::download(agent_.parts_.fetcher, agent_.parts_.files, agent_.parts_.clock, request, path);
  }

  // The variant that passes is the one that runs from then on: the application does not choose again.
  store::Probed probe(const Mapping& object) override {
    const package::Header header = package::Mapped(object, "the candidate").header();
    const Fit fit = agent_.choose(header.manifest);
    if (!fit.variant) return {joined(fit.reasons, "; "), ""};
    const GoldenReport report = agent_.parts_.prober.probe(object, *fit.variant);
    const Declared declared = declared_parts(fit.variant->needs, agent_.config_.backends, agent_.config_.custom_ops);
    switch (verdict(Gate::kProbe, report, lacks_declared(report, declared))) {
      case Verdict::kFail: return {report.failure, ""};
      case Verdict::kUndecided: throw Error("its probe says nothing for or against it, and is made again: " + report.failure);
      case Verdict::kApplication:  // examples that cannot be run here: the trial asks the application
      case Verdict::kPass: return {std::nullopt, fit.variant->file};
    }
    throw Error("no verdict");
  }

  bool may_activate() override { return offer_ && !refuses_now(Step::kActivate); }

  store::Health health(std::string* why) override {
    return judge_trial(agent_.parts_.files, model_dir(agent_.dir_, id_), agent_.record(id_), why);
  }

 private:
  std::optional<std::string> refuses_now(Step step) {
    return agent_.policies_.refuses_now(step, agent_.parts_.clock.now(), agent_.parts_.system.conditions());
  }

  Agent& agent_;
  const std::string id_;
  const std::optional<Offer> offer_;
};

Agent::Agent(Parts parts, std::string dir, Turn turn)
    : parts_(parts),
      dir_(std::move(dir)),
      config_(read_config(parts_.files, dir_)),
      alone_(turn == Turn::kNone ? nullptr : parts_.files.lock(dir_ + "/agent.lock", turn == Turn::kWait ? kTurnMs : 0)),
      client_(parts_.files, parts_.fetcher, parts_.clock, trust_dir(dir_), config_.metadata_url) {
  policies_.add("local policy", config_.policy);
}

void Agent::require_turn() const {
  if (!alone_) throw Error(dir_ + ": another agent is at work here; try again when it is done");
}

std::string Agent::fetch_target(const tuf::Target& target, uint64_t most) {
  if (*target.info.length > most) throw Error(target.path + ": longer than " + std::to_string(most) + " bytes");
  std::string bytes = fetch_bytes(parts_.fetcher, client_.target_url(target, config_.targets_url), *target.info.length);
  within(target.path, [&] { tuf::require_match(target.info, bytes); });
  return bytes;
}

void Agent::refresh() {
  require_turn();
  fresh_ = false;
  client_.refresh();
  Policies policies;
  policies.add("local policy", config_.policy);
  if (const auto target = client_.find(kPolicyTarget)) {
    const std::string text = fetch_target(*target, kSmallTarget);
    policies.add("signed policy", within(kPolicyTarget, [&] { return parse_policy(text); }));
  }
  policies_ = std::move(policies);
  fresh_ = true;
}

package::Header Agent::fetch_header(const std::string& url, const std::string& sha256) {
  struct Enough {};
  std::string start;
  FetchRequest request;
  request.url = url;
  request.max_bytes = UINT64_MAX;  // it is cut off as soon as the header is there
  try {
    parts_.fetcher.get(request, {nullptr, [&](std::string_view bytes) {
                                   start += bytes;
                                   if (start.size() >= 16 && start.size() >= package::header_bytes(start)) throw Enough();
                                 }});
  } catch (const Enough&) {}
  package::Header header = within(url, [&] { return package::parse_header(start); });
  if (header.sha256 != sha256) throw Error(url + ": its header is not what was signed");
  return header;
}

Offer Agent::load_offer(const Rollout& rollout, const tuf::Target& target) {
  Offer offer;
  offer.rollout = rollout;
  offer.url = client_.target_url(target, config_.targets_url);
  offer.header_sha256 = within(target.path + " is no package", [&] {
    if (target.info.custom.empty()) throw Error("it has no mpkg_header_sha256");
    const std::optional<std::string> raw = from_hex(Json::parse(target.info.custom).at("mpkg_header_sha256").string());
    if (!raw || raw->size() != kSha256Bytes) throw Error("mpkg_header_sha256 is no SHA-256");
    return *raw;
  });
  const package::Header header = fetch_header(offer.url, offer.header_sha256);
  offer.manifest = header.manifest;
  if (header.bytes + header.manifest.payload_bytes != target.info.length)
    throw Error(target.path + ": its header tells another length than was signed");
  offer.model = {rollout.sha256, *target.info.length, header.manifest.security_counter, header.manifest.version, ""};
  return offer;
}

std::optional<Offer> Agent::find_offer(const std::string& id, const store::Record& record, std::string* note) {
  const std::string& channel = config_.models.at(id);
  if (const auto why = policies_.refuses_channel(channel)) return *note = *why, std::nullopt;
  const std::string path = "rollout/" + channel + ".json";
  const auto ring = client_.find(path);
  if (!ring) return *note = "channel '" + channel + "' offers nothing", std::nullopt;
  const std::string text = fetch_target(*ring, kSmallTarget);
  const Rollout rollout = within(path, [&] { return parse_rollout(text); });
  if (rollout.channel != channel) throw Error(path + " is about channel '" + rollout.channel + "'");
  // The online role selects among what the offline keys have signed: the digest must be theirs.
  const auto target = rollout.package.compare(0, 8, "rollout/") == 0 ? std::nullopt : client_.find(rollout.package);
  if (!target) throw Error(path + ": its package '" + rollout.package + "' is not signed by targets");
  const auto& hashes = target->info.hashes;
  if (std::find(hashes.begin(), hashes.end(), std::make_pair(std::string("sha256"), rollout.sha256)) == hashes.end())
    throw Error(path + ": the package that it means is not the one that is signed");
  if (rollout.sha256 == record.known_good.digest) {
    *note = damage(id, record.known_good);
    if (note->empty()) return *note = "up to date", std::nullopt;
    return load_offer(rollout, *target);
  }
  if (record.quarantines(rollout.sha256)) return *note = "what is offered is quarantined", std::nullopt;
  if (rollout.halted) return *note = "the rollout is halted", std::nullopt;
  if (const auto why = policies_.refuses_percent(rollout.percent)) return *note = *why, std::nullopt;
  if (!in_ring(config_.device, rollout)) return *note = "not yet this device's turn", std::nullopt;
  Offer offer = load_offer(rollout, *target);
  if (offer.manifest.id != id) throw Error(rollout.package + " is a package of '" + offer.manifest.id + "', not of '" + id + "'");
  return offer;
}

// What will be offered once a trial is decided. A channel that cannot be asked now is asked then.
std::string Agent::waiting_behind(const std::string& id, const store::Record& record) {
  try {
    std::string note;
    const std::optional<Offer> next = find_offer(id, record, &note);
    if (!next || next->model.digest == record.candidate.digest) return "";
    return "version " + next->model.version + " is offered and waits until " + record.candidate.version + " is decided";
  } catch (const Error&) {
    return "";
  }
}

void Agent::prepare_folders(const std::string& id) {
  parts_.files.make_dir(model_dir(dir_, id));
  const std::string app = app_dir(model_dir(dir_, id));
  if (config_.app_group.empty()) parts_.files.make_dir(app);
  else parts_.files.share_dir(app, config_.app_group);
  try {
    remove_other_observations(parts_.files, model_dir(dir_, id), record(id).candidate.digest);
  } catch (const Error&) {}  // the next time
}

// What is wrong with the bytes of a model that is to run; empty: nothing. A medium that cannot be read may be readable the next time, but
// until then another model runs, or none: that is no less worth saying, and mending, than damage.
std::string Agent::damage(const std::string& id, const store::Model& model) {
  if (model.digest.empty()) return "";
  std::string why;
  switch (store::Objects(parts_.files, model_dir(dir_, id)).look(model, nullptr, &why)) {
    case store::Condition::kIntact: return "";
    case store::Condition::kDamaged: return "model " + model.version + ", which is to run, is damaged on this device";
    case store::Condition::kUnreadable: return "model " + model.version + ", which is to run, cannot be read on this device (" + why + ")";
  }
  return "";
}

// Brings the bytes of known-good back. Neither the record nor the model changes.
void Agent::fetch_again(const Offer& offer, store::Device& device, store::Updater& u) {
  const store::Model& model = u.record().known_good;
  u.objects().prepare();
  device.fetch(model, u.objects().incoming(model.digest));
  if (!u.objects().adopt(model)) throw Error("what was fetched again from " + offer.url + " is not what was signed");
}

Capabilities Agent::capabilities() { return capabilities_here(config_.backends, config_.custom_ops, parts_.system.available_ram_bytes()); }

Fit Agent::choose(const package::Manifest& manifest) {
  return choose_variant(manifest, capabilities(), [&](const package::Variant& v) { return policies_.refuses_backends(v.needs.backends); });
}

Agent::Explanation Agent::explain(const package::Manifest& manifest, uint64_t package_bytes, const std::string& digest) {
  const Fit fit = choose(manifest);
  std::vector<std::string> reasons = fit.reasons;
  store::Record r;
  if (config_.models.count(manifest.id) == 0) reasons.push_back("the configuration has no model '" + manifest.id + "'");
  else r = record(manifest.id);
  for (const store::Quarantined& q : r.quarantine) {
    if (q.digest == digest) reasons.push_back("it is quarantined: " + q.reason);
  }
  if (manifest.security_counter < r.security_floor)
    reasons.push_back("security counter " + std::to_string(manifest.security_counter) + " is below " + std::to_string(r.security_floor));
  if (const auto why = policies_.refuses_now(Step::kFetch, parts_.clock.now(), parts_.system.conditions())) reasons.push_back(*why);
  const uint64_t budget = policies_.storage_bytes(), room = parts_.system.free_bytes(dir_);
  const uint64_t both = r.known_good.bytes + package_bytes;
  if (budget > 0 && both > budget)
    reasons.push_back("needs " + std::to_string(both) + " bytes of storage with what it replaces; " + std::to_string(budget) +
                      " are allowed");
  if (package_bytes > room)
    reasons.push_back("needs " + std::to_string(package_bytes) + " bytes of storage; " + std::to_string(room) + " are free");
  return {reasons, fit.variant != nullptr ? fit.variant->file : ""};
}

store::Updater Agent::updater(const std::string& id, store::Device& device) {
  const std::string folder = model_dir(dir_, id);
  store::Updater::Options options;
  options.tries = static_cast<uint8_t>(config_.tries);
  if (const uint64_t budget = policies_.storage_bytes()) options.storage_budget = budget;
  return store::Updater(parts_.files, folder, device, options,
                        [this, folder](const store::Record& r) { append_history(parts_.files, parts_.clock, folder, r); });
}

store::Record Agent::record(const std::string& id) {
  if (config_.models.count(id) == 0) throw Error("the configuration has no model '" + id + "'");
  ModelDevice device(*this, id, std::nullopt);
  return updater(id, device).record();
}

// In trial `objects` says whether to read all bytes too: the daemon asks each second.
Agent::Standing Agent::standing(const std::string& id, bool objects) {
  Standing out{record(id), ""};
  const bool trial = out.record.state == store::State::kTrial;
  try {
    if (trial) (void)judge_trial(parts_.files, model_dir(dir_, id), out.record, &out.note);
  } catch (const Error& e) {
    out.note = e.what();
  }
  const auto add = [&](const std::string& wrong) {
    if (!wrong.empty()) out.note += (out.note.empty() ? "" : "; ") + wrong;
  };
  if (trial && objects) add(damage(id, out.record.candidate));
  if (!trial || objects) add(damage(id, out.record.known_good));
  return out;
}

Agent::Standing Agent::advance(const std::string& id, store::State until) {
  require_turn();
  const store::Record before = record(id);
  std::string note;
  std::optional<Offer> offer;
  // A trial, and an update that was interrupted, go on without a new offer.
  if (before.state != store::State::kTrial && fresh_) offer = find_offer(id, before, &note);
  if (before.state == store::State::kTrial && fresh_) note = waiting_behind(id, before);
  const bool again = offer && offer->model.digest == before.known_good.digest;
  ModelDevice device(*this, id, offer);
  store::Updater u = updater(id, device);
  prepare_folders(id);
  if (again) {
    if (until < store::State::kVerified) return {u.record(), note + ": 'mote fleet fetch' fetches it again"};
    try {
      fetch_again(*offer, device, u);
      note += ": it was fetched again";
    } catch (const IoError&) {
      throw;
    } catch (const Error& e) {
      note += std::string(": ") + e.what();
    }
    offer.reset();
  }
  if (fresh_ && under_way(before.state)) {
    const bool paused = note == "the rollout is halted";
    if (paused) return {u.record(), note};
    if (!offer || offer->model.digest != before.candidate.digest) u.withdraw(note.empty() ? "another package is offered" : note);
  }
  if (offer && !under_way(u.record().state)) {
    const std::vector<std::string> reasons = explain(offer->manifest, offer->model.bytes, offer->model.digest).reasons;
    if (!reasons.empty()) return {u.record(), joined(reasons, "; ")};
    u.offer(offer->model);
  }
  if (under_way(u.record().state) && !fresh_) return {u.record(), "waits for fresh metadata"};
  try {
    u.advance(until);
  } catch (const IoError&) {
    throw;
  } catch (const Error& e) {
    note = e.what();
  }
  Standing out = standing(id, false);
  if (out.record.state == store::State::kTrial && before.state == store::State::kTrial && !note.empty())
    out.note += (out.note.empty() ? "" : "; ") + note;
  else if (!note.empty() && before.state != store::State::kTrial) out.note = note;
  return out;
}

void Agent::confirm(const std::string& id) {
  const store::Record r = record(id);
  if (r.state != store::State::kTrial) throw Error("'" + id + "' is not in trial: " + store::name_of(r.state));
  write_confirmation(parts_.files, model_dir(dir_, id), r.candidate.digest);
}

void Agent::rollback(const std::string& id, const std::string& reason) {
  (void)record(id);
  ModelDevice device(*this, id, std::nullopt);
  store::Updater u = updater(id, device);
  const uint64_t before = u.record().generation;
  u.rollback(reason);
  if (u.record().generation == before)
    throw Error("'" + id + "' cannot go back: no earlier model is kept, or the security counter forbids it, or an update is under way");
}

// The file is the user's, and may change at any time: what was verified is hashed and stored, not what its name means later.
void Agent::provision(const std::string& path) {
  require_turn();
  const package::Mapped package(parts_.files.map(path), path);
  const package::Header header = package.verify();
  (void)record(header.manifest.id);
  const Fit fit = choose(header.manifest);
  if (!fit.variant) throw Error(path + " cannot run on this device: " + joined(fit.reasons, "; "));
  ModelDevice device(*this, header.manifest.id, std::nullopt);
  store::Updater u = updater(header.manifest.id, device);
  prepare_folders(header.manifest.id);
  u.objects().prepare();
  const std::string_view bytes = package.bytes();
  const store::Model model{digest(bytes), bytes.size(), header.manifest.security_counter, header.manifest.version, fit.variant->file};
  const std::string to = u.objects().incoming(model.digest);
  parts_.files.create(to);
  for (uint64_t at = 0; at < bytes.size(); at += package::kChunkBytes) parts_.files.write(to, at, bytes.substr(at, package::kChunkBytes));
  u.provision(model);
}

}  // namespace mote::fleet::agent
