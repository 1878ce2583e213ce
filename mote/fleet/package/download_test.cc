#include "mote/fleet/package/download.h"

#include <gtest/gtest.h>

#include <random>

#include "mote/fleet/base/error.h"
#include "mote/fleet/store/testing/sim_files.h"

namespace mote::fleet::package {
namespace {

struct Killed {};

class CountingClock : public Clock {
 public:
  int64_t now() override { return 0; }
  int64_t monotonic_ms() override { return 0; }
  void sleep_ms(int64_t ms) override { slept += ms; }
  int64_t slept = 0;
};

// A server that breaks off, has no ranges, or sends something else.
class RoughServer : public Fetcher {
 public:
  FetchReply get(const FetchRequest& request, const Sink& sink) override {
    FetchReply reply;
    reply.offset = ranges ? request.offset : 0;
    reply.etag = etag;
    if (!request.if_etag.empty() && request.if_etag != etag) reply.offset = 0;
    if (refuses) throw Error("connection refused");
    sink.begin(reply);
    for (uint64_t at = reply.offset; at < content.size();) {
      const uint64_t size = std::min<uint64_t>({16384, content.size() - at, left});
      sink.data(std::string_view(content).substr(at, size));
      at += size;
      left -= size;
      sent += size;
      if (left > 0 || at == content.size()) continue;
      left = cuts_once ? UINT64_MAX : 1 + dice() % (3 * kChunkBytes);
      ++cuts;
      if (kills) throw Killed();
      throw Error("the connection was closed");
    }
    return reply;
  }
  std::string content, etag = "\"1\"";
  bool ranges = true, kills = false, refuses = false, cuts_once = false;
  uint64_t left = UINT64_MAX;  // bytes until the next cut
  uint64_t sent = 0;
  int cuts = 0;
  std::mt19937 dice{7};
};

class DownloadTest : public testing::Test {
 protected:
  void make(uint64_t bytes) {
    std::string model;
    for (uint64_t i = 0; i < bytes; ++i) model += static_cast<char>(i * 2654435761u >> 23);
    files.create("m.mote");
    files.write("m.mote", 0, model);
    Manifest m;
    m.id = "m";
    m.version = m.runtime_min = "1.0.0";
    m.variants = {{"m.mote", {}}};
    create(files, m, {{"m.mote", "m.mote"}}, "p.mpkg");
    server.content = files.read("p.mpkg", 0, 1 << 30);
    request.url = "u";
    request.bytes = server.content.size();
    request.header_sha256 = read_header(files, "p.mpkg").sha256;
  }
  DownloadReport fetch() { return download(server, files, clock, request, "got"); }
  std::string got() { return files.read("got", 0, 1 << 30); }

  store::SimFiles files;
  CountingClock clock;
  RoughServer server;
  DownloadRequest request;
};

TEST_F(DownloadTest, BringsThePackage) {
  make(3'500'000);
  const DownloadReport r = fetch();
  EXPECT_EQ(got(), server.content);
  EXPECT_EQ(r.fetched_bytes, request.bytes);
  EXPECT_EQ(fetch().fetched_bytes, 0u);  // it is there
}

// The process is killed, or the connection breaks, a thousand times: each costs at most the chunk that was under way.
TEST_F(DownloadTest, AThousandCutsCostAtMostAChunkEach) {
  make(12'000'000);
  request.idle_attempts = 1000;
  int total = 0;
  for (int run = 0; total < 1000; ++run) {
    files.create("got");
    server.kills = run % 2 == 0;
    server.left = 1;
    server.cuts = 0;
    server.sent = 0;
    for (bool over = false; !over;) {
      try {
        fetch();
        over = true;
      } catch (const Killed&) {}
    }
    total += server.cuts;
    ASSERT_EQ(got(), server.content);
    ASSERT_LE(server.sent, request.bytes + static_cast<uint64_t>(server.cuts) * kChunkBytes);
  }
}

TEST_F(DownloadTest, AServerWithoutRangesServesToo) {
  make(3'000'000);
  server.ranges = false;
  server.cuts_once = true;
  server.left = 2'000'000;
  const DownloadReport r = fetch();
  EXPECT_EQ(got(), server.content);
  EXPECT_EQ(r.attempts, 2);
}

TEST_F(DownloadTest, OtherContentIsNeverWritten) {
  make(3'000'000);
  const std::string good = server.content;
  for (const size_t at : {size_t{0}, size_t{9}, size_t{100}, size_t{5000}, size_t{2'000'000}, good.size() - 1}) {
    server.content = good;
    server.content[at] = static_cast<char>(server.content[at] ^ 1);
    EXPECT_THROW(fetch(), Error) << at;
    EXPECT_EQ(got(), good.substr(0, got().size())) << at;  // what is there is right
  }
  for (const std::string& other : {good + "x", good.substr(0, good.size() - 1), std::string("x"), std::string()}) {
    files.remove("got");
    server.content = other;
    EXPECT_THROW(fetch(), Error) << other.size();
    EXPECT_EQ(got(), good.substr(0, got().size()));
  }
  server.content = good;
  fetch();
  EXPECT_EQ(got(), good);
}

TEST_F(DownloadTest, ContentThatChangesMidwayIsNotMixed) {
  make(3'000'000);
  const std::string good = server.content;
  server.left = 2'000'000;
  server.kills = true;
  EXPECT_THROW(fetch(), Killed);
  server.kills = false;
  server.content.replace(2'500'000, 4, "evil");
  server.etag = "\"2\"";
  server.left = UINT64_MAX;
  EXPECT_THROW(fetch(), Error);
  EXPECT_EQ(got(), good.substr(0, got().size()));
}

TEST_F(DownloadTest, WhatIsOnTheMediumIsLookedAtAgain) {
  make(3'000'000);
  fetch();
  files.damage("got", 1'500'000);
  files = files.after_cut(store::Loss::kNothing, 0);
  EXPECT_LT(fetch().fetched_bytes, 2'200'000u);
  EXPECT_EQ(got(), server.content);
  files.create("got");
  files.write("got", 0, std::string(9'000'000, 'x'));  // something else, and longer
  fetch();
  EXPECT_EQ(got(), server.content);
}

TEST_F(DownloadTest, GivesUpWhenNothingComes) {
  make(100'000);
  server.refuses = true;
  EXPECT_THROW(fetch(), Error);
  EXPECT_GT(clock.slept, 0);
  server.refuses = false;
  fetch();
  EXPECT_EQ(got(), server.content);
}

}  // namespace
}  // namespace mote::fleet::package
