// Promises of the update, among them what went wrong elsewhere.

#include "mote/fleet/store/updater.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/store/testing/life.h"

namespace mote::fleet::store {
namespace {

class UpdaterTest : public testing::Test {
 protected:
  Updater start() { return Updater(files, kDir, device, options); }
  Model runs() {
    Updater u = start();
    u.boot();
    std::string path;
    return u.open_active(&path);
  }
  SimFiles files = fresh_disk(Goal::kInstall);
  SimDevice device{files};
  Updater::Options options;
};

TEST_F(UpdaterTest, InstallsTriesAndConfirms) {
  Updater u = start();
  EXPECT_TRUE(u.offer(make_model(1)));
  EXPECT_EQ(u.advance(), State::kTrial);
  EXPECT_EQ(runs(), make_model(1));
  Updater later = start();
  EXPECT_EQ(later.advance(), State::kConfirmed);
  EXPECT_EQ(later.record().known_good, make_model(1));
  EXPECT_EQ(later.record().previous, make_model(0));
  EXPECT_FALSE(later.offer(make_model(1)));
}

// RAUC #490: a counter that each boot decrements ends a good system.
TEST_F(UpdaterTest, AThousandStartsNeverMoveAConfirmedSlot) {
  Updater u = start();
  u.offer(make_model(1));
  u.advance();
  u.advance();
  ASSERT_EQ(u.record().state, State::kConfirmed);
  const uint64_t generation = u.record().generation;
  files.cut_at(UINT64_MAX);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(runs(), make_model(1));
    files = files.after_cut(Loss::kUnsynced, 0);
  }
  EXPECT_EQ(files.changes(), 0u);  // not even a write
  EXPECT_EQ(start().record().generation, generation);
}

TEST_F(UpdaterTest, ATrialThatNeverConfirmsEndsByItself) {
  device.trial = Health::kUndecided;
  Updater u = start();
  u.offer(make_model(1));
  ASSERT_EQ(u.advance(), State::kTrial);
  for (int i = 0; i < options.tries; ++i) EXPECT_EQ(runs(), make_model(1)) << i;
  EXPECT_EQ(runs(), make_model(0));
  Updater over = start();
  EXPECT_EQ(over.record().state, State::kReverted);
  EXPECT_FALSE(over.offer(make_model(1)));  // not again
}

TEST_F(UpdaterTest, AFailingGateRevertsAtOnceAndQuarantinesWithItsReason) {
  device.trial = Health::kBad;
  Updater u = start();
  u.offer(make_model(1));
  u.advance();
  EXPECT_EQ(runs(), make_model(1));
  EXPECT_EQ(u.advance(), State::kReverted);
  EXPECT_EQ(runs(), make_model(0));
  ASSERT_EQ(u.record().quarantine.size(), 1u);
  EXPECT_EQ(u.record().quarantine[0].reason, "golden error");
  EXPECT_FALSE(u.offer(make_model(1)));
}

// RAUC #459: what was written is not what is on the medium.
TEST_F(UpdaterTest, WhatTheMediumDamagedIsNeverStaged) {
  device.medium_damages = true;
  Updater u = start();
  u.offer(make_model(1));
  EXPECT_EQ(u.advance(), State::kIdle);
  EXPECT_EQ(runs(), make_model(0));
  device.medium_damages = false;
  EXPECT_TRUE(u.offer(make_model(1)));  // it was not the model's fault
  EXPECT_EQ(u.advance(), State::kTrial);
}

// Mender PR 825: a report that fails must not undo what was committed.
TEST_F(UpdaterTest, AFailingReportChangesNothing) {
  int told = 0;
  Updater u(files, kDir, device, options, [&](const Record&) {
    ++told;
    throw std::runtime_error("no network");
  });
  u.offer(make_model(1));
  u.advance();
  EXPECT_EQ(u.advance(), State::kConfirmed);
  EXPECT_GT(told, 7);
  EXPECT_EQ(runs(), make_model(1));
}

TEST_F(UpdaterTest, ADamagedCandidateEndsItsTrialADamagedKnownGoodDoesNotEndTheDevice) {
  Updater u = start();
  u.offer(make_model(1));
  u.advance();
  const std::string candidate = std::string(kDir) + "/objects/" + to_hex(make_model(1).digest);
  SimFiles before = files;
  files.damage(candidate, 9);
  files = files.after_cut(Loss::kNothing, 0);
  EXPECT_EQ(runs(), make_model(0));
  EXPECT_EQ(start().record().state, State::kReverted);
  files = before;
  ASSERT_EQ(start().advance(), State::kConfirmed);
  files.damage(candidate, 9);
  files = files.after_cut(Loss::kNothing, 0);
  EXPECT_EQ(runs(), make_model(0));  // the previous one
}

TEST_F(UpdaterTest, RefusedAndFailedProbesKeepTheirReasons) {
  device.refuses = "needs 2 GiB, 1 GiB is there";
  Updater u = start();
  u.offer(make_model(1));
  EXPECT_EQ(u.advance(), State::kIdle);
  EXPECT_EQ(u.record().reason, *device.refuses);
  EXPECT_TRUE(u.record().quarantine.empty());
  device.refuses.reset();
  device.probe_fails = "cannot be parsed";
  EXPECT_TRUE(u.offer(make_model(1)));
  EXPECT_EQ(u.advance(), State::kIdle);
  EXPECT_TRUE(u.record().quarantines(make_model(1).digest));
}

TEST_F(UpdaterTest, ModelsWithALowerSecurityCounterAreRefused) {
  Model old = make_model(1);
  old.security_counter = 4;
  EXPECT_FALSE(start().offer(old));
}

TEST_F(UpdaterTest, CollectsWhatNoRecordNeedsInsideTheBudget) {
  options.storage_budget = 5000;  // two models of 2500 bytes
  Updater u = start();
  u.offer(make_model(1));
  u.advance();
  EXPECT_EQ(u.objects().used_bytes(), 5000u);
  u.advance();
  EXPECT_EQ(u.objects().used_bytes(), 5000u);  // the previous one has room
  options.storage_budget = 4999;
  start().advance();
  EXPECT_EQ(u.objects().used_bytes(), 2500u);
  EXPECT_EQ(runs(), make_model(1));
}

TEST_F(UpdaterTest, WhatAnotherProcessIsFetchingIsNotCollected) {
  Updater application = start(), agent = start();
  ASSERT_TRUE(agent.offer(make_model(1)));
  agent.objects().prepare();
  const std::string incoming = agent.objects().incoming(make_model(1).digest);
  files.create(incoming);
  application.advance();  // its record is older than the offer
  EXPECT_TRUE(files.size(incoming));
  agent.withdraw("gone");
  agent.advance();
  EXPECT_FALSE(files.size(incoming));
}

TEST(Record, EveryDamagedByteIsNoticed) {
  Record r;
  r.generation = 7;
  r.state = State::kTrial;
  r.tries_left = 2;
  r.known_good = make_model(0);
  r.candidate = make_model(1);
  r.reason = std::string(200, 'x');
  for (int i = 0; i < 40; ++i) r.quarantine.push_back({std::string(32, static_cast<char>(i)), "why " + std::to_string(i)});
  const std::string bytes = encode(r);
  ASSERT_EQ(bytes.size(), kRecordBytes);
  const std::optional<Record> back = decode(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->candidate, r.candidate);
  EXPECT_EQ(back->reason.size(), kMaxReasonBytes);
  ASSERT_EQ(back->quarantine.size(), kMaxQuarantined);
  EXPECT_EQ(back->quarantine.back(), r.quarantine.back());
  EXPECT_EQ(encode(*back), bytes);
  for (size_t i = 0; i < bytes.size(); i += 13) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(decode(damaged)) << i;
  }
  EXPECT_FALSE(decode(bytes.substr(1)));
  EXPECT_FALSE(decode(""));
}

TEST(Machine, AnEventToldTwiceIsToldOnce) {
  Record r;
  r = step(r, {EventKind::kProvision, make_model(0)});
  for (const Event& e :
       {Event{EventKind::kRefresh, make_model(1)}, Event{EventKind::kAdmit}, Event{EventKind::kFetch}, Event{EventKind::kVerify},
        Event{EventKind::kProbePass}, Event{EventKind::kStage}, Event{EventKind::kActivate, {}, {}, 3}, Event{EventKind::kConfirm}}) {
    const Record once = step(r, e);
    EXPECT_FALSE(once == r);
    EXPECT_TRUE(step(once, e) == once);
    r = once;
  }
  EXPECT_EQ(r.known_good, make_model(1));
  // Nothing but a trial ends known-good.
  for (int kind = 0; kind <= static_cast<int>(EventKind::kWithdraw); ++kind) {
    const Record after = step(r, {static_cast<EventKind>(kind), make_model(1), "why", 3});
    EXPECT_EQ(after.known_good, make_model(1)) << kind;
  }
}

}  // namespace
}  // namespace mote::fleet::store
