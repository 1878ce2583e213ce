#include "mote/fleet/agent/agent.h"

#include <gtest/gtest.h>

#include "mote/fleet/agent/history.h"
#include "mote/fleet/agent/rounds.h"
#include "mote/fleet/agent/trial.h"
#include "mote/fleet/app/latencies.h"
#include "mote/fleet/testing/world.h"

namespace mote::fleet::agent {
namespace {

using store::State;

class AgentTest : public testing::Test {
 protected:
  void install(const std::string& version) {
    world.offer(version);
    ASSERT_EQ(world.round().record.state, State::kTrial);
    const Agent::Standing s = world.trial_goes("");
    ASSERT_EQ(s.record.state, State::kConfirmed) << s.record.reason << s.note;
    ASSERT_EQ(s.record.known_good.version, version);
  }
  World world;
};

TEST_F(AgentTest, InstallsTriesConfirmsAndRemembers) {
  install("1.0.0");
  install("1.1.0");
  EXPECT_EQ(world.round().note, "up to date");
  world.offer("1.2.0");
  EXPECT_EQ(world.round().note, "in trial: waits for an application to open it");
  (void)world.trial_goes("");
  const std::vector<std::string> history = read_history(world.files, model_dir("device", "kws"));
  EXPECT_EQ(history.size(), 24u);
  EXPECT_NE(history.back().find("CONFIRMED"), std::string::npos);
}

TEST_F(AgentTest, AFailedTrialGoesBackAndIsNotTriedAgain) {
  install("1.0.0");
  world.offer("2.0.0");
  ASSERT_EQ(world.round().record.state, State::kTrial);
  const Agent::Standing s = world.trial_goes("golden error");
  EXPECT_EQ(s.record.state, State::kReverted);
  EXPECT_EQ(s.record.known_good.version, "1.0.0");
  EXPECT_EQ(s.record.quarantine.at(0).reason, "golden error");
  EXPECT_EQ(world.round().note, "what is offered is quarantined");
}

TEST_F(AgentTest, AFailedProbeQuarantines) {
  install("1.0.0");
  world.prober.failure = "its probe crashed: Segmentation fault";
  world.offer("2.0.0");
  const Agent::Standing s = world.round();
  EXPECT_EQ(s.record.state, State::kIdle);
  EXPECT_EQ(s.record.quarantine.at(0).reason, world.prober.failure);
}

TEST_F(AgentTest, RefusalsNameEverythingThatIsMissing) {
  world.needs.ops = {"mote::relu", "mote::flying", "loop"};
  world.needs.dtypes = {"f32", "f3"};
  world.needs.isa = {"avx1024"};
  world.needs.backends = {"npu"};
  world.needs.ram_bytes = uint64_t{1} << 40;
  world.machine.room = 100;
  world.offer("1.0.0");
  const Agent::Standing s = world.round();
  EXPECT_EQ(s.record.state, State::kIdle);
  for (const char* part :
       {"operators mote::flying", "element types f3", "instruction sets avx1024", "backends npu", "bytes of memory", "100 are free"})
    EXPECT_NE(s.note.find(part), std::string::npos) << part << ": " << s.note;
  EXPECT_EQ(s.note.find("mote::relu"), std::string::npos);
  EXPECT_EQ(s.record.generation, 0u);  // a refusal writes nothing
}

TEST_F(AgentTest, LocalPolicyTightensAndNeverWidens) {
  world.put_policy(R"({"channels":["stable"],"fetch_battery_percent":30,"max_bytes_per_second":1000,"metered":false})");
  world.configure("[policy]\nmetered = true\nmax_bytes_per_second = 5000\nfetch_battery_percent = 50\n");
  world.machine.now.metered = true;
  world.offer("1.0.0");
  EXPECT_EQ(world.round().note, "signed policy: not over a metered network");
  world.machine.now = {false, true, 40};
  EXPECT_EQ(world.round().note, "local policy: battery at 40 %, 50 % needed");
  world.configure("[policy]\nchannels = [\"beta\"]\n");
  EXPECT_EQ(world.round().note, "local policy has no channel 'stable', but beta");
  Policies both;
  both.add("a", parse_policy(R"({"max_bytes_per_second":1000})"));
  both.add("b", parse_policy(R"({"max_bytes_per_second":5000,"storage_bytes":7})"));
  EXPECT_EQ(both.max_bytes_per_second(), 1000u);
  EXPECT_EQ(both.storage_bytes(), 7u);
}

TEST_F(AgentTest, ActivationWaitsForItsWindow) {
  world.configure("[policy]\nactivate_battery_percent = 60\n");
  world.machine.now = {false, true, 40};
  world.offer("1.0.0");
  EXPECT_EQ(world.round().record.state, State::kStaged);
  world.machine.now.battery_percent = 61;
  EXPECT_EQ(world.round().record.state, State::kTrial);
}

TEST_F(AgentTest, HaltedRolloutsPauseOthersAreWithdrawn) {
  world.machine.now = {false, true, 40};
  world.configure("[policy]\nactivate_battery_percent = 60\n");
  world.offer("1.0.0");
  ASSERT_EQ(world.round().record.state, State::kStaged);
  world.repo.halt("stable");
  world.sign_and_publish();
  EXPECT_EQ(world.round().record.state, State::kStaged);
  world.machine.now.on_battery = false;
  EXPECT_EQ(world.round().note, "the rollout is halted");
  world.offer("1.0.1");
  world.machine.now.on_battery = true;
  EXPECT_EQ(world.round().record.candidate.version, "1.0.1");
  world.repo.withdraw("stable");
  world.sign_and_publish();
  const Agent::Standing s = world.round();
  EXPECT_EQ(s.note, "channel 'stable' offers nothing");
  EXPECT_EQ(s.record.state, State::kIdle);
  EXPECT_TRUE(s.record.candidate.digest.empty() && s.record.quarantine.empty());
}

TEST_F(AgentTest, ExplainsWhatSpeaksAgainstAPackage) {
  install("1.0.0");
  world.offer("2.0.0");
  ASSERT_EQ(world.round().record.state, State::kTrial);
  (void)world.trial_goes("too loud");
  const package::Header header = package::read_header(world.files, "kws.mpkg");
  const std::string digest = digest_file(world.files, "kws.mpkg");
  const auto said = [&](package::Manifest m, const std::string& of) {
    std::string all;
    for (const std::string& r : world.agent().explain(m, 5000, of).reasons) all += r + "\n";
    return all;
  };
  EXPECT_EQ(said(header.manifest, "another"), "");
  EXPECT_EQ(world.agent().explain(header.manifest, 5000, "").variant, "kws.mote");
  EXPECT_EQ(said(header.manifest, digest), "it is quarantined: too loud\n");
  package::Manifest other = header.manifest;
  other.id = "lights";
  EXPECT_EQ(said(other, ""), "the configuration has no model 'lights'\n");
  world.machine.room = 4999;
  EXPECT_EQ(said(header.manifest, ""), "needs 5000 bytes of storage; 4999 are free\n");
}

TEST_F(AgentTest, ChecksSayWhatWaitsBehindATrial) {
  install("1.0.0");
  world.offer("2.0.0");
  ASSERT_EQ(world.round().record.state, State::kTrial);
  world.offer("3.0.0");
  const std::string note = world.round().note;
  EXPECT_NE(note.find("in trial: waits for an application to open it"), std::string::npos) << note;
  EXPECT_NE(note.find("3.0.0 is offered and waits until 2.0.0 is decided"), std::string::npos) << note;
  EXPECT_EQ(world.trial_goes("").record.state, State::kConfirmed);
  EXPECT_EQ(world.round().record.candidate.version, "3.0.0");
}

TEST_F(AgentTest, AFirstModelInTrialIsNothingWrong) {
  const auto model_is_fine = [&] {
    for (const Agent::Finding& f : world.agent().doctor()) {
      if (f.check == "model kws") return f.good;
    }
    return false;
  };
  EXPECT_FALSE(model_is_fine());  // none at all
  world.offer("1.0.0");
  ASSERT_EQ(world.round().record.state, State::kTrial);
  EXPECT_TRUE(model_is_fine());
}

TEST_F(AgentTest, WhoHasNoTurnMayLookAndGoBack) {
  install("1.0.0");
  install("1.1.0");
  Agent beside({world.files, world.fetcher, world.clock, world.machine, world.prober}, "device", Agent::Turn::kNone);
  EXPECT_THROW(beside.refresh(), Error);
  EXPECT_THROW((void)beside.advance("kws"), Error);
  EXPECT_EQ(beside.standing("kws").record.known_good.version, "1.1.0");
  beside.rollback("kws", "taste");
  EXPECT_EQ(beside.standing("kws").record.known_good.version, "1.0.0");
}

// aktualizr #1185, #1548: expired metadata, or none, must not stop what runs, is tried or goes back.
TEST_F(AgentTest, ExpiredMetadataStopNewInstallsNothingElse) {
  install("1.0.0");
  world.offer("2.0.0");
  ASSERT_EQ(world.round().record.state, State::kTrial);
  world.clock.time += 3650LL * 86400;  // ten years
  EXPECT_EQ(world.trial_goes("").record.state, State::kConfirmed);
  world.agent().rollback("kws", "taste");
  EXPECT_EQ(world.agent().standing("kws").record.known_good.version, "1.0.0");
  EXPECT_NE(world.round().note.find("expired"), std::string::npos);
  EXPECT_EQ(world.round().record.known_good.version, "1.0.0");
}

TEST_F(AgentTest, AClockThatWasTenYearsAheadDoesNoLastingHarm) {
  install("1.0.0");
  const int64_t now = world.clock.time;
  world.clock.time += 3650LL * 86400;
  EXPECT_NE(world.round().note.find("expired"), std::string::npos);
  world.clock.time = now;
  install("1.1.0");
}

TEST_F(AgentTest, AClockOf1970ChangesNothingThatWasTrusted) {
  install("1.0.0");
  world.clock.time = 0;
  EXPECT_EQ(world.round().note, "up to date");  // the floor stands for the clock
  world.fetcher.down = true;
  EXPECT_NE(world.round().note.find("no network"), std::string::npos);
  EXPECT_EQ(world.round().record.known_good.version, "1.0.0");
}

TEST_F(AgentTest, ARolloutOfOtherBytesThanTargetsSignedIsRefused) {
  world.offer("1.0.0");
  replace_file(world.files, "other.mpkg", *read_file(world.files, "kws.mpkg", 1 << 20) + "x");
  world.repo.add("other.mpkg", "kws/1.0.0.mpkg");  // the rollout still means the digest from before
  world.sign_and_publish();
  Agent a = world.agent();
  a.refresh();
  EXPECT_THROW((void)a.advance("kws"), Error);
  EXPECT_EQ(a.standing("kws").record.generation, 0u);
}

TEST(Policy, WindowsAndUnknownNames) {
  const Policy p = parse_policy(R"({"windows":["mon,tue 01:00-05:00","sat 22:00-04:00"]})");
  const int64_t monday = 1'800'000'000 / 86400 * 86400 - 4 * 86400;  // 1 800 000 000 is a Friday
  const auto open = [&](int64_t at) { return p.windows[0].contains(at) || p.windows[1].contains(at); };
  EXPECT_TRUE(open(monday + 3600));
  EXPECT_FALSE(open(monday + 5 * 3600));
  EXPECT_FALSE(open(monday + 2 * 86400 + 3600));
  EXPECT_TRUE(open(monday + 5 * 86400 + 22 * 3600));
  EXPECT_TRUE(open(monday + 6 * 86400 + 3 * 3600));
  EXPECT_FALSE(open(monday + 6 * 86400 + 5 * 3600));
  for (const char* bad : {R"({"window":[]})", R"({"windows":["mon"]})", R"({"windows":["mon 25:00-26:00"]})", R"({"min_percent":101})",
                          R"({"metered":1})", R"({"format":2})", "[]", ""})
    EXPECT_THROW((void)parse_policy(bad), Error) << bad;
}

TEST(Policy, RingsGrowAndKeepTheirDevices) {
  Rollout r{"stable", "p", std::string(32, 'x'), 10, false};
  int in = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string device = "device-" + std::to_string(i);
    r.percent = 10;
    const bool early = in_ring(device, r);
    in += early;
    r.percent = 50;
    EXPECT_TRUE(!early || in_ring(device, r));
    r.percent = 100;
    EXPECT_TRUE(in_ring(device, r));
    r.percent = 0;
    EXPECT_FALSE(in_ring(device, r));
  }
  EXPECT_NEAR(in, 200, 50);
}

TEST(Trial, EveryPartOfTheGate) {
  package::HealthGate gate;
  gate.p99_us = 100;
  gate.ram_bytes = 1000;
  gate.soak_seconds = 10;
  gate.crashes = 1;
  gate.confirmation = true;
  Observations good;
  good.starts = 1;
  good.golden = Golden::kPassed;
  good.soaked_ms = 10'000;
  good.runs = 20;
  good.p99_us = 100;
  good.ram_bytes = 1000;
  good.crashes = 1;
  std::string why;
  EXPECT_EQ(judge(gate, good, true, &why), store::Health::kGood);
  EXPECT_EQ(judge(gate, good, false, &why), store::Health::kUndecided);
  const auto worse = [&](auto change) {
    Observations o = good;
    change(o);
    return judge(gate, o, true, &why);
  };
  EXPECT_EQ(worse([](auto& o) { o.p99_us = 101; }), store::Health::kBad);
  EXPECT_EQ(worse([](auto& o) { o.p99_us = 101, o.runs = 19; }), store::Health::kGood);  // too few to mean anything
  EXPECT_EQ(worse([](auto& o) { o.ram_bytes = 1001; }), store::Health::kBad);
  EXPECT_EQ(worse([](auto& o) { o.crashes = 2; }), store::Health::kBad);
  EXPECT_EQ(worse([](auto& o) { o.soaked_ms = 9999; }), store::Health::kUndecided);
  EXPECT_EQ(why, "in trial: waits for its soak time, 9 of 10 s in use");
  EXPECT_EQ(worse([](auto& o) { o.failure = "x"; }), store::Health::kBad);
}

TEST(Latencies, P99WithinAnEighthOfAnOctave) {
  app::Latencies l;
  EXPECT_EQ(l.p99_us(), 0u);
  for (int i = 0; i < 990; ++i) l.add(100);
  for (int i = 0; i < 10; ++i) l.add(5000);
  EXPECT_GE(l.p99_us(), 100u);
  EXPECT_LE(l.p99_us(), 112u);
  l.add(5000);
  EXPECT_GE(l.p99_us(), 5000u);
  EXPECT_LE(l.p99_us(), 5632u);
  l.add(UINT64_MAX);
}

TEST(Rounds, JitterAndBackOff) {
  for (uint32_t chance : {0u, 1u, 77777u, UINT32_MAX}) {
    EXPECT_NEAR(static_cast<double>(next_round_ms(3600, 0, chance)), 3.6e6, 3.6e5 + 1);
    EXPECT_NEAR(static_cast<double>(next_round_ms(3600, 1, chance)), 3e4, 3e3 + 1);
    EXPECT_NEAR(static_cast<double>(next_round_ms(3600, 3, chance)), 1.2e5, 1.2e4 + 1);
    EXPECT_LE(next_round_ms(3600, 1000, chance), 3'960'001);
  }
}

}  // namespace
}  // namespace mote::fleet::agent
