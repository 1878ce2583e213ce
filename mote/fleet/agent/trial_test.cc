// What is written down of a trial is read again, whatever bytes an application or a model put in.

#include "mote/fleet/agent/trial.h"

#include <gtest/gtest.h>

#include <random>

#include "mote/fleet/agent/history.h"
#include "mote/fleet/agent/probe.h"
#include "mote/fleet/base/json.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/store/testing/sim_files.h"
#include "mote/fleet/testing/world.h"

namespace mote::fleet::agent {
namespace {

constexpr const char* kModelDir = "device/models/kws";

std::string any_bytes(std::mt19937& chance, size_t most) {
  std::string out(chance() % (most + 1), '\0');
  for (char& c : out) c = static_cast<char>(chance() % 4 == 0 ? chance() % 32 : chance());
  return out;
}

TEST(Observations, AFailureWithALineBreakIsNotLost) {
  store::SimFiles files;
  Observations seen;
  seen.digest = std::string(32, 'd');
  seen.starts = 1;
  seen.golden = Golden::kPassed;
  seen.failure = "too loud\nat night\x1b[2J";
  write_observations(files, kModelDir, seen);
  const auto back = read_observations(files, kModelDir, seen.digest);
  ASSERT_TRUE(back);
  std::string why;
  EXPECT_EQ(judge({}, *back, true, &why), store::Health::kBad);
  EXPECT_EQ(why, "too loud?at night?[2J");
}

TEST(Observations, AnyBytesAndNumbersComeBack) {
  store::SimFiles files;
  std::mt19937 chance(9);
  for (int i = 0; i < 20'000; ++i) {
    Observations seen;
    seen.digest = std::string(32, static_cast<char>(i));
    seen.failure = "x" + any_bytes(chance, 300);
    seen.waits = any_bytes(chance, 300);
    seen.boot = any_bytes(chance, 40);
    seen.p99_us = chance() % 2 == 0 ? UINT64_MAX : chance();
    seen.starts = seen.ram_bytes = UINT64_MAX - chance();
    write_observations(files, kModelDir, seen);
    const auto back = read_observations(files, kModelDir, seen.digest);
    ASSERT_TRUE(back) << i << " " << to_hex(seen.failure);
    ASSERT_FALSE(back->failure.empty());
    ASSERT_EQ(back->failure, printable(back->failure));
  }
}

// Any byte that is not what was written, and any end of the file before its end, is a failure: it may have told of one.
TEST(Observations, WhateverIsDamagedCountsAsAFailure) {
  store::SimFiles files;
  Observations seen;
  seen.digest = std::string(32, 'd');
  seen.starts = 2;
  seen.crashes = 1;
  seen.golden = Golden::kPassed;
  write_observations(files, kModelDir, seen);
  const std::string path = observations_path(kModelDir, seen.digest), whole = *read_file(files, path, 1 << 20);
  const auto is_bad = [&](const std::string& bytes) {
    replace_file(files, path, bytes);
    const auto back = read_observations(files, kModelDir, seen.digest);
    std::string why;
    return back && back->digest == seen.digest && judge({}, *back, true, &why) == store::Health::kBad;
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ 1 << bit);
      EXPECT_TRUE(is_bad(bytes)) << i << " " << bit;
    }
    EXPECT_TRUE(is_bad(whole.substr(0, i))) << i;
  }
  EXPECT_TRUE(is_bad(std::string(1 << 20, 'x')));  // more than is ever read
  replace_file(files, path, whole);
  EXPECT_EQ(read_observations(files, kModelDir, seen.digest)->failure, "");
  // A file of another trial under this one's name.
  const std::string other(32, 'e');
  files.rename(path, observations_path(kModelDir, other));
  EXPECT_NE(read_observations(files, kModelDir, other)->failure, "");
  EXPECT_FALSE(read_observations(files, kModelDir, seen.digest));
}

TEST(Observations, OneTrialDoesNotTouchAnothers) {
  store::SimFiles files;
  Observations old, now;
  old.digest = std::string(32, 'a');
  now.digest = std::string(32, 'b');
  now.crashes = 3;
  write_observations(files, kModelDir, now);
  write_observations(files, kModelDir, old);  // a process that still has the model of an earlier trial, closing it
  EXPECT_EQ(read_observations(files, kModelDir, now.digest)->crashes, 3u);
  remove_other_observations(files, kModelDir, now.digest);
  EXPECT_TRUE(read_observations(files, kModelDir, now.digest));
  EXPECT_FALSE(read_observations(files, kModelDir, old.digest));
  remove_other_observations(files, kModelDir, "");
  EXPECT_TRUE(files.list(app_dir(kModelDir)).empty());
}

TEST(Probe, AnAnswerThatIsNoReportSpeaksAgainstThePackage) {
  std::mt19937 chance(3);
  for (int i = 0; i < 20'000; ++i) {
    const GoldenReport r = read_report(any_bytes(chance, 200));
    ASSERT_NE(r.code, MOTE_OK);
    ASSERT_FALSE(r.failure.empty());
  }
  const GoldenReport good = read_report(R"({"code":0,"failure":"","op":"","opened":true,"outputs":3,"p99_us":7,"ram_bytes":9})");
  EXPECT_EQ(good.code, MOTE_OK);
  EXPECT_EQ(good.outputs, 3u);
  // A failure without a reason would read like success.
  EXPECT_FALSE(read_report(R"({"code":2,"failure":"","op":"","opened":false,"outputs":0,"p99_us":0,"ram_bytes":0})").failure.empty());
}

TEST(History, ReasonsOfAnyBytesAreWholeLines) {
  store::SimFiles files;
  SetClock clock;
  std::mt19937 chance(5);
  for (int i = 0; i < 200; ++i) {
    store::Record r;
    r.candidate.digest = std::string(32, 'c');
    r.candidate.version = "1.0.0";
    r.reason = any_bytes(chance, 63);
    append_history(files, clock, kModelDir, r);
  }
  const std::vector<std::string> lines = read_history(files, kModelDir);
  ASSERT_EQ(lines.size(), 200u);
  for (const std::string& line : lines) EXPECT_NO_THROW((void)Json::parse(line)) << line;
}

// A line "1" is JSON, and no entry: `fleet history` ended with it.
TEST(History, LinesThatAreNoEntriesAreLeftOut) {
  store::SimFiles files;
  SetClock clock;
  append_history(files, clock, kModelDir, {});
  const std::string path = std::string(kModelDir) + "/history.log";
  for (const char* line : {"1\n", "{}\n", "[]\n", "null\n", "{\"reason\":1,\"state\":\"\",\"time\":\"\",\"version\":\"\"}\n", "torn"})
    files.write(path, *files.size(path), line);
  EXPECT_EQ(read_history(files, kModelDir).size(), 1u);
}

}  // namespace
}  // namespace mote::fleet::agent
