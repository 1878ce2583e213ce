// A device's trust is brought up to date, and the power goes, or a call fails, anywhere on the way: what was trusted stays, or what is new
// is there; never neither.

#include <gtest/gtest.h>

#include <cerrno>

#include "mote/fleet/base/error.h"
#include "mote/fleet/testing/world.h"

namespace mote::fleet {
namespace {

using store::Loss;
using store::SimFiles;

class TrustUpdateTest : public testing::Test {
 protected:
  // The device trusts the first state; the second has another root, other keys of timestamp, and other targets.
  TrustUpdateTest() {
    world.offer("1.0.0");
    refresh(world.files);
    world.keys["timestamp"] = {PrivateKey::generate("ed25519")};
    world.repo.rotate("timestamp", world.keys["timestamp"]);
    world.offer("2.0.0");
  }

  void refresh(SimFiles& files) {
    FolderFetcher fetcher{files, "repo"};
    tuf::Client(files, fetcher, world.clock, agent::trust_dir("device"), "/metadata").refresh();
  }
  int64_t root_version(SimFiles& files) {
    const auto text = read_file(files, agent::trust_dir("device") + "/root.json", 1 << 20);
    return tuf::Trust(*text, 0).root().version();  // throws unless it is whole and signed
  }
  void check(SimFiles files, int64_t at_least) {
    ++states;
    int64_t version = 0;
    ASSERT_NO_THROW(version = root_version(files));
    ASSERT_GE(version, at_least);
    ASSERT_NO_THROW(refresh(files));
    ASSERT_EQ(root_version(files), 2);
  }
  bool refresh_until(SimFiles& files, uint64_t n) {
    files.cut_at(n);
    try {
      refresh(files);
      return false;
    } catch (const store::PowerCut&) {
      return true;
    }
  }
  template <class Use>
  void for_each_outcome(const SimFiles& files, Use use) {
    use(files.after_cut(Loss::kNothing, 0));
    use(files.after_cut(Loss::kUnsynced, 0));
    for (uint64_t k = 1; k < files.torn_sectors(); ++k) use(files.after_cut(Loss::kTorn, static_cast<uint32_t>(k)));
    for (uint32_t seed = 0; seed < 2; ++seed) use(files.after_cut(Loss::kReordered, seed));
  }

  World world;
  uint64_t states = 0;
};

TEST_F(TrustUpdateTest, MayStopAnywhereTwice) {
  const SimFiles start = world.files.after_cut(Loss::kNothing, 0);
  uint64_t n = 0;
  for (;; ++n) {
    SimFiles disk = start;
    if (!refresh_until(disk, n)) break;
    for_each_outcome(disk, [&](const SimFiles& outcome) {
      if (HasFatalFailure()) return;
      check(outcome, 1);
      SimFiles look = outcome;
      const int64_t reached = root_version(look);
      for (uint64_t m = 0;; ++m) {
        SimFiles again = outcome;
        if (!refresh_until(again, m)) break;
        check(again.after_cut(Loss::kUnsynced, 0), reached);
        if (HasFatalFailure()) return;
      }
    });
    if (HasFatalFailure()) FAIL() << "first cut at change " << n;
  }
  std::printf("%llu cuts, %llu states\n", static_cast<unsigned long long>(n), static_cast<unsigned long long>(states));
  EXPECT_GT(n, 15u);
}

TEST_F(TrustUpdateTest, MayFailAnywhere) {
  const SimFiles start = world.files.after_cut(Loss::kNothing, 0);
  for (const int code : {EIO, ENOSPC}) {
    for (const bool for_ever : {false, true}) {
      uint64_t n = 0;
      for (bool reached = true; reached; ++n) {
        SimFiles disk = start;
        disk.fail_at(n, code, for_ever);
        try {
          refresh(disk);
        } catch (const Error&) {}
        reached = disk.calls() > n;
        disk.fail_never();
        for (const Loss loss : {Loss::kNothing, Loss::kUnsynced, Loss::kReordered}) {
          check(disk.after_cut(loss, static_cast<uint32_t>(n)), 1);
          ASSERT_FALSE(HasFatalFailure()) << "call " << n;
        }
      }
      EXPECT_GT(n, 20u);
    }
  }
}

}  // namespace
}  // namespace mote::fleet
