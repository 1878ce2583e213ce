#include <gtest/gtest.h>

#include <random>

#include "mote/compiler/memory/assign_offsets.h"

namespace mote::memory {
namespace {

TEST(AssignOffsets, ChainsOfOverwrittenBuffersKeepTheirDistance) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    std::vector<BufferRequest> requests(2 + random() % 20);
    for (uint32_t i = 0; i < requests.size(); ++i) {
      requests[i].bytes = 1 + random() % 5000;
      requests[i].live.extend(i, i + 1);
      if (i == 0 || random() % 4 == 0) continue;
      requests[i].overwrites = static_cast<int32_t>(i) - 1;
      requests[i].distance = static_cast<int64_t>(random() % 3000) - 500;
    }
    const uint64_t end = assign_offsets(requests);
    EXPECT_GE(end, lower_bound(requests));
    for (size_t i = 1; i < requests.size(); ++i) {
      const BufferRequest &y = requests[i], &x = requests[i - 1];
      EXPECT_LE(y.offset + y.bytes, end);
      const bool apart = y.offset + y.bytes <= x.offset || x.offset + x.bytes <= y.offset;
      const bool in_front = y.overwrites >= 0 && static_cast<int64_t>(x.offset) - static_cast<int64_t>(y.offset) >= y.distance;
      EXPECT_TRUE(apart || in_front) << "round " << round << " request " << i;
    }
  }
}

TEST(AssignOffsets, LiveBuffersNeverOverlapAndThePeakIsTight) {
  int tight = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::vector<BufferRequest> requests(10 + seed * 2);
    for (BufferRequest& b : requests) {
      b.bytes = 16 * (1 + random() % 40) * (random() % 5 == 0 ? 20 : 1);
      const uint32_t first = random() % 60;
      b.live.extend(first, first + random() % 8);
    }
    const uint64_t end = assign_offsets(requests), bound = lower_bound(requests);
    for (const BufferRequest& a : requests) {
      EXPECT_EQ(a.offset % 16, 0u);
      EXPECT_LE(a.offset + a.bytes, end);
      for (const BufferRequest& b : requests) {
        const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
        EXPECT_TRUE(&a == &b || apart || !a.live.overlaps(b.live));
      }
    }
    EXPECT_GE(end, bound);
    tight += end * 100 <= bound * 105;
    std::vector<BufferRequest> again = requests;
    EXPECT_EQ(assign_offsets(again), end) << "deterministic";
  }
  EXPECT_GE(tight, 54);
}

TEST(LivenessScan, BuffersSharedWithALoopLiveThroughoutIt) {
  LivenessScan scan(4);
  scan.add_repeated_range(2, 8);
  scan.add_repeated_range(4, 6);
  scan.add_access(0, 1, false);
  scan.add_access(0, 3, true);  // made before the loop, used in it
  scan.add_access(1, 3, false);
  scan.add_access(1, 7, true);  // made and used in each trip; around the inner loop
  scan.add_access(2, 5, true);  // read before it is written: carried from trip to trip
  scan.add_access(3, 5, false);
  scan.add_access(3, 6, true);  // within one trip of the inner loop
  const std::vector<LiveRange> live = scan.live_ranges();
  EXPECT_EQ(live[0].first, 1u);
  EXPECT_EQ(live[0].last, 8u);
  EXPECT_EQ(live[1].first, 3u);
  EXPECT_EQ(live[1].last, 7u);
  EXPECT_EQ(live[2].first, 2u);
  EXPECT_EQ(live[2].last, 8u);
  EXPECT_EQ(live[3].first, 5u);
  EXPECT_EQ(live[3].last, 6u);
}

}  // namespace
}  // namespace mote::memory
