#include "mote/fleet/app/active.h"

#include <algorithm>

#include "mote/fleet/agent/capability.h"
#include "mote/fleet/agent/config.h"
#include "mote/fleet/agent/golden.h"
#include "mote/fleet/agent/history.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/system.h"

namespace mote::fleet::app {
namespace {

constexpr int64_t kGoldenMs = 100;
constexpr uint64_t kSoakStepMs = 10'000;  // spares the flash

// The application only starts, judges and ends trials: everything else is the agent's.
class Bystander : public store::Device {
 public:
  Bystander(Files& files, std::string folder) : files_(files), folder_(std::move(folder)) {}
  std::optional<std::string> refusal(const store::Model&) override { throw Error("the agent admits"); }
  void fetch(const store::Model&, const std::string&) override { throw Error("the agent fetches"); }
  std::optional<std::string> probe_failure(const std::string&) override { throw Error("the agent probes"); }
  bool may_activate() override { return false; }
  store::Health health(std::string* why) override {
    return agent::judge_trial(files_, folder_, store::Slots(files_, folder_).record(), why);
  }

 private:
  Files& files_;
  const std::string folder_;
};

}  // namespace

Active::Active(Files& files, Clock& clock, std::string dir, std::string id)
    : files_(files),
      clock_(clock),
      dir_(std::move(dir)),
      id_(std::move(id)),
      folder_(agent::model_dir(dir_, id_)),
      device_(std::make_unique<Bystander>(files_, folder_)) {
  updater().boot();
  while (!try_open()) {}
  last_ms_ = clock_.monotonic_ms();
}

Active::~Active() = default;

store::Updater Active::updater() {
  return store::Updater(files_, folder_, *device_, {},
                        [this](const store::Record& r) { agent::append_history(files_, clock_, folder_, r); });
}

// False: the trial is over, the next one is to be opened.
bool Active::try_open() {
  store::Updater u = updater();
  std::string path;
  model_ = u.open_active(&path);
  mapped_ = std::make_unique<package::Mapped>(path);
  header_ = mapped_->header();
  in_trial_ = u.record().state == store::State::kTrial && model_ == u.record().candidate;
  const agent::Config config = agent::read_config(files_, dir_);
  const agent::Fit fit = agent::choose_variant(header_.manifest, agent::capabilities_here(config.backends, config.custom_ops, UINT64_MAX));
  if (fit.variant) program_ = mapped_->file(header_, fit.variant->file);
  if (!in_trial_) {
    if (!fit.variant) throw Error(id_ + " " + model_.version + ": " + fit.reasons.front());
    return true;
  }
  if (fit.variant && passes_trial_start()) return true;
  u.fail(fit.variant ? seen_.failure : fit.reasons.front());
  in_trial_ = false;
  return false;
}

// Says that a start begins, before anything of the candidate runs: should it crash, the next start knows.
bool Active::passes_trial_start() {
  seen_ = agent::read_observations(files_, folder_, model_.digest).value_or(agent::Observations());
  seen_.digest = model_.digest;
  const std::string boot = boot_id();
  if (seen_.open && seen_.boot == boot) ++seen_.crashes;
  seen_.boot = boot;
  seen_.open = true;
  ++seen_.starts;
  agent::write_observations(files_, folder_, seen_);
  if (header_.manifest.health.golden) {
    const agent::GoldenReport golden = agent::run_golden(program_.data(), program_.size(), 0, kGoldenMs);
    if (!golden.lacks_parts) seen_.failure = golden.failure;
    seen_.runs = std::max<uint64_t>(seen_.runs, golden.runs);
    seen_.p99_us = std::max(seen_.p99_us, golden.p99_us);
    seen_.ram_bytes = std::max(seen_.ram_bytes, golden.ram_bytes);
    agent::write_observations(files_, folder_, seen_);
  }
  std::string why;
  const bool confirmed = agent::is_confirmed(files_, folder_, model_.digest);
  if (agent::judge(header_.manifest.health, seen_, confirmed, &why) != store::Health::kBad) return true;
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
  const bool ripe = seen_.soaked_ms >= header_.manifest.health.soak_seconds * 1000;
  if (seen_.p99_us != before.p99_us || ripe || seen_.soaked_ms - written_soak_ms_ >= kSoakStepMs) {
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
  seen_.failure = reason.empty() ? "the application gave it up" : reason;
  agent::write_observations(files_, folder_, seen_);
  (void)poll();
}

bool Active::poll() {
  store::Updater u = updater();
  const bool still = u.record().state == store::State::kTrial && u.record().candidate == model_;
  if (in_trial_ && still) {
    write_down();
    u.advance();
  }
  const std::string& active = store::active(u.record()).digest;
  return !active.empty() && active != model_.digest;
}

void Active::close() {
  if (!in_trial_) return;
  write_down();
  seen_.open = false;
  agent::write_observations(files_, folder_, seen_);
}

}  // namespace mote::fleet::app
