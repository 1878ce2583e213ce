// What an application opens, whatever the medium, the golden examples and the neighbours do.

#include "mote/fleet/app/active.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "mote/compiler/emit/builder.h"
#include "mote/fleet/agent/verdict.h"
#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/testing/world.h"
#include "mote/ops/op_table.h"

namespace mote::fleet::app {
namespace {

using agent::GoldenReport;
using store::State;

GoldenReport report(mote_code code, bool opened, const std::string& failure = "why") {
  GoldenReport r;
  r.code = code;
  r.opened = opened;
  r.failure = code == MOTE_OK ? "" : failure;
  r.outputs = code == MOTE_OK ? 1 : 0;
  return r;
}

// A program of one operator, with a golden example: relu, or one that nobody has.
std::string program_of(bool known) {
  emit::ProgramBuilder b;
  b.begin_method("main");
  const auto x = b.input("x", DType::f32, {2});
  if (known) {
    b.output("y", b.op(OpId::relu, NoAttrs{}, {x}));
  } else {
    const auto y = b.temp(DType::f32, {2});
    b.custom_into("acme::blend", nullptr, 0, {x}, {y});
    b.output("y", y);
  }
  const float in[] = {-1, 2}, out[] = {0, 2};
  const auto bytes = [](const float* v) {
    const auto* p = reinterpret_cast<const uint8_t*>(v);
    return std::vector<uint8_t>(p, p + 8);
  };
  b.golden(0, {bytes(in)}, {bytes(out)}, 0);
  emit::FileBytes file;
  std::string error;
  EXPECT_TRUE(b.finish(&file, &error, {16384, known, true})) << error;
  const auto span = file.span();
  return std::string(reinterpret_cast<const char*>(span.data), span.size);
}

class ActiveTest : public testing::Test {
 protected:
  ActiveTest() { world.clock.milliseconds = 1000; }
  std::unique_ptr<Active> open() {
    return std::make_unique<Active>(world.files, world.clock, "device", "kws", [this](std::string_view) {
      ++golden_runs;
      return golden;
    });
  }
  store::Record record() { return world.agent().standing("kws").record; }
  std::string note() { return world.agent().standing("kws").note; }
  std::string object(const store::Model& m) { return agent::model_dir("device", "kws") + "/objects/" + to_hex(m.digest); }
  void begin_trial(const std::string& version, const package::HealthGate& gate = {}, uint64_t counter = 0) {
    world.offer(version, gate, 100, counter);
    const auto s = world.round();
    ASSERT_EQ(s.record.state, State::kTrial) << s.note << s.record.reason;
  }
  void install(const std::string& version, uint64_t counter = 0) {
    begin_trial(version, {}, counter);
    const auto a = open();
    (void)a->poll();
    a->close();
    ASSERT_EQ(record().known_good.version, version) << note();
  }

  World world;
  GoldenReport golden = report(MOTE_OK, true);
  int golden_runs = 0;
};

TEST_F(ActiveTest, OpensTriesAndConfirms) {
  install("1.0.0");
  begin_trial("2.0.0");
  const auto a = open();
  EXPECT_TRUE(a->in_trial());
  EXPECT_EQ(a->version(), "2.0.0");
  EXPECT_FALSE(a->poll());
  EXPECT_EQ(record().state, State::kConfirmed);
}

// A package with an operator that is not here was probed, tried and confirmed; the application could not start.
TEST_F(ActiveTest, AnUnknownOperatorIsNeverConfirmed) {
  install("1.0.0");
  begin_trial("2.0.0");
  golden = report(MOTE_UNSUPPORTED, false, "cannot open the program: operator not known: 'acme::blend'");
  for (int i = 0; i < 3; ++i) {
    const auto a = open();
    EXPECT_EQ(a->version(), "1.0.0") << i;
    EXPECT_FALSE(a->poll());
    EXPECT_EQ(record().state, State::kTrial) << i;
    EXPECT_NE(note().find("acme::blend"), std::string::npos) << note();
    a->close();
  }
  EXPECT_EQ(open()->version(), "1.0.0");
  EXPECT_EQ(record().state, State::kReverted);
  EXPECT_EQ(record().known_good.version, "1.0.0");
}

TEST_F(ActiveTest, TheSameWithTheRealLibrary) {
  world.program = program_of(true);
  install("1.0.0");
  world.program = program_of(false);
  begin_trial("2.0.0");
  const auto a = std::make_unique<Active>(world.files, world.clock, "device", "kws");
  EXPECT_EQ(a->version(), "1.0.0");
  EXPECT_EQ(record().state, State::kTrial);
  const GoldenReport r = run_golden_here(program_of(true));
  EXPECT_EQ(r.code, MOTE_OK) << r.failure;
  EXPECT_EQ(r.outputs, 1u);
  const GoldenReport unknown = run_golden_here(program_of(false));
  EXPECT_EQ(unknown.code, MOTE_UNSUPPORTED);
  EXPECT_TRUE(agent::lacks_declared(unknown, {{"acme::blend"}, {}})) << unknown.failure << unknown.op;
  EXPECT_FALSE(agent::lacks_declared(unknown, {{"acme::bland"}, {}}));
}

TEST_F(ActiveTest, TheProbeIsUndecidedToo) {
  world.prober.report = report(MOTE_UNSUPPORTED, false);
  world.offer("1.0.0");
  auto s = world.round();
  EXPECT_EQ(s.record.state, State::kVerified) << s.note;
  EXPECT_NE(s.note.find("why"), std::string::npos) << s.note;
  EXPECT_TRUE(s.record.quarantine.empty());
  world.prober.report = report(MOTE_DIGEST, true);
  s = world.round();
  EXPECT_EQ(s.record.state, State::kIdle);
  EXPECT_EQ(s.record.quarantine.size(), 1u);
}

TEST_F(ActiveTest, DeclaredPartsAreLeftToTheApplicationWhichMustSaySomething) {
  world.configure("", "custom_ops = [\"acme::blend\"]\n");
  world.needs.ops = {"acme::blend"};
  world.prober.report = golden = report(MOTE_UNSUPPORTED, false, "operator not known: 'acme::blend'");
  world.offer("1.0.0");
  ASSERT_EQ(world.round().record.state, State::kTrial);
  const auto a = open();
  EXPECT_TRUE(a->in_trial());
  (void)a->poll();
  EXPECT_EQ(record().state, State::kTrial);
  for (int i = 0; i < 20; ++i) a->ran(10);
  (void)a->poll();
  EXPECT_EQ(record().state, State::kConfirmed) << note();
}

// The one that was probed runs, though a better one could by now; and what the policy forbids never does.
TEST_F(ActiveTest, TheVariantThatWasProbedRuns) {
  package::Requirements large;
  large.ram_bytes = uint64_t{1} << 31;  // more than the machine has when it is probed
  world.variants = {{"large.mote", large}, {"small.mote", {}}};
  install("1.0.0");
  EXPECT_EQ(record().known_good.variant, "small.mote");
  world.machine.ram = uint64_t{1} << 40;
  const auto a = open();
  EXPECT_EQ(a->program(), "small.mote of 1.0.0");
}

TEST_F(ActiveTest, AForbiddenVariantDoesNotRun) {
  world.configure("", "backends = [\"npu\"]\n");
  package::Requirements npu;
  npu.backends = {"npu"};
  world.variants = {{"npu.mote", npu}, {"cpu.mote", {}}};
  install("1.0.0");
  EXPECT_EQ(record().known_good.variant, "npu.mote");
  world.configure("[policy]\nforbid = [\"npu\"]\n", "backends = [\"npu\"]\n");
  EXPECT_THROW((void)open(), Error);  // cpu.mote was never probed
  world.files.remove(agent::config_path("device"));
  EXPECT_EQ(open()->version(), "1.0.0");  // without a configuration what was probed runs
}

TEST_F(ActiveTest, CrashesAreJudgedBeforeGoldenDataRun) {
  install("1.0.0");
  begin_trial("2.0.0");
  open().reset();  // as a crash leaves it
  const int before = golden_runs;
  const auto a = open();
  EXPECT_EQ(a->version(), "1.0.0");
  EXPECT_EQ(golden_runs, before);
  EXPECT_EQ(record().state, State::kReverted);
  EXPECT_NE(record().quarantine.at(0).reason.find("crash"), std::string::npos);
}

TEST_F(ActiveTest, KnownGoodOpensWithoutWriting) {
  install("1.0.0");
  for (const bool trial : {false, true}) {
    if (trial) begin_trial("2.0.0");
    for (const int code : {EROFS, ENOSPC, EIO}) {
      world.files.fail_writes(code);
      for (int i = 0; i < 5; ++i) {  // more often than a trial has starts
        const auto a = open();
        EXPECT_EQ(a->version(), "1.0.0") << code;
        EXPECT_FALSE(a->poll());
        EXPECT_NO_THROW(a->close());
      }
      world.files.fail_never();
    }
  }
  // No start was used up: the candidate is tried, and confirmed, once there is room.
  EXPECT_EQ(record().state, State::kTrial);
  const auto a = open();
  EXPECT_EQ(a->version(), "2.0.0");
  (void)a->poll();
  EXPECT_EQ(record().state, State::kConfirmed) << note();
}

TEST_F(ActiveTest, RoomThatComesBackIsNoticedWithoutARestart) {
  install("1.0.0");
  begin_trial("2.0.0");
  world.files.fail_writes(ENOSPC);
  const auto a = open();
  EXPECT_EQ(a->version(), "1.0.0");
  world.clock.milliseconds += 60'000;
  EXPECT_FALSE(a->poll());
  world.files.fail_never();
  EXPECT_FALSE(a->poll());  // not asked at every poll
  world.clock.milliseconds += 60'000;
  EXPECT_TRUE(a->poll());
  EXPECT_EQ(open()->version(), "2.0.0");
}

// The first call that fails, for every call, once and for ever: known-good opens whenever it can be read at all.
TEST_F(ActiveTest, KnownGoodOpensWhicheverWriteFails) {
  install("1.0.0");
  begin_trial("2.0.0");
  const store::SimFiles start = world.files;
  for (const int code : {EIO, ENOSPC, EROFS}) {
    for (uint64_t n = 0;; ++n) {
      world.files = start;
      world.files.fail_at(n, code, false);
      const auto a = open();
      EXPECT_TRUE(a->version() == "1.0.0" || a->version() == "2.0.0");
      const bool reached = world.files.calls() > n;
      world.files.fail_never();
      ASSERT_NE(record().state, State::kReverted) << n;  // a fault of the medium is not the model's
      if (!reached) break;
    }
  }
}

// Damage is said, repaired, and never answered with a model below the security counter.
TEST_F(ActiveTest, ADamagedModelIsReportedAndFetchedAgain) {
  install("1.0.0", 1);
  install("2.0.0", 1);
  world.files.damage(object(record().known_good), 9);
  world.files = world.files.after_cut(store::Loss::kNothing, 0);
  EXPECT_NE(note().find("2.0.0"), std::string::npos);
  EXPECT_NE(note().find("damaged"), std::string::npos) << note();
  const auto before = open();
  EXPECT_EQ(before->version(), "1.0.0");
  EXPECT_FALSE(before->poll());  // nothing else can be opened: no swap again and again
  const auto s = world.round();
  EXPECT_NE(s.note.find("fetched again"), std::string::npos) << s.note;
  EXPECT_EQ(open()->version(), "2.0.0");
  EXPECT_EQ(world.round().note, "up to date");
}

// A block that cannot be read is as much worth saying and mending as one with other bytes.
TEST_F(ActiveTest, AModelThatCannotBeReadIsReportedAndFetchedAgain) {
  install("1.0.0", 1);
  install("2.0.0", 1);
  world.files.fail_reads_of(object(record().known_good));
  EXPECT_NE(note().find("2.0.0, which is to run, cannot be read on this device"), std::string::npos) << note();
  EXPECT_EQ(open()->version(), "1.0.0");
  bool said = false;
  for (const agent::Agent::Finding& f : world.agent().doctor()) said |= !f.good && f.text.find("cannot be read") != std::string::npos;
  EXPECT_TRUE(said);
  agent::Agent checking = world.agent();
  checking.refresh();
  const std::string check = checking.advance("kws", State::kAdmitted).note;
  EXPECT_NE(check.find("cannot be read"), std::string::npos) << check;
  EXPECT_EQ(check.find("up to date"), std::string::npos) << check;
  // Without a server that has it there is nothing to mend it with, and it is still said.
  world.fetcher.down = true;
  EXPECT_NE(note().find("cannot be read"), std::string::npos);
  world.fetcher.down = false;
  const auto s = world.round();
  EXPECT_NE(s.note.find("fetched again"), std::string::npos) << s.note;
  EXPECT_EQ(open()->version(), "2.0.0");
  EXPECT_EQ(world.round().note, "up to date");
}

TEST_F(ActiveTest, TheSameInTrialAndOnTheWayThere) {
  install("1.0.0");
  world.machine.now = {false, true, 40};
  world.configure("[policy]\nactivate_battery_percent = 60\n");
  world.offer("2.0.0");
  ASSERT_EQ(world.round().record.state, State::kStaged);
  world.machine.now.on_battery = false;
  ASSERT_EQ(world.round().record.state, State::kTrial);
  world.files.fail_reads_of(object(record().candidate));
  EXPECT_NE(note().find("2.0.0, which is to run, cannot be read"), std::string::npos) << note();
  EXPECT_EQ(open()->version(), "1.0.0");
  world.files.fail_reads_of(object(record().known_good));
  EXPECT_NE(note().find("1.0.0, which is to run, cannot be read"), std::string::npos) << note();
}

TEST_F(ActiveTest, ACandidateThatCannotBeReadIsFetchedAgain) {
  install("1.0.0");
  world.prober.report = report(MOTE_IO, false);  // undecided: it stays where it is
  world.offer("2.0.0");
  ASSERT_EQ(world.round().record.state, State::kVerified);
  world.files.fail_reads_of(object(record().candidate));
  world.prober.report = report(MOTE_OK, true);
  for (int i = 0; i < 3 && record().state != State::kTrial; ++i) {
    try {
      (void)world.round();
    } catch (const Error&) {}
  }
  EXPECT_EQ(record().state, State::kTrial) << note();
  EXPECT_EQ(open()->version(), "2.0.0");
}

TEST_F(ActiveTest, DamageDoesNotOpenAModelBelowTheSecurityCounter) {
  install("1.0.0", 1);
  install("2.0.0", 2);
  const store::SimFiles whole = world.files;
  world.files.damage(object(record().known_good), 9);
  world.files = world.files.after_cut(store::Loss::kNothing, 0);
  try {
    (void)open();
    ADD_FAILURE() << "1.0.0 was opened";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("security counter 1"), std::string::npos) << e.what();
  }
  (void)world.round();
  EXPECT_EQ(open()->version(), "2.0.0");
}

// Somebody swaps files between any two steps: the bytes that are used are the ones that were hashed.
TEST_F(ActiveTest, TheMappedBytesAreTheHashedOnes) {
  class Swapping : public store::SimFiles {
   public:
    explicit Swapping(const store::SimFiles& f) : SimFiles(f) {}
    std::string read(const std::string& path, uint64_t offset, uint64_t bytes) override {
      if (path.find("/objects/") != std::string::npos) ++reads;
      std::string out = SimFiles::read(path, offset, bytes);
      // After each reading of an object other bytes stand under its name.
      if (path.find("/objects/") != std::string::npos && swap) SimFiles::write(path, 8192, "evil");
      return out;
    }
    int reads = 0;
    bool swap = false;
  };
  install("1.0.0");
  Swapping files(world.files);
  const std::string digest = record().known_good.digest, path = object(record().known_good);
  files.swap = true;
  Active a(files, world.clock, "device", "kws");
  EXPECT_EQ(a.program().find("evil"), std::string::npos);
  EXPECT_EQ(digest_file(world.files, path), digest);
}

TEST_F(ActiveTest, AFailureThatCannotBeWrittenDownIsNotAConfirmation) {
  install("1.0.0");
  begin_trial("2.0.0");
  const auto a = open();
  ASSERT_TRUE(a->in_trial());
  world.files.fail_writes(ENOSPC);
  EXPECT_THROW(a->give_up("too\nloud"), Error);
  EXPECT_TRUE(a->poll());  // this process leaves it all the same
  world.files.fail_never();
  EXPECT_EQ(record().state, State::kTrial);
}

// Records that cannot be read do not say that the trial is over: it was taken so, and the model was confirmed later.
TEST_F(ActiveTest, GivingUpIsWrittenDownWhereTheRecordsCannotBeRead) {
  install("1.0.0");
  begin_trial("2.0.0");
  const std::string digest = record().candidate.digest, dir = agent::model_dir("device", "kws");
  const auto a = open();
  for (const char* slot : {"/slot.0", "/slot.1"}) world.files.fail_reads_of(dir + slot);
  a->give_up("too loud");
  ASSERT_TRUE(agent::read_observations(world.files, dir, digest));
  EXPECT_EQ(agent::read_observations(world.files, dir, digest)->failure, "too loud");
}

TEST_F(ActiveTest, GivingUpWithALineBreakQuarantines) {
  install("1.0.0");
  begin_trial("2.0.0");
  const auto a = open();
  a->give_up("too\nloud");
  EXPECT_EQ(record().state, State::kReverted);
  EXPECT_EQ(record().quarantine.at(0).reason, "too?loud");
}

}  // namespace
}  // namespace mote::fleet::app
