#include "mote/fleet/app/active.h"

#include <algorithm>
#include <cerrno>
#include <exception>

#include "mote/fleet/agent/capability.h"
#include "mote/fleet/agent/history.h"
#include "mote/fleet/agent/verdict.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/system.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet::app {
namespace {

constexpr int64_t kGoldenMs = 100;
constexpr uint64_t kSoakStepMs = 10'000;  // spares the flash
constexpr int64_t kAskAgainMs = 10'000;

// The application only starts, judges and ends trials: everything else is the agent's.
class Bystander : public store::Device {
 public:
  using Judge = std::function<store::Health(std::string* why)>;
  explicit Bystander(Judge judge) : judge_(std::move(judge)) {}
  std::optional<std::string> refusal(const store::Model&) override { throw Error("the agent admits"); }
  void fetch(const store::Model&, const std::string&) override { throw Error("the agent fetches"); }
  store::Probed probe(const Mapping&) override { throw Error("the agent probes"); }
  bool may_activate() override { return false; }
  store::Health health(std::string* why) override { return judge_(why); }

 private:
  const Judge judge_;
};

}  // namespace

agent::GoldenReport run_golden_here(std::string_view program) { return agent::run_golden(program.data(), program.size(), 0, kGoldenMs); }

Active::Active(Files& files, Clock& clock, std::string dir, std::string id, GoldenRunner golden)
    : files_(files),
      clock_(clock),
      dir_(std::move(dir)),
      id_(std::move(id)),
      folder_(agent::model_dir(dir_, id_)),
      golden_(std::move(golden)),
      device_(std::make_unique<Bystander>([this](std::string* why) { return health(why); })) {
  store::Updater u = updater();
  if (u.record().state == store::State::kTrial && begin_start(u) == Start::kKnownGood) u.stand_aside();
  try {
    while (!open(u)) {}
  } catch (const Error& e) {
    if (aside_why_.empty()) throw;
    throw Error(std::string(e.what()) + "; the one in trial is not run: " + aside_why_);
  }
  wanted_ = wanted(u.record());
  last_ms_ = clock_.monotonic_ms();
}

Active::~Active() = default;

store::Updater Active::updater() {
  return store::Updater(files_, folder_, *device_, {},
                        [this](const store::Record& r) { agent::append_history(files_, clock_, folder_, r); });
}

// Of the model that is open, by the gate in the very bytes that were hashed.
store::Health Active::health(std::string* why) {
  const store::Record r = store::Slots(files_, folder_).record();
  if (!in_trial_ || r.state != store::State::kTrial || r.candidate.digest != model_.digest) return store::Health::kUndecided;
  return agent::judge_trial(files_, folder_, r, why, &header_.manifest.health);
}

// Says that a start begins, before anything of the candidate runs: should it crash, the next start knows. What cannot be said is no start:
// known-good runs, and the candidate keeps its tries.
Active::Start Active::begin_start(store::Updater& u) {
  const std::string digest = u.record().candidate.digest;
  try {
    seen_ = agent::read_observations(files_, folder_, digest).value_or(agent::Observations());
    seen_.digest = digest;
    const std::string boot = boot_id();
    if (seen_.open && seen_.boot == boot) ++seen_.crashes;
    seen_.boot = boot;
    seen_.open = true;
    ++seen_.starts;
    const std::optional<Mapping>& object = u.open_candidate();
    if (!object) return Start::kCandidate;  // its bytes are not what was verified: open() ends the trial
    const package::Header header = package::Mapped(*object, id_).header();
    std::string why;
    const bool confirmed = agent::is_confirmed(files_, folder_, digest);
    // Crashes and what was found before count first: a program that crashes in its golden examples is not run again to find that out.
    if (agent::judge(header.manifest.health, seen_, confirmed, &why) == store::Health::kBad) {
      end_trial(u, why);
      return Start::kKnownGood;
    }
    agent::write_observations(files_, folder_, seen_);
  } catch (const IoError& e) {
    stand_aside(digest, true, e.what());
    return Start::kKnownGood;
  } catch (const Error&) {
    return Start::kCandidate;  // no package after all: open() ends the trial
  }
  return count_start(u) ? Start::kCandidate : Start::kKnownGood;
}

// An application that may not write slot records has what it wrote down itself; the agent commits what follows from it.
bool Active::count_start(store::Updater& u) {
  const uint64_t tries = u.record().tries_left;
  if (u.boot()) return true;
  if (u.record().state == store::State::kTrial && seen_.starts <= tries) {
    u.stand_aside(false);
    return true;
  }
  if (u.record().state == store::State::kTrial) end_trial(u, "did not confirm within its tries");
  return false;
}

// The failure is written beside the records first: where this process may not commit, the agent does. False: neither could be written.
bool Active::end_trial(store::Updater& u, const std::string& reason) {
  stand_aside(seen_.digest, false, reason);
  seen_.failure = reason;
  seen_.open = false;
  in_trial_ = false;
  u.stand_aside();
  bool written = false;
  try {
    agent::write_observations(files_, folder_, seen_);
    written = true;
  } catch (const Error&) {}
  try {
    return u.fail(reason) || written;
  } catch (const Error&) {
    return written;
  }
}

void Active::stand_aside(const std::string& digest, bool ask_again, const std::string& why) {
  aside_ = digest;
  aside_why_ = why;
  ask_again_ = ask_again;
  asked_ms_ = clock_.monotonic_ms();
}

// The variant that the record names, for want of a name the one that a choice by what is here now gives. Empty, and why: none may run.
std::string Active::variant_of(const store::Model& model, std::string* why) {
  std::optional<agent::Config>& config = config_;
  config.reset();
  try {
    config = agent::read_config(files_, dir_);
  } catch (const Error& e) {
    if (model.variant.empty()) return *why = e.what(), "";
    return model.variant;  // what was probed here needs no configuration to run
  }
  agent::Policies policies;
  policies.add("local policy", config->policy);
  const auto objection = [&](const package::Variant& v) -> std::optional<std::string> {
    if (!model.variant.empty() && v.file != model.variant) return "was not probed";
    return policies.refuses_backends(v.needs.backends);
  };
  // Memory was looked at before the probe; what is free at a start may be less, for others come and go.
  const agent::Capabilities here = agent::capabilities_here(config->backends, config->custom_ops, UINT64_MAX);
  const agent::Fit fit = agent::choose_variant(header_.manifest, here, objection);
  if (fit.variant == nullptr) *why = id_ + " " + model.version + " cannot run here: " + joined(fit.reasons, "; ");
  return fit.variant != nullptr ? fit.variant->file : "";
}

// False: the trial is over, or not to be had now; known-good is to be opened.
bool Active::open(store::Updater& u) {
  std::string path, why;
  Mapping mapping;
  model_ = u.open_active(&path, &mapping);
  in_trial_ = u.record().state == store::State::kTrial && model_.digest == u.record().candidate.digest;
  try {
    mapped_ = std::make_unique<package::Mapped>(std::move(mapping), path);
    header_ = mapped_->header();
    const std::string variant = variant_of(model_, &why);
    if (!variant.empty()) program_ = mapped_->file(header_, variant);
    else if (!in_trial_) throw Error(why);
    if (!in_trial_ || (why.empty() && passes_golden(variant))) return true;
  } catch (const IoError& e) {
    if (!in_trial_) throw;
    stand_aside(model_.digest, true, e.what());
    u.stand_aside();
    return false;
  } catch (const Error& e) {
    if (!in_trial_) throw;
    why = e.what();
  }
  if (!why.empty() || !seen_.failure.empty()) {
    end_trial(u, why.empty() ? seen_.failure : why);
  } else {
    stand_aside(model_.digest, false, seen_.waits);  // undecided: this start was for nothing, the next one may tell more
    u.stand_aside();
  }
  in_trial_ = false;
  return false;
}

// Golden examples in this process, before the application has the program. True where they speak for it or cannot be had; false, with a
// failure where there is one, where they do not.
bool Active::passes_golden(const std::string& variant) {
  bool good = true;
  if (header_.manifest.health.golden) {
    const agent::GoldenReport golden = golden_(program_);
    agent::Declared declared;
    for (const package::Variant& v : header_.manifest.variants) {
      if (v.file == variant && config_) declared = agent::declared_parts(v.needs, config_->backends, config_->custom_ops);
    }
    const agent::Verdict said = agent::verdict(agent::Gate::kTrial, golden, agent::lacks_declared(golden, declared));
    if (said == agent::Verdict::kPass) seen_.golden = agent::Golden::kPassed;
    if (said == agent::Verdict::kApplication) seen_.golden = agent::Golden::kApplication;
    if (said == agent::Verdict::kFail) seen_.failure = golden.failure;
    seen_.waits = said == agent::Verdict::kPass ? "" : golden.failure;
    // Runs over examples that nothing was compared with are not what an application tells of.
    if (said == agent::Verdict::kPass) {
      seen_.runs = std::max<uint64_t>(seen_.runs, golden.runs);
      seen_.p99_us = std::max(seen_.p99_us, golden.p99_us);
    }
    seen_.ram_bytes = std::max(seen_.ram_bytes, golden.ram_bytes);
    good = said == agent::Verdict::kPass || said == agent::Verdict::kApplication;
    seen_.open = good;
    agent::write_observations(files_, folder_, seen_);
  }
  std::string why;
  if (!judged_bad(&why)) return good;
  seen_.failure = why;
  return false;
}

void Active::write_down() {
  const int64_t now = clock_.monotonic_ms();
  seen_.soaked_ms += static_cast<uint64_t>(std::max<int64_t>(now - last_ms_, 0));
  last_ms_ = now;
  const agent::Observations before = seen_;
  // The application's own runs, once there are enough, say more than golden ones.
  if (latencies_.runs() >= 20) seen_.runs = latencies_.runs(), seen_.p99_us = latencies_.p99_us();
  // That it got here is all there is to know where no examples are asked for.
  if (!header_.manifest.health.golden) seen_.golden = agent::Golden::kApplication;
  const bool ripe = seen_.soaked_ms >= header_.manifest.health.soak_seconds * 1000;
  if (seen_.p99_us != before.p99_us || seen_.golden != before.golden || ripe || seen_.soaked_ms - written_soak_ms_ >= kSoakStepMs) {
    agent::write_observations(files_, folder_, seen_);
    written_soak_ms_ = seen_.soaked_ms;
  }
}

void Active::confirm() {
  if (!in_trial_) return;
  agent::write_confirmation(files_, folder_, model_.digest);
  (void)poll();
}

void Active::give_up(const std::string& reason) {
  if (!in_trial_) return;
  store::Updater u = updater();
  const bool still = u.record().state == store::State::kTrial && u.record().candidate.digest == model_.digest;
  // A record that cannot be read does not say that the trial is over: what the application found is written beside it all the same.
  if (!still && u.readable()) return;
  if (!end_trial(u, reason.empty() ? "the application gave it up" : reason))
    throw Error(id_ + ": that the model was given up cannot be written down; this process does not use it any more");
}

bool Active::judged_bad(std::string* why) { return agent::judge(header_.manifest.health, seen_, false, why) == store::Health::kBad; }

// What this process would open now.
std::string Active::wanted(const store::Record& r) const {
  const bool aside = r.state == store::State::kTrial && r.candidate.digest == aside_;
  return aside ? r.known_good.digest : store::active(r).digest;
}

// A start that could not be written down may be possible later: the medium was full, or not there.
void Active::ask_again(const store::Record& r) {
  const int64_t now = clock_.monotonic_ms();
  if (!ask_again_ || r.state != store::State::kTrial || r.candidate.digest != aside_ || now - asked_ms_ < kAskAgainMs) return;
  asked_ms_ = now;
  try {
    agent::Observations as_it_was = agent::read_observations(files_, folder_, aside_).value_or(agent::Observations());
    as_it_was.digest = aside_;
    agent::write_observations(files_, folder_, as_it_was);
    aside_.clear();
  } catch (const Error&) {}
}

bool Active::poll() {
  store::Updater u = updater();
  const bool still = u.record().state == store::State::kTrial && u.record().candidate.digest == model_.digest;
  if (in_trial_ && still) {
    std::string why;
    std::exception_ptr unwritten;
    try {
      write_down();
    } catch (const Error&) {
      unwritten = std::current_exception();
    }
    // What is bad is left at once, whether or not it can be written down; what is good is only good once it is.
    if (judged_bad(&why)) end_trial(u, why);
    else if (unwritten) std::rethrow_exception(unwritten);
    else commit(u);
  }
  ask_again(u.record());
  const std::string now = wanted(u.record());
  return !now.empty() && now != wanted_;
}

// Where this process may not write slot records the agent judges by what lies beside them.
void Active::commit(store::Updater& u) {
  try {
    u.advance();
  } catch (const IoError& e) {
    if (e.code != EACCES && e.code != EPERM && e.code != EROFS) throw;
  }
}

void Active::close() {
  if (!in_trial_) return;
  seen_.open = false;
  write_down();
  agent::write_observations(files_, folder_, seen_);
}

}  // namespace mote::fleet::app
