// Strips as a measured choice: the target decides.

#include "mote/compiler/schedule/plan_cost.h"

#include "mote/compiler/schedule/testing/conv_net.h"
#include "mote/compiler/schedule/testing/run_graph.h"

namespace mote::schedtest {
namespace {

using schedule::Plan;
using schedule::PlanCost;
using schedule::PlanOptions;
using schedule::Strips;

target::Target with_caches(uint64_t l1, uint64_t l2, uint64_t l3) {
  target::Target t = *target::named("generic");
  t.cache_bytes = {l1, l2, l3};
  return t;
}

Plan plan_of(const Graph& g, Strips strips, const target::Target* target) {
  PlanOptions o;
  o.strips = strips;
  o.target = target;
  Plan plan;
  std::string error;
  EXPECT_TRUE(schedule::make_plan(g, o, &plan, &error)) << error;
  return plan;
}

size_t strip_count(const Plan& p) {
  return static_cast<size_t>(
      std::count_if(p.steps.begin(), p.steps.end(), [](const schedule::Step& s) { return s.is(ControlOp::kStrip); }));
}

TEST(PlanCost, SmallCachesWantStripsLargeOnesDoNot) {
  Graph g;
  make_mobilenet(g, 224, 16);
  const target::Target small = with_caches(16 << 10, 512 << 10, 0), huge = with_caches(16 << 20, 64 << 20, 256 << 20);
  const Plan whole = plan_of(g, Strips::kOff, nullptr), tiled = plan_of(g, Strips::kAuto, &small), same = plan_of(g, Strips::kAuto, &huge);
  EXPECT_EQ(strip_count(whole), 0u);
  EXPECT_GT(strip_count(tiled), 0u);
  EXPECT_EQ(strip_count(same), 0u) << "nothing comes faster, and each trip costs a call";
  EXPECT_LT(tiled.peak() * 2, whole.peak());
  for (const uint32_t threads : {1u, 4u})
    EXPECT_LE(PlanCost(small, threads).run_ns(tiled), PlanCost(small, threads).run_ns(whole)) << threads << " threads";
}

TEST(PlanCost, TheGenericTargetHalvesAMobilenet) {
  Graph g;
  make_mobilenet(g, 224, 16);
  EXPECT_LE(plan_of(g, Strips::kAuto, nullptr).peak() * 2, plan_of(g, Strips::kOff, nullptr).peak());
}

TEST(PlanCost, TheLeastMemoryIsNoMoreThanAutoTakes) {
  Graph g;
  make_mobilenet(g, 112, 8);
  const target::Target small = with_caches(16 << 10, 128 << 10, 0);
  const Plan automatic = plan_of(g, Strips::kAuto, &small), least = plan_of(g, Strips::kMinMemory, &small);
  EXPECT_LT(least.peak(), plan_of(g, Strips::kOff, nullptr).peak());
  EXPECT_LE(least.peak(), automatic.peak() + automatic.peak() / 20);
}

TEST(PlanCost, ShortStripsKeepThreadsIdle) {
  Graph g;
  make_mobilenet(g, 224, 16);
  const target::Target t = with_caches(16 << 10, 512 << 10, 0);
  const Plan whole = plan_of(g, Strips::kOff, nullptr), least = plan_of(g, Strips::kMinMemory, &t);
  const auto gain = [&](const Plan& p) { return PlanCost(t, 1).run_ns(p) / PlanCost(t, 4).run_ns(p); };
  EXPECT_GT(gain(whole), 2);
  EXPECT_LT(gain(least), gain(whole));
}

TEST(PlanCost, AutomaticStripsGiveTheSameBits) {
  const target::Target small = with_caches(4 << 10, 16 << 10, 0);
  for (const int32_t size : {64, 97}) {
    Graph g;
    make_mobilenet(g, size, 8);
    PlanOptions o;
    o.strips = Strips::kAuto;
    o.target = &small;
    const auto count = static_cast<size_t>(g.methods[0].block->arguments[0]->type.count());
    std::vector<float> in(count);
    for (size_t i = 0; i < count; ++i) in[i] = static_cast<float>(i % 17) - 8;
    EXPECT_EQ(run(g, {bytes_of(in)}, {}, o), run(g, {bytes_of(in)})) << size;
  }
}

}  // namespace
}  // namespace mote::schedtest
