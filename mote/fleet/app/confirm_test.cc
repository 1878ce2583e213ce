// No sequence of faults makes a model that nobody judged CONFIRMED.
//
// A device lives through random faults: calls that fail once or for ever, media that cannot be written, power cuts, damage, golden examples
// that come out in every way, crashes, and an application that confirms, gives up or says nothing. MOTE_FAULT_SEQUENCES and
// MOTE_FAULT_SEED ask for more.

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <random>

#include "mote/fleet/agent/verdict.h"
#include "mote/fleet/app/active.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/testing/candidate.h"

namespace mote::fleet::app {
namespace {

using store::SimFiles;

class Life {
 public:
  Life(uint32_t seed, const SimFiles& start, const std::vector<Version>& versions)
      : chance_(seed), files_(start), versions_(versions), candidate_(versions[1 + chance_() % (versions.size() - 1)]) {}

  // What was wrong; empty: nothing.
  std::string run() {
    for (int step = 0; step < 14; ++step) {
      maybe_fault();
      try {
        act();
      } catch (const Error&) {
      } catch (const store::PowerCut&) {
        cut();
      }
      if (const std::string wrong = look(); !wrong.empty()) return wrong + " at step " + std::to_string(step);
    }
    return "";
  }
  bool confirmed() const { return confirmed_; }

 private:
  bool one_in(uint32_t n) { return chance_() % n == 0; }

  void maybe_fault() {
    files_.fail_never();
    files_.cut_at(UINT64_MAX);
    const int codes[] = {EIO, ENOSPC, EROFS};
    const int code = codes[chance_() % 3];
    switch (chance_() % 8) {
      case 0: files_.fail_at(chance_() % 60, code, one_in(2)); break;
      case 1: files_.fail_writes(code); break;
      case 2: files_.cut_at(chance_() % 30); break;
      case 3: damage(); break;
      default: break;
    }
  }
  void damage() {
    const store::Model& m = one_in(2) ? candidate_.model : versions_[0].model;
    const std::string object = std::string(kFolder) + "/objects/" + to_hex(m.digest),
                      trial = agent::observations_path(kFolder, candidate_.model.digest);
    try {
      if (one_in(3) && files_.size(object)) files_.damage(object, chance_() % m.bytes);
      if (const auto bytes = files_.size(trial); one_in(3) && bytes.value_or(0) > 0)
        files_.write(trial, chance_() % *bytes, one_in(2) ? "\x01" : "9");
      files_.drop_cache(object);
    } catch (const IoError&) {}
  }
  void cut() {
    if (app_) app_.reset();  // its memory is gone with the power; nothing more is written
    const store::Loss losses[] = {store::Loss::kNothing, store::Loss::kUnsynced, store::Loss::kTorn, store::Loss::kReordered};
    files_ = files_.after_cut(losses[chance_() % 4], chance_());
  }

  agent::GoldenReport any_report() {
    agent::GoldenReport r;
    r.code = static_cast<mote_code>(one_in(2) ? 0 : one_in(3) ? static_cast<uint32_t>(MOTE_UNSUPPORTED) : chance_() % 20);
    r.opened = one_in(2) || r.code == MOTE_OK;
    r.outputs = r.code == MOTE_OK && !one_in(4) ? 1 : 0;
    if (r.code != MOTE_OK || one_in(4)) r.failure = one_in(2) ? "output \n\xff is not what it must be" : "why";
    if (r.code == MOTE_UNSUPPORTED && one_in(2)) r.op = kDeclaredOp;
    r.p99_us = one_in(4) ? 1'000'000 : 10;
    r.runs = 30;
    return r;
  }

  void act() {
    clock_.milliseconds += chance_() % 20'000;
    switch (chance_() % 8) {
      case 0:
      case 1: return agent_round();
      case 2:
      case 3: return open();
      case 4: return poll();
      case 5: return talk();
      case 6: return end();
      default: return person();
    }
  }
  void agent_round() {
    Source source(files_, candidate_, any_report());
    store::Updater u(files_, kFolder, source, {});
    u.offer(candidate_.model);
    (void)u.advance();
  }
  // Whatever this start found counts as a judgement only if it was for the candidate.
  void open() {
    if (app_) return;
    const agent::GoldenReport report = any_report();
    const agent::Verdict said = agent::verdict(agent::Gate::kTrial, report, candidate_.lacks_declared(report));
    bool ran = false;
    // Judged is judged, even where the power goes before the application has its handle.
    app_ = std::make_unique<Active>(files_, clock_, "device", "kws", [&](std::string_view) {
      ran = true;
      judged_ |= said == agent::Verdict::kPass;
      left_ |= said == agent::Verdict::kApplication;
      return report;
    });
    if (!app_->in_trial()) return;
    if (!candidate_.gate.golden) judged_ = true;
    else if (!ran || (said != agent::Verdict::kPass && said != agent::Verdict::kApplication))
      wrong_ = "a candidate runs though its examples were " + std::string(ran ? agent::name_of(said) : "not run");
  }
  void poll() {
    if (app_) (void)app_->poll();
  }
  void talk() {
    if (!app_ || !app_->in_trial()) return;
    switch (chance_() % 3) {
      case 0:
        for (int i = 0; i < 25; ++i) app_->ran(one_in(30) ? 1'000'000 : 10);
        judged_ |= left_;
        break;
      case 1:
        said_yes_ = true;  // even where writing it down fails half-way
        judged_ |= left_;
        app_->confirm();
        break;
      default: app_->give_up("too\nloud \xe2\x82"); gave_up_ = true;  // it was written down
    }
  }
  void end() {
    if (!app_) return;
    if (one_in(2)) {
      app_.reset();  // a crash
      return;
    }
    const std::unique_ptr<Active> a = std::move(app_);
    a->close();
  }
  void person() {
    if (!one_in(4)) return agent_round();
    Source source(files_, candidate_, any_report());
    store::Updater(files_, kFolder, source, {}).rollback("a person asked for it");
  }

  std::string look() {
    files_.fail_never();
    files_.cut_at(UINT64_MAX);
    if (!wrong_.empty()) return wrong_;
    const store::Record r = store::Slots(files_, kFolder).record();
    const bool now = r.known_good.digest == candidate_.model.digest;
    if (now && !confirmed_) {
      confirmed_ = true;
      if (!judged_) return "confirmed without a judgement";
      if (gave_up_) return "confirmed after it was given up";
      if (candidate_.gate.confirmation && !said_yes_) return "confirmed without the confirmation that its gate asks for";
    }
    if (!now && r.known_good.digest != versions_[0].model.digest) return "known-good is neither";
    return "";
  }

  std::mt19937 chance_;
  SimFiles files_;
  SetClock clock_;
  const std::vector<Version>& versions_;
  const Version& candidate_;
  std::unique_ptr<Active> app_;
  bool judged_ = false, left_ = false, said_yes_ = false, gave_up_ = false, confirmed_ = false;
  std::string wrong_;
};

TEST(Confirm, NothingThatGoesWrongConfirmsAnUnjudgedModel) {
  package::HealthGate plain, strict, soak, loose;
  strict.confirmation = true;
  strict.p99_us = 1000;
  soak.soak_seconds = 20;
  soak.crashes = 1;
  loose.golden = false;
  package::Requirements custom;
  custom.ops = {kDeclaredOp};
  const std::vector<Version> versions = {make_version("1.0.0", plain), make_version("2.0.0", plain), make_version("2.0.1", strict),
                                         make_version("2.0.2", soak),  make_version("2.0.3", loose), make_version("2.0.4", plain, custom)};
  const SimFiles start = device_with(versions[0]);
  const char* asked = std::getenv("MOTE_FAULT_SEQUENCES");
  const uint32_t sequences = asked != nullptr ? static_cast<uint32_t>(std::strtoul(asked, nullptr, 10)) : 3000;
  const char* first = std::getenv("MOTE_FAULT_SEED");
  uint32_t confirmed = 0;
  for (uint32_t i = 0; i < sequences; ++i) {
    Life life((first != nullptr ? static_cast<uint32_t>(std::strtoul(first, nullptr, 10)) : 0) + i, start, versions);
    ASSERT_EQ(life.run(), "") << "sequence " << i;
    confirmed += life.confirmed();
  }
  // Enough of them come to an end that means something.
  EXPECT_GT(confirmed, sequences / 50);
  RecordProperty("confirmed", std::to_string(confirmed));
}

}  // namespace
}  // namespace mote::fleet::app
