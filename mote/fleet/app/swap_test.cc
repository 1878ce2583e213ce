// On the real file system somebody swaps files below their names while they are used: what is used is what was hashed.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "mote/fleet/agent/sandbox.h"
#include "mote/fleet/app/active.h"
#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/testing/world.h"

namespace mote::fleet::app {
namespace {

namespace fs = std::filesystem;
using store::State;

constexpr auto kFor = std::chrono::milliseconds(700);  // each race; a swap takes microseconds

// Exchanges two files for as long as it lives, so that each name is always there.
class Swapper {
 public:
  Swapper(std::string a, std::string b)
      : thread_([this, a = std::move(a), b = std::move(b)] {
          while (!stop_) {
            EXPECT_EQ(::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE), 0);
            ++swaps_;
          }
        }) {}
  ~Swapper() {
    stop_ = true;
    thread_.join();
    EXPECT_GT(swaps_, 10u);
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> swaps_{0};
  std::thread thread_;
};

class SwapTest : public testing::Test {
 protected:
  SwapTest() {
    char name[] = "/tmp/mote_swap_XXXXXX";
    top_ = ::mkdtemp(name);
    dir_ = top_ + "/device";
    fs::create_directory(dir_);
    fs::permissions(dir_, fs::perms(0755));
    files_ = std::make_unique<SystemFiles>(dir_);
    replace_file(*files_, agent::config_path(dir_),
                 "metadata_url = \"/m\"\ntargets_url = \"/t\"\ndevice = \"d1\"\n[models]\nkws = \"stable\"\n");
    make("good", true);
    make("evil", false);
  }
  ~SwapTest() override { fs::remove_all(top_); }

  // Two packages of one size; the evil one asks for no judgement at all.
  void make(const std::string& what, bool strict) {
    SystemFiles plain;
    package::Manifest m;
    m.id = "kws";
    m.version = "1.0.0";
    m.runtime_min = "0.0.1";
    m.health.confirmation = m.health.golden = strict;
    m.variants = {{what + ".mote", {}}};
    replace_file(plain, top_ + "/program", what);
    package::create(plain, m, {{what + ".mote", top_ + "/program"}}, path(what));
    fs::permissions(path(what), fs::perms(0644));
  }
  std::string path(const std::string& what) const { return top_ + "/" + what + ".mpkg"; }
  agent::Agent make_agent() { return agent::Agent({*files_, fetcher_, clock_, machine_, prober_}, dir_); }
  std::string model_dir() const { return agent::model_dir(dir_, "kws"); }

  // Attempts until time is up. Error is an answer: the evil file was met.
  template <class Work>
  void race(const std::string& object, Work work) {
    int done = 0;
    const Swapper swapper(object, path("evil"));
    for (const auto end = std::chrono::steady_clock::now() + kFor; std::chrono::steady_clock::now() < end || done == 0;) {
      try {
        done += work();
      } catch (const Error&) {}
      if (testing::Test::HasFailure() || std::chrono::steady_clock::now() > end + std::chrono::seconds(20)) break;
    }
    EXPECT_GT(done, 0) << "the good file was never met";
  }

  std::string top_, dir_;
  std::unique_ptr<SystemFiles> files_;
  store::SimFiles nothing_;
  FolderFetcher fetcher_{nothing_, "repo"};
  SetClock clock_;
  SetMachine machine_;
  SetProber prober_;
};

TEST_F(SwapTest, ApplicationsRunTheBytesThatWereHashed) {
  make_agent().provision(path("good"));
  const std::string object = model_dir() + "/objects/" + to_hex(make_agent().record("kws").known_good.digest);
  race(object, [&] {
    Active a(*files_, clock_, dir_, "kws");
    EXPECT_EQ(a.program(), "good");
    return a.program() == "good" ? 1 : 0;
  });
}

TEST_F(SwapTest, TheFactoryModelIsStoredAsItWasVerified) {
  race(path("good"), [&] {
    fs::remove_all(dir_ + "/models");
    agent::Agent a = make_agent();
    a.provision(path("good"));
    // Either file is a package; whichever it was, name, digest and bytes belong together.
    const store::Model model = a.record("kws").known_good;
    const std::string bytes = *read_file(*files_, model_dir() + "/objects/" + to_hex(model.digest), 1 << 20);
    EXPECT_EQ(digest(bytes), model.digest);
    EXPECT_EQ(bytes.size(), model.bytes);
    return 1;
  });
}

// What the probe looks at is what the store hashed: its child gets the file, not the name.
TEST_F(SwapTest, TheProbeReadsTheBytesThatWereHashed) {
  if (agent::sanitized()) GTEST_SKIP() << "the address sanitizer needs more than the sandbox gives";
  const store::Model model{digest(*read_file(*files_, path("good"), 1 << 20)), fs::file_size(path("good")), 0, "1.0.0", ""};
  fs::create_directories(model_dir() + "/objects");
  store::Objects objects(*files_, model_dir());
  fs::copy_file(path("good"), objects.path(model.digest));
  package::Variant variant;
  variant.file = "good.mote";  // the evil one has no such file
  alignas(16) const char program[] = "good";
  const std::string expected = agent::run_golden(program, 4, 0, 0).failure;
  agent::SandboxProber prober({"fleet_test", "--probe"}, 20);
  for (const bool shared : {false, true}) {
    // Where others may write the file its bytes are a copy.
    for (const std::string& file : {objects.path(model.digest), path("evil")}) fs::permissions(file, fs::perms(shared ? 0664 : 0644));
    race(objects.path(model.digest), [&] {
      const std::optional<Mapping> object = objects.open(model);
      if (!object) return 0;
      EXPECT_EQ(object->file < 0, shared);
      EXPECT_EQ(prober.probe(*object, variant).failure, expected);
      const package::Mapped package(*object, "x");
      EXPECT_EQ(package.file(package.header(), "good.mote"), "good");
      return 1;
    });
  }
}

// The evil package's gate asks for nothing: it must not decide about the good one.
TEST_F(SwapTest, TheGateIsTheOneThatWasHashed) {
  const store::Model model{digest(*read_file(*files_, path("good"), 1 << 20)), fs::file_size(path("good")), 0, "1.0.0", ""};
  fs::create_directories(model_dir() + "/objects");
  fs::create_directories(agent::app_dir(model_dir()));
  store::Objects objects(*files_, model_dir());
  fs::copy_file(path("good"), objects.path(model.digest));
  store::Record record;
  record.state = State::kTrial;
  record.candidate = model;
  agent::Observations seen;
  seen.digest = model.digest;
  seen.starts = 1;
  seen.golden = agent::Golden::kApplication;  // enough for the evil gate, not for the good one
  seen.runs = 0;
  agent::write_observations(*files_, model_dir(), seen);
  race(objects.path(model.digest), [&] {
    std::string why;
    EXPECT_EQ(agent::judge_trial(*files_, model_dir(), record, &why), store::Health::kUndecided) << why;
    return 1;
  });
}

}  // namespace
}  // namespace mote::fleet::app
