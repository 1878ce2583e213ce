#include "mote/compiler/placement/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace mote::placement {
namespace {

// A chain: node i reads value i and writes value i + 1; the last value is the result.
struct Chain {
  std::vector<SplitNode> nodes;
  std::vector<SplitValue> values{{100, 1}};

  Chain& add(double cpu, double device, uint64_t bytes = 100) {
    const int n = static_cast<int>(nodes.size());
    nodes.push_back({{cpu, device}, {n}, {n + 1}});
    values.push_back({bytes, 1});
    return *this;
  }
};

const std::vector<SplitPlace> kPlaces = {{}, {1, 10, 0.1}};

std::vector<int> places_of(const SplitResult& r) {
  std::vector<int> out;
  for (const SplitPiece& p : r.pieces) out.insert(out.end(), p.count, p.place);
  return out;
}

// What a choice of places costs, counted from scratch.
double cost_of(const Chain& c, const std::vector<int>& choice, const std::vector<SplitPlace>& places) {
  double ns = 0;
  for (size_t i = 0; i < choice.size();) {
    size_t end = i;
    while (end < choice.size() && choice[end] == choice[i]) ++end;
    const SplitPlace& p = places[static_cast<size_t>(choice[i])];
    for (size_t k = i; k < end; ++k) ns += c.nodes[k].ns[static_cast<size_t>(choice[k])] + p.launch_ns;
    ns += p.sync_ns + static_cast<double>(c.values[i].bytes + c.values[end].bytes) * p.byte_ns;
    i = end;
  }
  return ns;
}

TEST(Split, StaysOnTheCpuWhenTransfersCostMore) {
  const Chain c = Chain().add(5, 1).add(5, 1);
  const SplitResult r = split(c.nodes, c.values, kPlaces);
  EXPECT_EQ(places_of(r), (std::vector<int>{0, 0}));
  EXPECT_EQ(r.ns, 10);
  EXPECT_EQ(r.transfer_bytes, 0u);
}

TEST(Split, LeavesTheCpuForWorkThatPays) {
  const Chain c = Chain().add(5, 1).add(500, 5).add(500, 5).add(5, -1);
  const SplitResult r = split(c.nodes, c.values, kPlaces);
  EXPECT_EQ(places_of(r), (std::vector<int>{1, 1, 1, 0}));
  EXPECT_EQ(r.transfer_bytes, 200u);
  EXPECT_LE(r.ns, r.cpu_ns);
}

TEST(Split, FindsTheBestOfAllChoicesOfChains) {
  uint32_t seed = 1;
  const auto dice = [&](uint32_t n) { return (seed = seed * 1664525u + 1013904223u) >> 8 & 0xffff ? (seed >> 10) % n : 0u; };
  for (int round = 0; round < 200; ++round) {
    Chain c;
    for (int i = 0; i < 8; ++i) c.add(1 + dice(60), dice(5) == 0 ? -1 : dice(30), 1 + dice(300));
    double best = 1e30;
    for (int choice = 0; choice < 256; ++choice) {
      std::vector<int> places;
      bool possible = true;
      for (int i = 0; i < 8; ++i) {
        places.push_back(choice >> i & 1);
        possible = possible && c.nodes[static_cast<size_t>(i)].ns[static_cast<size_t>(places.back())] >= 0;
      }
      if (possible) best = std::min(best, cost_of(c, places, kPlaces));
    }
    const SplitResult r = split(c.nodes, c.values, kPlaces);
    ASSERT_TRUE(r.possible);
    EXPECT_NEAR(r.ns, best, 1e-9);
    EXPECT_NEAR(cost_of(c, places_of(r), kPlaces), r.ns, 1e-9);
    EXPECT_LE(r.ns, r.cpu_ns + 1e-9);
  }
}

// One value read by two branches goes to the device once; the branches' results come back once each.
TEST(Split, CountsAValueOfABranchedGraphOnce) {
  std::vector<SplitNode> nodes = {{{100, 1}, {0}, {1}}, {{100, 1}, {1}, {2}}, {{100, 1}, {1}, {3}}, {{100, 1}, {2, 3}, {4}}};
  std::vector<SplitValue> values = {{1000, 1}, {500, 2}, {10, 1}, {20, 1}, {30, 1}};
  const SplitResult r = split(nodes, values, kPlaces);
  ASSERT_EQ(r.pieces.size(), 1u);
  EXPECT_EQ(r.pieces[0].bytes_in, 1000u);
  EXPECT_EQ(r.pieces[0].bytes_out, 30u);
  EXPECT_NEAR(r.ns, 4 * 2 + 10 + 103.0, 1e-9);
}

TEST(Split, ChoosesAmongSeveralDevices) {
  const std::vector<SplitPlace> places = {{}, {1, 10, 0.1}, {0, 0, 0.01}};
  std::vector<SplitNode> nodes = {{{900, 10, 400}, {0}, {1}}, {{900, -1, 5}, {1}, {2}}};
  const std::vector<SplitValue> values = {{100, 1}, {100, 1}, {100, 1}};
  EXPECT_EQ(places_of(split(nodes, values, places)), (std::vector<int>{1, 2}));
}

TEST(Split, KeepsToLimits) {
  // Alternating nodes: without limits five pieces.
  const Chain c = Chain().add(500, 1).add(1, -1).add(500, 1).add(1, -1).add(500, 1);
  EXPECT_EQ(split(c.nodes, c.values, kPlaces).pieces.size(), 5u);
  SplitLimits limits;
  limits.pieces = 3;
  const SplitResult three = split(c.nodes, c.values, kPlaces, limits);
  EXPECT_EQ(three.pieces.size(), 3u);
  limits.pieces = 0;
  limits.transfer_bytes = 250;
  const SplitResult few = split(c.nodes, c.values, kPlaces, limits);
  ASSERT_TRUE(few.possible);
  EXPECT_LE(few.transfer_bytes, 250u);
  limits.transfer_bytes = 0;
  EXPECT_EQ(split(c.nodes, c.values, kPlaces, limits).pieces.size(), 1u);
}

TEST(Split, SaysWhenNothingIsPossible) {
  const Chain c = Chain().add(-1, -1);
  EXPECT_FALSE(split(c.nodes, c.values, kPlaces).possible);
}

}  // namespace
}  // namespace mote::placement
