// The nth call to the file system fails, for every n: once, and from then on for ever.

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "mote/fleet/base/error.h"
#include "mote/fleet/store/testing/life.h"

namespace mote::fleet::store {
namespace {

struct Fault {
  Goal goal;
  int code;
  bool for_ever;
};

class FaultTest : public testing::TestWithParam<Fault> {
 protected:
  void live_with_faults(SimFiles& disk, Committed* committed) {
    // An agent goes on after an error; its application is started again.
    for (int i = 0; i < 3; ++i) {
      try {
        live(disk, GetParam().goal, committed, [](const Model&, const std::string&) {});
        return;
      } catch (const Error&) {}
    }
  }
};

TEST_P(FaultTest, NothingIsLostWhicheverCallFails) {
  const SimFiles start = fresh_disk(GetParam().goal);
  uint64_t n = 0;
  for (bool reached = true; reached; ++n) {
    SimFiles disk = start;
    Committed committed;
    disk.fail_at(n, GetParam().code, GetParam().for_ever);
    live_with_faults(disk, &committed);
    reached = disk.calls() > n;
    disk.fail_never();
    // The power goes as well: with it what failing syncs had promised nothing about.
    for (const Loss loss : {Loss::kNothing, Loss::kUnsynced, Loss::kReordered}) {
      SimFiles after = disk.after_cut(loss, static_cast<uint32_t>(n));
      Committed then = committed;
      std::string opened;
      ASSERT_NO_THROW(live(after, GetParam().goal, &then, [&](const Model&, const std::string& bytes) { opened = bytes; })) << "call " << n;
      ASSERT_TRUE(opened == model_bytes(0) || opened == model_bytes(1)) << "call " << n;
      SimDevice device(after);
      const Record r = Updater(after, kDir, device, {}).record();
      ASSERT_GE(r.generation, committed.generation) << "call " << n;
      // Failed tries may have used a trial up; then the old model runs, and the record says why.
      const bool installed = GetParam().goal == Goal::kInstall && r.state == State::kConfirmed;
      ASSERT_EQ(r.known_good, make_model(installed ? 1 : 0)) << "call " << n;
      if (GetParam().goal == Goal::kInstall && !GetParam().for_ever) {
        ASSERT_TRUE(installed) << "call " << n << " " << r.reason;
      }
    }
  }
  EXPECT_GT(n, 15u);
}

std::vector<Fault> all_faults() {
  std::vector<Fault> out;
  for (const Goal goal : {Goal::kInstall, Goal::kFailTrial, Goal::kFailProbe, Goal::kRollback}) {
    for (const int code : {EIO, ENOSPC}) {
      for (const bool for_ever : {false, true}) out.push_back({goal, code, for_ever});
    }
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, FaultTest, testing::ValuesIn(all_faults()));

// Writes fail for ever: the model that is there runs on.
TEST(Fault, AReadOnlyMediumStopsUpdatesNotTheModel) {
  SimFiles files = fresh_disk(Goal::kInstall);
  SimDevice device(files);
  Updater updater(files, kDir, device, {});
  updater.boot();
  updater.offer(make_model(1));
  files.fail_at(0, EROFS, true);
  EXPECT_THROW(updater.advance(), Error);
  files.fail_never();
  std::string path;
  EXPECT_EQ(updater.open_active(&path), make_model(0));
}

}  // namespace
}  // namespace mote::fleet::store
