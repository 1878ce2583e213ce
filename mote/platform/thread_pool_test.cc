#include "mote/platform/thread_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace mote {
namespace {

struct Tally {
  explicit Tally(uint32_t n) : calls(n) {}
  std::vector<std::atomic<uint32_t>> calls;
  std::atomic<uint32_t> highest_thread{0};
  static void body(void* self, uint32_t i, uint32_t thread) {
    Tally& t = *static_cast<Tally*>(self);
    t.calls[i].fetch_add(1);
    uint32_t seen = t.highest_thread.load();
    while (thread > seen && !t.highest_thread.compare_exchange_weak(seen, thread)) {}
  }
};

void run(const Threads& threads, Tally& tally) {
  threads.parallel_for(threads.self, static_cast<uint32_t>(tally.calls.size()), &Tally::body, &tally);
}

TEST(ThreadPool, EveryIndexIsCalledOnce) {
  for (uint32_t count : {1u, 2u, 3u, 8u}) {
    ThreadPool pool;
    ASSERT_TRUE(pool.start(count));
    EXPECT_EQ(pool.threads().count, count);
    for (uint32_t n : {0u, 1u, 2u, 7u, 100u, 5000u}) {
      Tally tally(n);
      run(pool.threads(), tally);
      for (const auto& calls : tally.calls) ASSERT_EQ(calls.load(), 1u);
      EXPECT_LT(tally.highest_thread.load(), count);
    }
  }
}

// Jobs right after one another, and after the workers have gone to sleep.
TEST(ThreadPool, ManyJobs) {
  ThreadPool pool;
  ASSERT_TRUE(pool.start(4));
  for (int i = 0; i < 3000; ++i) {
    Tally tally(5);
    run(pool.threads(), tally);
    for (const auto& calls : tally.calls) ASSERT_EQ(calls.load(), 1u) << i;
    if (i % 1000 == 999) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST(ThreadPool, WorkersHelp) {
  ThreadPool pool;
  ASSERT_TRUE(pool.start(2));
  // Each waits for the other: a single thread would never get past the first.
  struct Meeting {
    std::atomic<int> there{0};
  } meeting;
  pool.threads().parallel_for(
      pool.threads().self, 2,
      [](void* m, uint32_t, uint32_t) {
        auto& there = static_cast<Meeting*>(m)->there;
        there.fetch_add(1);
        while (there.load() < 2) yield_processor();
      },
      &meeting);
  EXPECT_EQ(meeting.there.load(), 2);
}

TEST(ThreadPool, StopsAndStartsAgain) {
  ThreadPool pool;
  EXPECT_FALSE(pool.start(0));
  EXPECT_FALSE(pool.start(ThreadPool::kMaxThreads + 1));
  for (uint32_t count : {3u, 1u, 2u}) {
    ASSERT_TRUE(pool.start(count));
    Tally tally(50);
    run(pool.threads(), tally);
    for (const auto& calls : tally.calls) ASSERT_EQ(calls.load(), 1u);
  }
}

}  // namespace
}  // namespace mote
