// Power is cut at every change of every flow; each way in which the medium may look afterwards is a state. From each the device starts
// again, and power is cut at every change of that recovery too. MOTE_CRASH_SEEDS sets how many random orders are tried at each cut.

#include <gtest/gtest.h>

#include <cstdlib>

#include "mote/fleet/base/error.h"
#include "mote/fleet/store/testing/life.h"

namespace mote::fleet::store {
namespace {

uint32_t seeds() {
  const char* text = std::getenv("MOTE_CRASH_SEEDS");
  return text ? static_cast<uint32_t>(std::atoi(text)) : 6;
}

// Every way the medium may look after the cut that `files` has just had.
template <class Use>
void for_each_outcome(const SimFiles& files, Use use) {
  use(files.after_cut(Loss::kNothing, 0));
  if (!files.anything_unsynced()) return;
  use(files.after_cut(Loss::kUnsynced, 0));
  for (uint64_t k = 1; k < files.torn_sectors(); ++k) use(files.after_cut(Loss::kTorn, static_cast<uint32_t>(k)));
  for (uint32_t s = 0; s < seeds(); ++s) use(files.after_cut(Loss::kReordered, s));
}

class PowerCutTest : public testing::TestWithParam<Goal> {
 protected:
  // Only whole models, known ones, ever run.
  static void check_opened(const Model& model, const std::string& bytes) {
    const int number = model == make_model(0) ? 0 : 1;
    ASSERT_EQ(model, make_model(number));
    ASSERT_EQ(bytes, model_bytes(number));
  }

  // The state right after a cut: a model opens, and no commit that was told of is lost.
  void check_state(SimFiles disk, const Committed& committed) {
    ++states_;
    SimDevice device(disk);
    Updater updater(disk, kDir, device, {});
    ASSERT_GE(updater.record().generation, committed.generation);
    std::string path;
    Model model;
    ASSERT_NO_THROW(model = updater.open_active(&path)) << name_of(updater.record().state);
    check_opened(model, disk.read(path, 0, 1 << 20));
  }

  // Left alone from here, the device comes to its goal.
  void check_goal(SimFiles disk, Committed committed) {
    ASSERT_NO_THROW(live(disk, GetParam(), &committed, check_opened));
    SimDevice device(disk);
    const Record r = Updater(disk, kDir, device, {}).record();
    const bool installs = GetParam() == Goal::kInstall;
    ASSERT_EQ(r.known_good, make_model(installs ? 1 : 0)) << name_of(r.state) << " " << r.reason;
    ASSERT_EQ(r.quarantines(make_model(1).digest), !installs);
    ASSERT_EQ(r.state, installs ? State::kConfirmed : GetParam() == Goal::kFailProbe ? State::kIdle : State::kReverted);
  }

  // Lives until the cut at change `n`. False when it was over before.
  bool live_until(SimFiles& disk, uint64_t n, Committed* committed) {
    disk.cut_at(n);
    try {
      live(disk, GetParam(), committed, check_opened);
      return false;
    } catch (const PowerCut&) {
      return true;
    }
  }

  void second_cut(const SimFiles& disk, const Committed& before) {
    for (uint64_t m = 0;; ++m) {
      SimFiles recovering = disk;
      Committed committed = before;
      if (!live_until(recovering, m, &committed)) return;
      for_each_outcome(recovering, [&](const SimFiles& outcome) {
        check_state(outcome, committed);
        check_goal(outcome, committed);
      });
      if (HasFatalFailure()) return;
    }
  }

  uint64_t states_ = 0;
};

TEST_P(PowerCutTest, OldOrNewRunsWhereverPowerFailsTwice) {
  const SimFiles start = fresh_disk(GetParam());
  uint64_t n = 0;
  for (;; ++n) {
    SimFiles disk = start;
    Committed committed;
    if (!live_until(disk, n, &committed)) break;
    for_each_outcome(disk, [&](const SimFiles& outcome) {
      check_state(outcome, committed);
      if (!HasFatalFailure()) second_cut(outcome, committed);
    });
    if (HasFatalFailure()) FAIL() << "first cut at change " << n;
  }
  RecordProperty("states", std::to_string(states_));
  std::printf("%llu cuts, %llu states\n", static_cast<unsigned long long>(n), static_cast<unsigned long long>(states_));
  EXPECT_GT(n, 5u);
  EXPECT_GT(states_, 100u);
}

std::string flow_name(const testing::TestParamInfo<Goal>& flow) {
  constexpr const char* names[] = {"Install", "FailTrial", "FailProbe", "Rollback"};
  return names[static_cast<int>(flow.param)];
}

// FailTrial and Rollback are the case of MCUboot #1966: a write torn during a revert.
INSTANTIATE_TEST_SUITE_P(Flows, PowerCutTest, testing::Values(Goal::kInstall, Goal::kFailTrial, Goal::kFailProbe, Goal::kRollback),
                         flow_name);

// The trust update: metadata are replaced as files. After "rename without sync" a file may be empty, which has bricked devices.
TEST(PowerCut, ReplacedFilesAreOldOrNewNeverEmpty) {
  SimFiles start;
  const std::string path = "trust/root.json", old_bytes(3000, 'o'), new_bytes(5000, 'n');
  replace_file(start, path, old_bytes);
  uint64_t states = 0, n = 0;
  for (bool cut = true; cut; ++n) {
    SimFiles disk = start;
    disk.cut_at(n);
    try {
      replace_file(disk, path, new_bytes);
      cut = false;
    } catch (const PowerCut&) {}
    for_each_outcome(disk, [&](SimFiles outcome) {
      ++states;
      const std::string found = read_file(outcome, path, 1 << 20).value_or("");
      ASSERT_TRUE(found == new_bytes || (cut && found == old_bytes)) << "cut at " << n << ": " << found.size() << " bytes";
      replace_file(outcome, path, new_bytes);
      SimFiles settled = outcome.after_cut(Loss::kUnsynced, 0);
      ASSERT_EQ(read_file(settled, path, 1 << 20), new_bytes);
    });
  }
  EXPECT_GT(states, 20u);
}

// The simulator must find what it is for: an update that renames before it syncs loses the file.
TEST(PowerCut, TheSimulatorSeesAMissingSync) {
  SimFiles files;
  files.create("d/a.new");
  files.write("d/a.new", 0, std::string(2000, 'x'));
  files.rename("d/a.new", "d/a");
  files.sync_dir("d");
  SimFiles after = files.after_cut(Loss::kUnsynced, 0);
  EXPECT_EQ(after.size("d/a"), 0u);
}

}  // namespace
}  // namespace mote::fleet::store
