// Every failure code at every gate, with every call to the file system failing: what a gate did not judge is not confirmed.

#include <gtest/gtest.h>

#include <cerrno>

#include "mote/fleet/app/active.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/testing/candidate.h"

namespace mote::fleet::app {
namespace {

using agent::Gate;
using agent::GoldenReport;
using agent::Verdict;
using store::SimFiles;
using store::State;

constexpr int kLastCode = MOTE_NOT_BOUND;

struct Fault {
  int code;
  bool for_ever;
};

class GateFaultTest : public testing::TestWithParam<Fault> {
 protected:
  GateFaultTest() {
    package::Requirements custom;
    custom.ops = {kDeclaredOp};
    installed_ = make_version("1.0.0", {});
    candidate_ = make_version("2.0.0", {}, custom);
    device_ = device_with(installed_);
    in_trial_ = device_;
    agent_round(in_trial_, good());
    in_trial_ = in_trial_.after_cut(store::Loss::kNothing, 0);
    EXPECT_EQ(record(in_trial_).state, State::kTrial);
  }

  static GoldenReport good() {
    GoldenReport r;
    r.opened = true;
    r.outputs = 1;
    return r;
  }
  // Every code, those of later libraries too; while it is opened and while it runs; naming what is declared and what is not. And right
  // examples, wrong ones, and none.
  static std::vector<GoldenReport> all_reports() {
    std::vector<GoldenReport> out = {good(), good(), good()};
    out[1].failure = "output y is not what it must be";
    out[2].outputs = 0;
    for (int code = MOTE_OK + 1; code <= kLastCode + 1; ++code) {
      for (int i = 0; i < 4; ++i) {
        GoldenReport r;
        r.code = static_cast<mote_code>(code);
        r.opened = (i & 1) != 0;
        r.op = (i & 2) != 0 ? kDeclaredOp : "acme::other";
        r.failure = "why";
        out.push_back(r);
      }
    }
    return out;
  }

  void agent_round(SimFiles& files, const GoldenReport& report) {
    try {
      Source source(files, candidate_, report);
      store::Updater u(files, kFolder, source, {});
      u.offer(candidate_.model);
      (void)u.advance();
    } catch (const Error&) {}
  }
  // The application starts, looks, and ends in order.
  void application(SimFiles& files, const GoldenReport& report) {
    try {
      Active a(files, clock_, "device", "kws", [&](std::string_view) { return report; });
      try {
        (void)a.poll();
      } catch (const Error&) {}
      a.close();
    } catch (const Error&) {}
  }
  static store::Record record(SimFiles& files) { return store::Slots(files, kFolder).record(); }
  bool confirmed(SimFiles& files) const { return record(files).known_good.digest == candidate_.model.digest; }

  // One life: the nth call fails while `gate` judges; then everything works again, and the gate is asked once more. True: n was reached.
  bool live(Gate gate, const GoldenReport& report, uint64_t n, SimFiles* out_end) {
    SimFiles files = gate == Gate::kProbe ? device_ : in_trial_;
    files.fail_at(n, GetParam().code, GetParam().for_ever);
    for (int round = 0; round < 2; ++round) {
      gate == Gate::kProbe ? agent_round(files, report) : application(files, report);
      if (round > 0) break;
      const bool reached = files.calls() > n;
      files.fail_never();
      if (!reached) return *out_end = files, false;
    }
    *out_end = files;
    return true;
  }
  // How a gate ends where nothing fails.
  static bool ends_as(Gate gate, Verdict v, const store::Record& r) {
    const bool first = gate == Gate::kProbe;
    switch (v) {
      case Verdict::kPass: return r.state == (first ? State::kTrial : State::kConfirmed);
      case Verdict::kFail: return r.state == (first ? State::kIdle : State::kReverted) && r.quarantine.size() == 1;
      case Verdict::kUndecided: return r.state == (first ? State::kVerified : State::kTrial) && r.quarantine.empty();
      case Verdict::kApplication: return r.state == State::kTrial;
    }
    return false;
  }

  Version installed_, candidate_;
  SimFiles device_, in_trial_;
  SetClock clock_;
};

TEST_P(GateFaultTest, NoCodeAtNoGateConfirmsWhicheverCallFails) {
  uint64_t lives = 0, declared = 0;
  for (const GoldenReport& report : all_reports()) {
    for (const Gate gate : {Gate::kProbe, Gate::kTrial}) {
      const Verdict v = agent::verdict(gate, report, candidate_.lacks_declared(report));
      declared += candidate_.lacks_declared(report);
      SimFiles end;
      uint64_t n = 0;
      for (; live(gate, report, n, &end); ++n) {
        const auto where = [&] { return testing::Message() << "code " << report.code << " opened " << report.opened << " call " << n; };
        // What was judged by nobody, or left to an application that says nothing, waits; it may also be over for want of starts.
        if (gate == Gate::kProbe || v != Verdict::kPass) {
          ASSERT_FALSE(confirmed(end)) << where();
        }
        if (gate == Gate::kProbe && (v == Verdict::kFail || v == Verdict::kUndecided)) {
          ASSERT_NE(record(end).state, State::kTrial) << where();
        }
        // The medium's fault is not the model's; but an orderly end that cannot be written down looks like a crash at the next start.
        if (v != Verdict::kFail && record(end).reason.find("crashes") == std::string::npos) {
          ASSERT_TRUE(record(end).quarantine.empty()) << where() << ": " << record(end).reason;
        }
        ASSERT_TRUE(record(end).known_good.digest == installed_.model.digest || confirmed(end)) << where();
        ++lives;
      }
      ASSERT_TRUE(ends_as(gate, v, record(end))) << "code " << report.code << " opened " << report.opened << ": "
                                                 << store::name_of(record(end).state) << " for " << agent::name_of(v);
      EXPECT_GT(n, 10u);
    }
  }
  EXPECT_EQ(declared, 2u);
  RecordProperty("lives", std::to_string(lives));
}

INSTANTIATE_TEST_SUITE_P(All, GateFaultTest,
                         testing::Values(Fault{EIO, false}, Fault{EIO, true}, Fault{ENOSPC, false}, Fault{ENOSPC, true}));

}  // namespace
}  // namespace mote::fleet::app
