#include "mote/compiler/frontends/onnx/testing.h"
#include "mote/compiler/ir/infer.h"

namespace mote::frontends::onnx::testing {
namespace {

::onnx::GraphProto& subgraph(::onnx::NodeProto& n, const std::string& name) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(::onnx::AttributeProto::GRAPH);
  return *a->mutable_g();
}

::onnx::GraphProto& branch(::onnx::NodeProto& n, const std::string& name, const std::string& op, const std::vector<std::string>& in) {
  auto& g = subgraph(n, name);
  ModelBuilder::add_node(g.mutable_node(), op, in, {"out"});
  g.add_output()->set_name("out");
  return g;
}

const ir::Node* find(const ir::Block& b, uint16_t op) {
  for (const auto& n : b.nodes)
    if (n->op == op) return n.get();
  return nullptr;
}

ModelBuilder if_model(bool known) {
  ModelBuilder m;
  m.input("x", {"2", "3"}).output("y");
  if (known) {
    auto* t = m.graph->add_initializer();
    t->set_name("c");
    t->set_data_type(::onnx::TensorProto::BOOL);
    t->add_int32_data(1);
  } else {
    m.input("c", {}, ::onnx::TensorProto::BOOL);
  }
  return m;
}

TEST(OnnxIf, KnownConditionsLeaveOneBranch) {
  ModelBuilder m = if_model(true);
  auto& n = m.node("If", {"c"}, {"y"});
  branch(n, "then_branch", "Relu", {"x"});
  branch(n, "else_branch", "Frobnicate", {"x"});
  const auto r = import(m);
  ASSERT_TRUE(r->ok) << r->text();
  EXPECT_EQ(find(r->block(), ir::kIf), nullptr);
}

TEST(OnnxIf, RunTimeConditionsMakeANodeWithBothBranches) {
  ModelBuilder m = if_model(false);
  auto& n = m.node("If", {"c"}, {"y"});
  branch(n, "then_branch", "Relu", {"x"});
  branch(n, "else_branch", "Neg", {"x"});
  const auto r = import(m);
  ASSERT_TRUE(r->ok) << r->text();
  const ir::Node* node = find(r->block(), ir::kIf);
  ASSERT_NE(node, nullptr);
  EXPECT_TRUE(node->blocks[0]->nodes.front()->is(OpId::relu));
  EXPECT_TRUE(node->blocks[1]->nodes.front()->is(OpId::neg));
}

TEST(OnnxIf, UnsupportedOperatorsInABranchAreReported) {
  ModelBuilder m = if_model(false);
  auto& n = m.node("If", {"c"}, {"y"});
  branch(n, "then_branch", "Relu", {"x"});
  branch(n, "else_branch", "Frobnicate", {"x"});
  const auto r = import(m);
  EXPECT_FALSE(r->ok);
  EXPECT_EQ(r->problems.size(), 1u) << r->text();
}

// A branch for other shapes than those at hand stays as an error of the run, and the file says so.
TEST(OnnxIf, BranchesThatCannotFitStopTheRun) {
  for (const char* bad : {"then_branch", "else_branch"}) {
    ModelBuilder m = if_model(false);
    m.floats("w", {5, 5}, std::vector<float>(25));
    auto& n = m.node("If", {"c"}, {"y"});
    const bool first = std::string(bad) == "then_branch";
    branch(n, "then_branch", first ? "MatMul" : "Relu", first ? std::vector<std::string>{"x", "w"} : std::vector<std::string>{"x"});
    branch(n, "else_branch", first ? "Relu" : "MatMul", first ? std::vector<std::string>{"x"} : std::vector<std::string>{"x", "w"});
    const auto r = import(m);
    ASSERT_TRUE(r->ok) << r->text();
    const ir::Node* node = find(r->block(), ir::kIf);
    ASSERT_NE(node, nullptr);
    EXPECT_TRUE(node->blocks[first ? 0 : 1]->nodes.front()->is(OpId::gather));
    EXPECT_EQ(node->outputs[0]->type.dims, (ir::Dims{2, 3}));
    EXPECT_EQ(r->graph.evidence.back().first, "left_out");
  }
}

ModelBuilder loop_model(const std::string& step) {
  ModelBuilder m;
  m.input("n", {}, ::onnx::TensorProto::INT64).input("x", {"2"}).output("y").output("rows");
  auto& n = m.node("Loop", {"n", "", "x"}, {"y", "rows"});
  auto& g = subgraph(n, "body");
  for (const char* name : {"i", "go", "v"}) g.add_input()->set_name(name);
  ModelBuilder::add_node(g.mutable_node(), step, step == "Concat" ? std::vector<std::string>{"v", "x"} : std::vector<std::string>{"v", "x"},
                         {"w"});
  if (step == "Concat") attribute(*g.mutable_node(0), "axis", 0);
  for (const char* name : {"go", "w", "w"}) g.add_output()->set_name(name);
  return m;
}

TEST(OnnxLoop, CarriesAndStacks) {
  const ModelBuilder m = loop_model("Add");
  ImportOptions o;
  o.max_trips = 7;
  const auto r = import(m, o);
  ASSERT_TRUE(r->ok) << r->text();
  const ir::Node* node = find(r->block(), ir::kLoop);
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->max_trips, 7);
  EXPECT_EQ(node->outputs[0]->type.dims, (ir::Dims{2}));
  EXPECT_EQ(node->outputs[1]->type.dims, (ir::Dims{7, 2}));
  EXPECT_EQ(node->outputs[1]->type.dynamic, 1);
}

TEST(OnnxLoop, GrowingValuesNeedAKnownTripCount) {
  const ModelBuilder m = loop_model("Concat");
  const auto r = import(m);
  EXPECT_FALSE(r->ok);
  EXPECT_NE(r->text().find("changes its shape from trip to trip"), std::string::npos) << r->text();
}

TEST(OnnxSequence, IsResolvedWhenCompiling) {
  ModelBuilder m;
  m.input("x", {"4", "2"}).output("y").output("n");
  m.node("SplitToSequence", {"x"}, {"s"});
  m.node("SequenceInsert", {"s", "x"}, {"t"});
  m.node("SequenceLength", {"t"}, {"n"});
  m.node("SequenceErase", {"t"}, {"u"});
  attribute(m.node("ConcatFromSequence", {"u"}, {"y"}), "axis", 0);
  const auto r = import(m);
  ASSERT_TRUE(r->ok) << r->text();
  std::vector<int64_t> length;
  ASSERT_TRUE(ir::known_ints(*r->block().results[1], &length));
  EXPECT_EQ(length, std::vector<int64_t>{5});
  EXPECT_EQ(r->block().results[0]->type.dims, (ir::Dims{4, 2}));
}

::onnx::TypeProto* add_sequence_input(ModelBuilder& m, const std::string& name) {
  auto* in = m.graph->add_input();
  in->set_name(name);
  auto* element = in->mutable_type()->mutable_sequence_type()->mutable_elem_type();
  set_type(element, {"n", "3"});
  return in->mutable_type();
}

TEST(OnnxSequence, AsInputIsOneInputForEachElement) {
  ModelBuilder m;
  m.output("y");
  add_sequence_input(m, "q");
  attribute(m.node("ConcatFromSequence", {"q"}, {"y"}), "axis", 0);
  // Nothing says how many there are: the advice is what to type.
  EXPECT_NE(import(m)->text().find("--dim q.length=3"), std::string::npos) << import(m)->text();
  ImportOptions options;
  options.shapes = {{"q_0", {2, 3}}, {"q_1", {5, 3}}};
  const auto r = import(m, options);
  ASSERT_TRUE(r->ok) << r->text();
  EXPECT_EQ(r->graph.methods[0].input_names, (std::vector<std::string>{"q_0", "q_1"}));
  EXPECT_EQ(r->block().results[0]->type.dims, (ir::Dims{7, 3}));
}

TEST(OnnxSequence, AsOutputIsOneOutputForEachElement) {
  ModelBuilder out;
  out.input("x", {"2"}).output("s");
  out.node("SequenceConstruct", {"x", "x"}, {"s"});
  const auto r = import(out);
  ASSERT_TRUE(r->ok) << r->text();
  EXPECT_EQ(r->graph.methods[0].output_names, (std::vector<std::string>{"s_0", "s_1"}));
}

TEST(OnnxSequence, AnOptionalIsThereOrNot) {
  ModelBuilder m;
  m.output("y");
  auto* in = m.graph->add_input();
  in->set_name("o");
  set_type(in->mutable_type()->mutable_optional_type()->mutable_elem_type(), {"4"});
  m.node("OptionalHasElement", {"o"}, {"y"});
  for (const int present : {0, 1}) {
    ImportOptions options;
    options.dims["o.present"] = {present, present};
    const auto r = import(m, options);
    ASSERT_TRUE(r->ok) << r->text();
    std::vector<int64_t> has;
    ASSERT_TRUE(ir::known_ints(*r->block().results[0], &has));
    EXPECT_EQ(has, std::vector<int64_t>{present});
    EXPECT_EQ(r->block().arguments.size(), static_cast<size_t>(present));
  }
}

}  // namespace
}  // namespace mote::frontends::onnx::testing
