// Sharing memory changes nothing but memory: random graphs give the same bits with and without it.

#include <random>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/schedule/testing/random_graph.h"
#include "mote/compiler/schedule/testing/run_graph.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/split/split.h"

namespace mote::schedtest {
namespace {

using ir::Graph;
using ir::NodeBuilder;
using ir::Value;

schedule::PlanOptions plain_options() {
  schedule::PlanOptions o;
  o.reorder = o.in_place = o.views = false;
  return o;
}

schedule::Plan plan_of(const Graph& g, const schedule::PlanOptions& options = {}) {
  schedule::Plan plan;
  std::string error;
  EXPECT_TRUE(schedule::make_plan(g, options, &plan, &error)) << error;
  return plan;
}

size_t count_steps(const schedule::Plan& plan, OpId id) {
  return static_cast<size_t>(std::count_if(plan.steps.begin(), plan.steps.end(), [&](const schedule::Step& s) { return s.is(id); }));
}

TEST(Share, RandomGraphsGiveTheSameBits) {
  uint64_t before = 0, after = 0;
  int tight = 0;
  const uint32_t graphs = 300;
  for (uint32_t seed = 0; seed < graphs; ++seed) {
    Graph g;
    std::mt19937 random(seed);
    make_random_graph(g, random, 5 + seed % 25);
    Buffers inputs = random_inputs(random);
    const auto plain = load(g, plain_options()), shared = load(g);
    ASSERT_TRUE(plain != nullptr && shared != nullptr) << "seed " << seed;
    for (int again = 0; again < 2; ++again) ASSERT_EQ(run(plain.get(), 0, inputs), run(shared.get(), 0, inputs)) << "seed " << seed;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    before += plain->program.table().banks[0].size;
    after += shared->program.table().banks[0].size;
    const schedule::Plan plan = plan_of(g);
    EXPECT_GE(plan.peak(), plan.lower_bound);
    tight += plan.peak() * 100 <= plan.lower_bound * 105 + 1600;  // and a gap of 16 bytes for alignment
  }
  EXPECT_LT(after, before * 9 / 10);
  EXPECT_GE(tight * 10, static_cast<int>(graphs) * 9);
}

// Inputs and outputs in the arena, two small banks, and no order but the written one: the same bits again.
TEST(Share, RandomGraphsGiveTheSameBitsInOtherMemory) {
  for (uint32_t seed = 1000; seed < 1100; ++seed) {
    Graph g;
    std::mt19937 random(seed);
    make_random_graph(g, random, 5 + seed % 25);
    Buffers inputs = random_inputs(random);
    const auto plain = load(g, plain_options());
    const Buffers wanted = run(plain.get(), 0, inputs);
    schedule::PlanOptions o;
    o.reorder = seed % 2 == 0;
    o.banks.resize(2);
    o.banks[0].limit = 700;
    o.banks[1].name = "slow";
    const auto banks = load(g, o);
    ASSERT_EQ(run(banks.get(), 0, inputs), wanted) << "seed " << seed;
    EXPECT_LE(banks->program.table().banks[0].size, 700u);
    o.io_in_arena = true;
    const auto inside = load(g, o);
    ASSERT_NE(inside, nullptr) << "seed " << seed;
    for (uint32_t i = 0; i < inputs.size(); ++i) std::memcpy(inside->instance.input(0, i).data, inputs[i].data(), inputs[i].size());
    ASSERT_TRUE(inside->instance.run(0).ok()) << "seed " << seed;
    for (uint32_t i = 0; i < wanted.size(); ++i)
      ASSERT_EQ(std::memcmp(inside->instance.output(0, i).data, wanted[i].data(), wanted[i].size()), 0) << "seed " << seed;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(Share, ElementwiseChainsNeedOneBuffer) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {64});
  NodeBuilder b(g, *m.block, "n");
  Value* v = b.op(OpId::exp, {x});
  for (int i = 0; i < 4; ++i) v = b.op(OpId::add, {b.op(OpId::neg, {v}), x});
  Value* r = b.reshape(v, {8, 8});
  g.add_output(m, "y", b.op(OpId::reduce_sum, {r}));
  EXPECT_EQ(plan_of(g).peak(), 256u);
  EXPECT_EQ(count_steps(plan_of(g), OpId::reshape), 0u);
}

TEST(Share, OutputsServeAsBuffers) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {64});
  NodeBuilder b(g, *m.block, "n");
  g.add_output(m, "y", b.op(OpId::neg, {b.op(OpId::exp, {b.op(OpId::add, {x, x})})}));
  EXPECT_EQ(plan_of(g).peak(), 0u);
}

TEST(Share, ConcatPartsAreComputedInPlace) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {1, 4, 4, 3});
  NodeBuilder b(g, *m.block, "n");
  Value *p = b.op(OpId::exp, {x}), *q = b.op(OpId::neg, {x});
  Value* inner = b.op(OpId::concat, ops::concat::Attrs{3}, {p, q});
  Value* outer = b.op(OpId::concat, ops::concat::Attrs{3}, {b.op(OpId::add, {p, q}), inner, x});
  g.add_output(m, "y", b.op(OpId::reduce_sum, {outer}));
  const schedule::Plan plan = plan_of(g);
  EXPECT_EQ(plan.peak(), 16u * 12 * 4) << "the whole, and nothing beside it";
  EXPECT_EQ(count_steps(plan, OpId::concat), 0u);
  EXPECT_EQ(count_steps(plan, OpId::copy), 1u) << "the input is copied into its part";
}

// Parts of a concatenation that are views of another part, along every axis: a[from, to) behind a or before it, or reshaped.
TEST(Share, ConcatOfATensorAndAViewOfIt) {
  const Buffers in = {bytes_of(std::vector<float>(1 * 2 * 4 * 3, 0.5f))};
  for (int32_t axis = 0; axis < 4; ++axis)
    for (int32_t cut = 0; cut < 4; ++cut)
      for (int32_t from = 0; from < 4; ++from)
        for (int32_t to = from + 1; to <= 4; ++to)
          for (const bool first : {false, true}) {
            SCOPED_TRACE(std::to_string(axis) + " " + std::to_string(cut) + " " + std::to_string(from) + " " + std::to_string(to));
            Graph g;
            auto& m = g.add_method("main");
            Value* x = g.add_input(m, "x", DType::f32, {1, 2, 4, 3});
            NodeBuilder b(g, *m.block, "n");
            Value* a = b.op(OpId::exp, {x});
            if (to > a->type.dims[static_cast<size_t>(cut)] || (cut != axis && to - from != a->type.dims[static_cast<size_t>(cut)]))
              continue;
            ops::slice::Attrs slice;
            slice.count = 1;
            slice.starts[0] = from;
            slice.ends[0] = to;
            slice.axes[0] = cut;
            slice.steps[0] = 1;
            Value* tail = b.op(OpId::slice, slice, {a});
            Value* whole = b.op(OpId::concat, ops::concat::Attrs{axis}, {first ? tail : a, first ? a : tail});
            g.add_output(m, "y", b.op(OpId::neg, {b.op(OpId::exp, {whole})}));
            g.add_output(m, "sum", b.op(OpId::reduce_sum, {whole}));
            EXPECT_EQ(run(g, in), run(g, in, {}, plain_options()));
          }
}

TEST(Share, WhatIsPaddedIsComputedInsideThePadding) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {1, 4, 4, 3});
  NodeBuilder b(g, *m.block, "n");
  ops::pad::Attrs pad;
  pad.end[3] = 1;
  pad.begin[1] = pad.end[2] = 2;
  Value* inside = b.op(OpId::exp, {x});
  Value* padded = b.op(OpId::pad, pad, {inside});
  g.add_output(m, "inside", b.op(OpId::reduce_sum, {inside}));
  g.add_output(m, "padded", b.op(OpId::reduce_max, {padded}));
  const schedule::Plan plan = plan_of(g);
  EXPECT_EQ(count_steps(plan, OpId::pad), 0u);
  EXPECT_EQ(count_steps(plan, OpId::fill), 1u);
  EXPECT_EQ(plan.peak(), 6u * 6 * 4 * 4);
  const Buffers in = {bytes_of(std::vector<float>(48, 0.5f))};
  EXPECT_EQ(run(g, in), run(g, in, {}, plain_options()));
}

TEST(Share, AFillDoesNotDestroyWhatTheNextStepReads) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {4, 4});
  NodeBuilder b(g, *m.block, "n");
  Value* padded = b.op(OpId::pad, ops::pad::Attrs{}, {b.op(OpId::neg, {b.op(OpId::softmax, {x})})});  // by nothing
  g.add_output(m, "y", b.op(OpId::reduce_sum, {padded}));
  const Buffers in = {bytes_of(std::vector<float>(16, 0.5f))};
  EXPECT_EQ(run(g, in), run(g, in, {}, plain_options()));
}

TEST(Share, SplitsAndSlicesAreViews) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {4, 6});
  NodeBuilder b(g, *m.block, "n");
  Value* v = b.op(OpId::exp, {x});
  const auto parts = b.ops(OpId::split, ops::split::Attrs{1}, {v}, 2);
  ops::slice::Attrs slice;
  slice.count = 1;
  slice.starts[0] = 1;
  slice.ends[0] = 3;
  slice.axes[0] = 0;
  slice.steps[0] = 1;
  Value* rows = b.op(OpId::slice, slice, {v});
  Value* sum = b.op(OpId::add, {parts[0], parts[1]});
  g.add_output(m, "sum", b.op(OpId::reduce_sum, {sum}));
  g.add_output(m, "rows", b.op(OpId::reduce_max, {rows}));
  const schedule::Plan plan = plan_of(g);
  EXPECT_EQ(count_steps(plan, OpId::split) + count_steps(plan, OpId::slice), 0u);
}

TEST(Share, AConvolutionIsWrittenOverTheResidualItAdds) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {1, 8, 8, 4});
  NodeBuilder b(g, *m.block, "n");
  ops::conv::Attrs same;
  for (int i = 0; i < 2; ++i) same.pads_begin[i] = same.pads_end[i] = 1;
  std::vector<float> weights(4 * 9 * 4);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) / 8 - 0.25f;
  Value* w = g.constant<float>({4, 3, 3, 4}, weights);
  Value* start = b.op(OpId::exp, {x});
  Value* sum = b.op(OpId::conv, same, {b.op(OpId::conv, same, {start, w}), w, nullptr, start});
  Value* own = b.op(OpId::conv, same, {sum, w, nullptr, sum});  // reads what it would write over: needs a place of its own
  g.add_output(m, "y", b.op(OpId::reduce_max, {own}));
  EXPECT_EQ(plan_of(g).peak(), 2u * 1024);
  const Buffers in = {bytes_of(std::vector<float>(256, 0.5f))};
  EXPECT_EQ(run(g, in), run(g, in, {}, plain_options()));
}

TEST(Share, DynamicSizesThatAreTheSameShareToo) {
  Graph g;
  g.symbols.push_back({"n", 1, 9});
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {0, 4}, {0, -1});
  Value* one = g.add_input(m, "one", DType::f32, {1, 4});
  NodeBuilder b(g, *m.block, "n");
  Value *p = b.op(OpId::exp, {x}), *q = b.op(OpId::softmax, {x});
  Value* sum = b.op(OpId::add, {b.op(OpId::mul, {p, q}), one});
  Value* flat = b.reshape(sum, {-1});
  Value* wide = b.op(OpId::add, {b.op(OpId::exp, {one}), sum});  // the first operand has another size
  g.add_output(m, "flat", b.op(OpId::neg, {flat}));
  g.add_output(m, "wide", b.op(OpId::reduce_sum, {wide}));
  EXPECT_LE(plan_of(g).peak(), 2u * 9 * 16 + 16);
  const auto plain = load(g, plain_options()), shared = load(g);
  for (const int32_t n : {9, 1, 4}) {
    std::vector<float> in(static_cast<size_t>(n) * 4);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) / 7;
    const Buffers inputs = {bytes_of(in), bytes_of<float>({1, 2, 3, 4})};
    const Buffers wanted = run(plain.get(), 0, inputs, {{n, 4}, {}});
    ASSERT_EQ(wanted.size(), 2u);
    EXPECT_EQ(run(shared.get(), 0, inputs, {{n, 4}, {}}), wanted) << n;
  }
}

TEST(Share, LoopsUpdateWhatTheyCarryInPlace) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {16});
  Value* n = g.add_input(m, "n", DType::s64, {});
  ir::Node* loop = g.add_node(*m.block, ir::kLoop, nullptr, 0, {n, nullptr, x}, 1, "loop");
  loop->max_trips = 10;
  ir::Block& body = g.add_block(loop);
  g.add_argument(body, "trip", {DType::s64, {}, 0});
  Value* go = g.add_argument(body, "go", {DType::boolean, {}, 0});
  Value* v = g.add_argument(body, "v", x->type);
  NodeBuilder in(g, body, "body");
  g.add_result(body, go);
  g.add_result(body, in.op(OpId::neg, {in.op(OpId::add, {v, x})}));
  std::string error;
  ASSERT_TRUE(ir::infer(*loop, &error)) << error;
  g.add_output(m, "y", loop->outputs[0]);
  const schedule::Plan plan = plan_of(g);
  EXPECT_LE(plan.peak(), 80u) << "the sum and the trip number";
  EXPECT_EQ(count_steps(plan, OpId::copy), 2u) << "first value, trip number";
  const auto p = load(g);
  const std::vector<float> ones(16, 1.0f);
  EXPECT_EQ(values_of<float>(run(p.get(), 0, {bytes_of(ones), s64(3)})[0])[5], -2.0f);
}

TEST(Share, StatesAreUpdatedInPlace) {
  Graph g;
  auto& m = g.add_method("main");
  Value* state = g.add_state("cache", DType::f32, {4, 2});
  Value* x = g.add_input(m, "x", DType::f32, {1, 2});
  Value* at = g.add_input(m, "at", DType::s64, {2});
  NodeBuilder b(g, *m.block, "n");
  Value* next = b.op(OpId::update_slice, {state, x, at});
  g.add_node(*m.block, ir::kAssign, nullptr, 0, {state, next}, 0, "assign");
  g.add_output(m, "sum", b.op(OpId::reduce_sum, {next}));
  const schedule::Plan plan = plan_of(g);
  EXPECT_EQ(count_steps(plan, OpId::copy), 0u);
  EXPECT_EQ(plan.peak(), 32u) << "the state alone";
  const auto p = load(g);
  EXPECT_EQ(values_of<float>(run(p.get(), 0, {bytes_of<float>({1, 2}), bytes_of<int64_t>({0, 0})})[0])[0], 3.0f);
  EXPECT_EQ(values_of<float>(run(p.get(), 0, {bytes_of<float>({5, 6}), bytes_of<int64_t>({3, 0})})[0])[0], 14.0f);
}

}  // namespace
}  // namespace mote::schedtest
