// Graphs become programs that compute what they say: values, methods, states, control flow, open sizes.

#include "mote/compiler/assemble/compile_graph.h"
#include "mote/compiler/ir/infer.h"
#include "mote/compiler/schedule/testing/run_graph.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/split/split.h"

namespace mote::schedtest {
namespace {

using ir::Graph;
using ir::NodeBuilder;
using ir::Value;

TEST(Build, InputsConstantsAndEqualValuesMayBeOutputs) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {2});
  Value* c = g.constant<float>({2}, {5, 6});
  NodeBuilder b(g, *m.block, "n");
  Value* y = b.op(OpId::add, {x, c});
  g.add_output(m, "x2", x);
  g.add_output(m, "c", c);
  g.add_output(m, "y", y);
  g.add_output(m, "again", y);
  const Buffers out = run(g, {bytes_of<float>({1, 2})});
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(values_of<float>(out[1]), (std::vector<float>{5, 6}));
  EXPECT_EQ(values_of<float>(out[2]), (std::vector<float>{6, 8}));
  EXPECT_EQ(out[2], out[3]);
}

TEST(Build, MethodsShareStatesAndConstants) {
  Graph g;
  Value* total = g.add_state("total", DType::f32, {2}, ir::Bytes::copy_of(std::vector<float>{10, 20}.data(), 8));
  auto& step = g.add_method("step");
  {
    Value* x = g.add_input(step, "x", DType::f32, {2});
    NodeBuilder b(g, *step.block, "accumulate");
    Value* sum = b.op(OpId::add, {total, x});
    g.add_node(*step.block, ir::kAssign, nullptr, 0, {total, sum}, 0, "assign");
    g.add_output(step, "total", total);
  }
  auto& read = g.add_method("read");
  {
    NodeBuilder b(g, *read.block, "double");
    g.add_output(read, "twice", b.op(OpId::add, {total, total}));
  }
  const auto p = load(g);
  EXPECT_EQ(values_of<float>(run(p.get(), 0, {bytes_of<float>({1, 2})})[0]), (std::vector<float>{11, 22}));
  EXPECT_EQ(values_of<float>(run(p.get(), 0, {bytes_of<float>({1, 2})})[0]), (std::vector<float>{12, 24}));
  EXPECT_EQ(values_of<float>(run(p.get(), 1, {})[0]), (std::vector<float>{24, 48}));
}

TEST(Build, DynamicSizesFollowTheInput) {
  Graph g;
  g.symbols.push_back({"n", 1, 8});
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {0, 2}, {0, -1});
  NodeBuilder b(g, *m.block, "n");
  Value* y = b.op(OpId::concat, ops::concat::Attrs{0}, {b.op(OpId::relu, {x}), x});
  Value* shape = b.op(OpId::shape_of, {y});
  g.add_output(m, "y", y);
  g.add_output(m, "shape", shape);
  const auto p = load(g);
  for (const int32_t n : {8, 3, 1}) {
    std::vector<float> in(static_cast<size_t>(n) * 2, -1.0f);
    const Buffers out = run(p.get(), 0, {bytes_of(in)}, {{n, 2}});
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(dims_of(*p, 0), (emit::Dims{2 * n, 2}));
    EXPECT_EQ(values_of<int64_t>(out[1]), (std::vector<int64_t>{2 * n, 2}));
    EXPECT_EQ(values_of<float>(out[0])[0], 0.0f);
    EXPECT_EQ(values_of<float>(out[0]).back(), -1.0f);
  }
}

TEST(Build, OutputsNobodyUsesAreLeftOut) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {4});
  NodeBuilder b(g, *m.block, "n");
  const auto parts = b.ops(OpId::split, ops::split::Attrs{0}, {x}, 2);
  g.add_output(m, "second", parts[1]);
  EXPECT_EQ(values_of<float>(run(g, {bytes_of<float>({1, 2, 3, 4})})[0]), (std::vector<float>{3, 4}));
}

TEST(Build, IfBranchesWriteTheSameOutputs) {
  Graph g;
  auto& m = g.add_method("main");
  Value* condition = g.add_input(m, "condition", DType::boolean, {});
  Value* x = g.add_input(m, "x", DType::f32, {2});
  ir::Node* n = g.add_node(*m.block, ir::kIf, nullptr, 0, {condition}, 3, "choose");
  ir::Block &then = g.add_block(n), &otherwise = g.add_block(n);
  NodeBuilder a(g, then, "then"), o(g, otherwise, "else");
  Value* twice = a.op(OpId::add, {x, x});
  for (Value* v : {twice, twice, x}) g.add_result(then, v);
  Value* square = o.op(OpId::mul, {x, x});
  for (Value* v : {square, x, static_cast<Value*>(g.constant<float>({2}, {7, 8}))}) g.add_result(otherwise, v);
  std::string error;
  ASSERT_TRUE(ir::infer(*n, &error)) << error;
  for (Value* v : n->outputs) g.add_output(m, "y", v);
  const auto p = load(g);
  Buffers out = run(p.get(), 0, {{1}, bytes_of<float>({3, 4})});
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{6, 8}));
  EXPECT_EQ(values_of<float>(out[1]), (std::vector<float>{6, 8}));
  EXPECT_EQ(values_of<float>(out[2]), (std::vector<float>{3, 4}));
  out = run(p.get(), 0, {{0}, bytes_of<float>({3, 4})});
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{9, 16}));
  EXPECT_EQ(values_of<float>(out[1]), (std::vector<float>{3, 4}));
  EXPECT_EQ(values_of<float>(out[2]), (std::vector<float>{7, 8}));
}

TEST(Build, BranchesOfDifferentSizeGiveADynamicOutput) {
  Graph g;
  auto& m = g.add_method("main");
  Value* condition = g.add_input(m, "condition", DType::boolean, {});
  Value* x = g.add_input(m, "x", DType::f32, {2});
  ir::Node* n = g.add_node(*m.block, ir::kIf, nullptr, 0, {condition}, 1, "choose");
  ir::Block &then = g.add_block(n), &otherwise = g.add_block(n);
  NodeBuilder a(g, then, "then");
  g.add_result(then, a.op(OpId::concat, ops::concat::Attrs{0}, {x, x}));
  g.add_result(otherwise, x);
  std::string error;
  ASSERT_TRUE(ir::infer(*n, &error)) << error;
  NodeBuilder b(g, *m.block, "after");
  g.add_output(m, "y", b.op(OpId::neg, {n->outputs[0]}));
  const auto p = load(g);
  EXPECT_EQ(values_of<float>(run(p.get(), 0, {{1}, bytes_of<float>({3, 4})})[0]), (std::vector<float>{-3, -4, -3, -4}));
  EXPECT_EQ(values_of<float>(run(p.get(), 0, {{0}, bytes_of<float>({3, 4})})[0]), (std::vector<float>{-3, -4}));
}

// fibonacci: (a, b) -> (b, a + b), collecting b; stops when b passes a limit or the count is reached.
void fibonacci(Graph& g, bool counted, bool conditional, int64_t most) {
  auto& m = g.add_method("main");
  Value* n = g.add_input(m, "n", DType::s64, {});
  Value* limit = g.add_input(m, "limit", DType::s64, {});
  NodeBuilder outer(g, *m.block, "fibonacci");
  Value* first = g.constant<int64_t>({1}, {0});
  Value* second = g.constant<int64_t>({1}, {1});
  Value* start = conditional ? outer.op(OpId::less, {g.scalar<int64_t>(0), limit}) : nullptr;
  ir::Node* loop = g.add_node(*m.block, ir::kLoop, nullptr, 0, {counted ? n : nullptr, start, first, second}, 4, "loop");
  loop->max_trips = most;
  ir::Block& body = g.add_block(loop);
  Value* trip = g.add_argument(body, "trip", {DType::s64, {}, 0});
  g.add_argument(body, "go", {DType::boolean, {}, 0});
  Value* a = g.add_argument(body, "a", {DType::s64, {1}, 0});
  Value* b = g.add_argument(body, "b", {DType::s64, {1}, 0});
  NodeBuilder in(g, body, "body");
  Value* sum = in.op(OpId::add, {a, b});
  Value* go = in.op(OpId::less, {in.reshape(sum, {}), limit});
  for (Value* v : {go, b, sum, b, trip}) g.add_result(body, v);
  std::string error;
  ASSERT_TRUE(ir::infer(*loop, &error)) << error;
  const char* names[] = {"a", "b", "all", "trips"};
  for (size_t i = 0; i < 4; ++i) g.add_output(m, names[i], loop->outputs[i]);
}

TEST(Build, LoopsCarrySwapAndCollect) {
  Graph g;
  fibonacci(g, true, true, 20);
  const auto p = load(g);
  Buffers out = run(p.get(), 0, {s64(6), s64(1000)});
  EXPECT_EQ(values_of<int64_t>(out[0])[0], 8);
  EXPECT_EQ(values_of<int64_t>(out[1])[0], 13);
  EXPECT_EQ(values_of<int64_t>(out[2]), (std::vector<int64_t>{1, 1, 2, 3, 5, 8}));
  EXPECT_EQ(values_of<int64_t>(out[3]), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(dims_of(*p, 2), (emit::Dims{6, 1}));
  EXPECT_EQ(dims_of(*p, 3), (emit::Dims{6}));
  out = run(p.get(), 0, {s64(15), s64(6)});  // the condition ends it
  EXPECT_EQ(values_of<int64_t>(out[2]), (std::vector<int64_t>{1, 1, 2, 3, 5}));
  for (const auto& [n, limit] : {std::pair<int64_t, int64_t>{0, 10}, {5, 0}}) {
    out = run(p.get(), 0, {s64(n), s64(limit)});
    EXPECT_EQ(values_of<int64_t>(out[0])[0], 0) << "no trip: carried values stay as they were";
    EXPECT_EQ(values_of<int64_t>(out[1])[0], 1);
    EXPECT_EQ(dims_of(*p, 2), (emit::Dims{0, 1}));
  }
}

TEST(Build, LoopsWithoutCountOrCondition) {
  Graph counted, conditional;
  fibonacci(counted, true, false, 9);
  fibonacci(conditional, false, true, 9);
  const Buffers a = run(counted, {s64(3), s64(0)}), b = run(conditional, {s64(0), s64(4)});
  ASSERT_EQ(a.size(), 4u);
  ASSERT_EQ(b.size(), 4u);
  EXPECT_EQ(values_of<int64_t>(a[2]), (std::vector<int64_t>{1, 1, 2}));
  EXPECT_EQ(values_of<int64_t>(b[2]), (std::vector<int64_t>{1, 1, 2, 3}));
}

// Collects x * trip for an x whose size only running tells.
TEST(Build, CollectedValuesMayBeDynamic) {
  Graph g;
  g.symbols.push_back({"n", 1, 4});
  auto& m = g.add_method("main");
  Value* trips = g.add_input(m, "trips", DType::s64, {});
  Value* x = g.add_input(m, "x", DType::s64, {0, 2}, {0, -1});
  ir::Node* loop = g.add_node(*m.block, ir::kLoop, nullptr, 0, {trips, nullptr}, 1, "loop");
  loop->max_trips = 3;
  ir::Block& body = g.add_block(loop);
  Value* trip = g.add_argument(body, "trip", {DType::s64, {}, 0});
  Value* go = g.add_argument(body, "go", {DType::boolean, {}, 0});
  NodeBuilder in(g, body, "body");
  Value* product = in.op(OpId::mul, {x, trip});
  g.add_result(body, go);
  g.add_result(body, product);
  std::string error;
  ASSERT_TRUE(ir::infer(*loop, &error)) << error;
  g.add_output(m, "all", loop->outputs[0]);
  const auto p = load(g);
  Buffers out = run(p.get(), 0, {s64(3), bytes_of<int64_t>({1, 2, 3, 4})}, {{}, {2, 2}});
  EXPECT_EQ(dims_of(*p, 0), (emit::Dims{3, 2, 2}));
  EXPECT_EQ(values_of<int64_t>(out[0]), (std::vector<int64_t>{0, 0, 0, 0, 1, 2, 3, 4, 2, 4, 6, 8}));
  out = run(p.get(), 0, {s64(2), bytes_of<int64_t>({5, 6})}, {{}, {1, 2}});
  EXPECT_EQ(dims_of(*p, 0), (emit::Dims{2, 1, 2}));
  EXPECT_EQ(values_of<int64_t>(out[0]), (std::vector<int64_t>{0, 0, 5, 6}));
}

TEST(Build, AFixedNumberOfTripsGivesFixedSizes) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {2});
  ir::Node* loop = g.add_node(*m.block, ir::kLoop, nullptr, 0, {g.scalar<int64_t>(3), nullptr, x}, 2, "loop");
  ir::Block& body = g.add_block(loop);
  g.add_argument(body, "trip", {DType::s64, {}, 0});
  Value* go = g.add_argument(body, "go", {DType::boolean, {}, 0});
  Value* v = g.add_argument(body, "v", x->type);
  NodeBuilder in(g, body, "body");
  Value* next = in.op(OpId::add, {v, x});
  for (Value* r : {go, next, next}) g.add_result(body, r);
  std::string error;
  ASSERT_TRUE(ir::infer(*loop, &error)) << error;
  g.add_output(m, "last", loop->outputs[0]);
  g.add_output(m, "all", loop->outputs[1]);
  const auto p = load(g);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->program.table().tensors[p->program.table().ios[2].tensor].dynamic, 0);
  const Buffers out = run(p.get(), 0, {bytes_of<float>({1, 10})});
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{4, 40}));
  EXPECT_EQ(values_of<float>(out[1]), (std::vector<float>{2, 20, 3, 30, 4, 40}));
}

constexpr OpDef kTwice[] = {{0, 4, kElementwise, 1, 1, 1, 1, 0, 1, "test::scale",
                             [](const InferContext& c) noexcept {
                               c.same_as(0, 0, c.in(0).dtype);
                               return Status(Status::kOk);
                             },
                             [](const OpContext&) noexcept -> KernelFn {
                               return [](const OpContext& c) noexcept {
                                 for (int32_t i = 0; i < c.input(0).count(); ++i)
                                   c.output(0).as<float>()[i] = c.input(0).as<float>()[i] * c.attrs<float>();
                                 return Status(Status::kOk);
                               };
                             },
                             nullptr}};

TEST(Build, CustomOperatorsAreFoundByTheirSymbol) {
  const OpRegistry ops(kTwice, &emit::builtin_registry());
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {2});
  const float factor = 3;
  ir::Node* n = g.add_node(*m.block, ir::kCustom, &factor, 4, {x}, 1, "scale");
  n->symbol = "test::scale";
  n->outputs[0]->type = x->type;
  g.add_output(m, "y", n->outputs[0]);
  const auto p = load(g, {}, ops);
  EXPECT_EQ(values_of<float>(run(p.get(), 0, {bytes_of<float>({1, 2})})[0]), (std::vector<float>{3, 6}));
}

TEST(Build, ErrorsNameTheNode) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {2});
  ir::Node* n = g.add_node(*m.block, ir::kCustom, nullptr, 0, {x}, 1, "/layer/Blend");
  n->symbol = "acme::blend";
  n->outputs[0]->type = x->type;
  g.add_output(m, "y", n->outputs[0]);
  emit::FileBytes file;
  std::string error;
  EXPECT_FALSE(assemble::compile_graph(g, &file, &error));
  EXPECT_NE(error.find("/layer/Blend"), std::string::npos) << error;
  EXPECT_NE(error.find("acme::blend"), std::string::npos) << error;
}

TEST(Build, TensorsTooLargeToBeAreRefusedByName) {
  Graph g;
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {2});
  ir::Node* loop = g.add_node(*m.block, ir::kLoop, nullptr, 0, {g.add_input(m, "n", DType::s64, {}), nullptr}, 1, "loop");
  loop->max_trips = 0x7fffffff;
  ir::Block& body = g.add_block(loop);
  g.add_argument(body, "trip", {DType::s64, {}, 0});
  Value* go = g.add_argument(body, "go", {DType::boolean, {}, 0});
  for (Value* v : {go, x}) g.add_result(body, v);
  std::string error;
  ASSERT_TRUE(ir::infer(*loop, &error)) << error;
  loop->outputs[0]->name = "everything";
  g.add_output(m, "y", loop->outputs[0]);
  emit::FileBytes file;
  EXPECT_FALSE(assemble::compile_graph(g, &file, &error));
  EXPECT_NE(error.find("everything"), std::string::npos) << error;
}

}  // namespace
}  // namespace mote::schedtest
