// The system's own files, with calls that are interrupted, do less than asked, or fail: the nth one, for every n.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "mote/fleet/base/error.h"
#include "mote/fleet/store/testing/life.h"

namespace mote::fleet::store {
namespace {

// What the calls do; functions without state read it.
struct Trouble {
  bool interrupt_every_other = false, short_counts = false;
  uint64_t fail_at = UINT64_MAX, calls = 0;
  int code = EIO;
} g_trouble;

// True: the call fails now, with errno set.
bool trouble() {
  const uint64_t number = g_trouble.calls++;
  if (number == g_trouble.fail_at) return errno = g_trouble.code, true;
  if (g_trouble.interrupt_every_other && number % 2 == 0) return errno = EINTR, true;
  return false;
}

size_t less(size_t bytes) { return g_trouble.short_counts && bytes > 1 ? bytes / 2 + 1 : bytes; }

const FileCalls kTroubled = {
    [](int folder, const char* path, int flags, unsigned mode) { return trouble() ? -1 : ::openat(folder, path, flags, mode); },
    [](int file, void* to, size_t bytes, long offset) -> long { return trouble() ? -1 : ::pread(file, to, less(bytes), offset); },
    [](int file, const void* from, size_t bytes, long offset) -> long {
      return trouble() ? -1 : ::pwrite(file, from, less(bytes), offset);
    },
    [](int file) { return trouble() ? -1 : ::fdatasync(file); }, [](int file) { return trouble() ? -1 : ::fsync(file); }};

class InterruptedTest : public testing::Test {
 protected:
  InterruptedTest() {
    char name[] = "/tmp/mote_fleet_XXXXXX";
    dir_ = ::mkdtemp(name);
    g_trouble = Trouble();
  }
  ~InterruptedTest() override {
    g_trouble = Trouble();
    std::filesystem::remove_all(dir_);
  }
  // Model 0 is known-good; model 1 is taken as far as it goes. True: it is confirmed.
  bool live(const std::string& dir) {
    for (int start = 0; start < 6; ++start) {
      try {
        Updater u(files_, dir, device_, {});
        if (u.record().known_good.digest.empty()) {
          u.objects().prepare();
          device_.fetch(make_model(0), u.objects().incoming(make_model(0).digest));
          u.provision(make_model(0));
        }
        u.boot();
        std::string path;
        const Model model = u.open_active(&path);
        EXPECT_EQ(digest_file(files_, path), model.digest);
        u.offer(make_model(1));
        if (u.advance() == State::kConfirmed) return true;
      } catch (const Error&) {}
    }
    return false;
  }
  SystemFiles files_{kTroubled};
  SimDevice device_{files_};
  std::string dir_;
};

TEST_F(InterruptedTest, InterruptedCallsAreTakenUpAgain) {
  g_trouble.interrupt_every_other = true;
  EXPECT_TRUE(live(dir_ + "/a"));
  EXPECT_GT(g_trouble.calls, 50u);
}

TEST_F(InterruptedTest, ShortReadsAndWritesAreCompleted) {
  g_trouble.short_counts = g_trouble.interrupt_every_other = true;
  EXPECT_TRUE(live(dir_ + "/a"));
}

TEST_F(InterruptedTest, WhicheverCallFailsTheUpdateComesToItsEnd) {
  for (const int code : {EIO, ENOSPC, EINTR}) {
    bool reached = true;
    // Every call fails in the simulator (fault_test.cc); here, where syncing takes its time, some do.
    for (uint64_t n = static_cast<uint64_t>(code % 7); reached; n += 23) {
      const std::string dir = dir_ + "/" + std::to_string(code) + "." + std::to_string(n);
      g_trouble = Trouble();
      g_trouble.short_counts = true;
      g_trouble.fail_at = n;
      g_trouble.code = code;
      EXPECT_TRUE(live(dir)) << "call " << n << ", errno " << code;
      reached = g_trouble.calls > n;
      std::filesystem::remove_all(dir);
    }
  }
}

// Files of no length after a power cut, seen on ext4 and XFS: never taken for a model or a record.
TEST_F(InterruptedTest, ZeroLengthFilesAreNeitherModelsNorRecords) {
  const std::string dir = dir_ + "/a";
  ASSERT_TRUE(live(dir));
  Updater before(files_, dir, device_, {});
  const std::string object = before.objects().path(make_model(1).digest);
  files_.create(object);
  std::string path;
  EXPECT_EQ(Updater(files_, dir, device_, {}).open_active(&path), make_model(0));
  const int newest = before.record().generation % 2 == 0 ? 1 : 0;
  files_.create(dir + "/slot." + std::to_string(newest));
  EXPECT_NO_THROW(Updater(files_, dir, device_, {}).open_active(&path));
}

}  // namespace
}  // namespace mote::fleet::store
