// Strips: the same bits, less memory.

#include "mote/compiler/schedule/strips.h"
#include "mote/compiler/assemble/lower.h"

#include <cstring>
#include <random>

#include "mote/compiler/schedule/testing/conv_net.h"
#include "mote/compiler/schedule/testing/run_graph.h"
#include "mote/compiler/schedule/verify_plan.h"

namespace mote::schedtest {
namespace {

Buffers input_for(const Graph& g, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> in(static_cast<size_t>(g.methods[0].block->arguments[0]->type.count()));
  for (float& v : in) v = (static_cast<float>(random() % 1000) - 500) / 250;
  return {bytes_of(in)};
}

schedule::PlanOptions least_memory() {
  schedule::PlanOptions o;
  o.strips = schedule::Strips::kMinMemory;
  return o;
}
schedule::PlanOptions overlapping() {
  schedule::PlanOptions o;
  o.overlap_rows = true;
  o.alignment = 16;
  return o;
}

// Runs with and without strips; returns the peaks.
std::pair<uint64_t, uint64_t> compare(const Graph& g, const char* what, const schedule::PlanOptions& strips = least_memory()) {
  const auto whole = load(g), tiled = load(g, strips);
  EXPECT_TRUE(whole != nullptr && tiled != nullptr) << what;
  if (whole == nullptr || tiled == nullptr) return {0, 0};
  const Buffers in = input_for(g, 5);
  for (int again = 0; again < 2; ++again) EXPECT_EQ(run(whole.get(), 0, in), run(tiled.get(), 0, in)) << what;
  return {whole->program.table().banks[0].size, tiled->program.table().banks[0].size};
}

TEST(Strips, AMobilenetNeedsAFractionOfItsMemory) {
  Graph g;
  make_mobilenet(g, 32, 8);
  const auto [whole, tiled] = compare(g, "mobilenet");
  EXPECT_LT(tiled * 2, whole) << whole << " -> " << tiled;
}

TEST(Strips, RandomNetsGiveTheSameBits) {
  int smaller = 0, overlapped = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Graph g;
    ConvNet n(g, seed);
    std::mt19937 random(seed);
    Value* x = n.input(static_cast<int32_t>(9 + random() % 12), 3);
    std::vector<Value*> values = {n.conv(x, 4, 3, 1)};
    for (int i = 0; i < 8; ++i) {
      Value* v = values[values.size() - 1 - random() % std::min<size_t>(values.size(), 2)];
      if (v->type.dims[1] < 4) break;
      switch (random() % 6) {
        case 0: values.push_back(n.conv(v, static_cast<int32_t>(2 + random() % 4), 3, static_cast<int32_t>(1 + random() % 2))); break;
        case 1: values.push_back(n.conv(v, 0, 5, 1, true)); break;
        case 2: values.push_back(n.pool(v, 3, 2, 1)); break;
        case 3: values.push_back(n.pool(v, 2, 2, 0)); break;
        case 4: values.push_back(n.op(OpId::relu, {v})); break;
        default: values.push_back(n.inverted(v, 3, v->type.dims[3], 1)); break;
      }
    }
    n.output(n.op(OpId::reduce_max, {values.back()}));
    const auto [whole, tiled] = compare(g, ("seed " + std::to_string(seed)).c_str());
    smaller += tiled < whole;
    const auto [apart, over] = compare(g, ("rows over rows, seed " + std::to_string(seed)).c_str(), overlapping());
    overlapped += over < apart;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GE(smaller, 20);
  EXPECT_GE(overlapped, 20);
}

// Two convolutions of the same size: the second lies on what it is computed from, but for the rows of a trip and one more.
void two_alike(Graph& g) {
  ConvNet n(g, 3);
  Value* x = n.conv(n.input(32, 3), 8, 3, 1);
  n.output(n.op(OpId::reduce_mean, {n.conv(x, 8, 3, 1)}));
}

TEST(Strips, RowsLieOnRowsThatAreReadNoMore) {
  Graph g;
  two_alike(g);
  const uint64_t row = 32 * 8 * 4;
  schedule::PlanOptions o = overlapping();
  schedule::Plan plan;
  std::string error;
  ASSERT_TRUE(schedule::make_plan(g, o, &plan, &error)) << error;
  EXPECT_EQ(plan.peak(), 32 * row + 9 * row) << "four trips of eight rows";
  o.strip_ram = 35 * row;
  ASSERT_TRUE(schedule::make_plan(g, o, &plan, &error)) << error;
  EXPECT_LE(plan.peak(), o.strip_ram);
  compare(g, "goal", o);
}

TEST(Strips, OnlyThereMayAConvolutionLieOnItsInput) {
  Graph g;
  two_alike(g);
  schedule::Plan plan;
  emit::ProgramRecords records;
  emit::FileBytes file;
  std::string error;
  ASSERT_TRUE(schedule::make_plan(g, overlapping(), &plan, &error) && assemble::lower(plan, {}, &records, &error)) << error;
  EXPECT_TRUE(emit::write_program(records, {}, emit::builtin_registry(), &file, &error)) << error;
  for (const Instruction& n : records.instructions) {
    if (n.op != static_cast<uint16_t>(ControlOp::kStrip)) continue;
    StripAttrs a;
    std::memcpy(&a, records.attrs.data() + n.attrs, sizeof a);
    a.body_count = 0;
    std::memcpy(records.attrs.data() + n.attrs, &a, sizeof a);
  }
  EXPECT_FALSE(emit::write_program(records, {}, emit::builtin_registry(), &file, &error));
  EXPECT_NE(error.find("overlap"), std::string::npos) << error;
}

// A pool that skips rows reads fewer of a trip than threads write at once.
TEST(Strips, ARingHoldsAllRowsOfATrip) {
  Graph g;
  ConvNet n(g, 2);
  n.output(n.pool(n.conv(n.input(12, 3), 16, 5, 1), 1, 2, 0));
  schedule::Plan plan;
  std::string error;
  ASSERT_TRUE(schedule::make_plan(g, least_memory(), &plan, &error)) << error;
  int rings = 0;
  for (const schedule::Step& s : plan.steps) {
    if (s.is_control() || s.rows.rows == 0 || plan.tensor(s.outputs[0]).desc.ring_rows == 0) continue;
    EXPECT_GE(plan.tensor(s.outputs[0]).desc.ring_rows, s.rows.rows);
    for (schedule::Tensor& t : plan.tensors)
      if (t.desc.ring_rows != 0) --t.desc.ring_rows, ++rings;
    EXPECT_FALSE(schedule::verify_plan(plan, emit::builtin_registry(), &error)) << "fewer rows than a trip writes";
    EXPECT_NE(error.find("rows in a trip"), std::string::npos) << error;
  }
  EXPECT_EQ(rings, 1);
  compare(g, "pool that skips rows");
}

// The residual that ends at a convolution is what its windows read as well.
TEST(Strips, AConvolutionDoesNotLieOnAResidualThatItsWindowsRead) {
  for (int32_t size = 3; size < 12; ++size) {
    const bool depthwise = size % 2 != 0;
    Graph g;
    ConvNet n(g, 4);
    const auto turned = [&](Value* v) { return NodeBuilder(g, *g.methods[0].block, "turn").transpose(v, {0, 3, 1, 2}); };
    Value* x = turned(n.input(size, size));
    Value* y = n.conv(x, size, depthwise ? 3 : 1, 1, depthwise, x);
    for (Value* v : {n.pool(y, 3, 2, 1), y}) n.output(turned(v));
    const auto [whole, tiled] = compare(g, depthwise ? "depthwise" : "1x1");
    EXPECT_LE(tiled, whole);
  }
}

TEST(Strips, StopAtTheGoal) {
  Graph g;
  ConvNet n(g, 1);
  Value* x = n.conv(n.input(32, 3), 8, 3, 1);
  for (int i = 0; i < 3; ++i) x = n.conv(x, 8, 3, 1);
  n.output(n.op(OpId::reduce_mean, {x}));
  schedule::PlanOptions o;
  schedule::Plan whole, some, least;
  std::string error;
  ASSERT_TRUE(schedule::make_plan(g, o, &whole, &error)) << error;
  o.strips = schedule::Strips::kMinMemory;
  ASSERT_TRUE(schedule::make_plan(g, o, &least, &error)) << error;
  o.strip_ram = whole.peak() * 3 / 4;
  ASSERT_TRUE(schedule::make_plan(g, o, &some, &error)) << error;
  EXPECT_LE(some.peak(), o.strip_ram);
  EXPECT_GE(some.peak(), least.peak());
  EXPECT_LT(least.peak(), whole.peak() * 3 / 4);
}

}  // namespace
}  // namespace mote::schedtest
