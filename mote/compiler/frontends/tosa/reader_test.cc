// What the front end makes of sound files, and of damaged ones or such that lie: an error with a reason, never a crash.

#include <cstring>
#include <random>

#include "mote/compiler/frontends/tosa/testing.h"
#include "mote/compiler/ir/verify.h"

namespace mote::frontends::tosa {
namespace {

size_t count_nodes(const ir::Block& block, uint16_t op) {
  size_t n = 0;
  for (const auto& node : block.nodes) n += node->op == op;
  return n;
}

}  // namespace

TEST(TosaReader, ReadsASoundGraph) {
  const auto r = import_bytes(clamp_graph());
  ASSERT_TRUE(r->ok) << r->text();
  ASSERT_EQ(r->graph.methods.size(), 1u);
  EXPECT_EQ(r->graph.methods[0].input_names, std::vector<std::string>{"x"});
  EXPECT_EQ(r->graph.methods[0].output_names, std::vector<std::string>{"y"});
  EXPECT_EQ(r->graph.methods[0].block->results[0]->type, (ir::Type{DType::s8, {2, 3}, 0}));
  std::string error;
  EXPECT_TRUE(ir::verify(r->graph, &error)) << error;
}

TEST(TosaReader, RefusesOtherBytesAndVersions) {
  EXPECT_NE(import_bytes({})->text().find("TOSA at byte 4"), std::string::npos);
  EXPECT_NE(import_bytes(std::vector<uint8_t>(100, 7))->text().find("TOSA at byte 4"), std::string::npos);
  GraphWriter w;
  w.region("main", {}, {});
  EXPECT_NE(import_bytes(w.finish(0))->text().find("expected TOSA version 1, found 0"), std::string::npos);
}

TEST(TosaReader, RefusesEveryTruncation) {
  const std::vector<uint8_t> whole = clamp_graph();
  for (size_t n = 0; n + 8 < whole.size(); n += 3) {  // the last bytes are padding
    const auto r = import_bytes({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)});
    EXPECT_FALSE(r->ok) << n;
    EXPECT_FALSE(r->problems.empty()) << n;
  }
}

TEST(TosaReader, SurvivesMutations) {
  const std::vector<uint8_t> whole = clamp_graph();
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    std::vector<uint8_t> bytes = whole;
    for (int k = 0; k < 1 + i % 4; ++k) bytes[random() % bytes.size()] = static_cast<uint8_t>(random() % 3 == 0 ? 255 : random());
    const auto r = import_bytes(std::move(bytes));
    EXPECT_EQ(r->ok, r->problems.empty());
  }
}

TEST(TosaReader, ReportsEverythingAtOnce) {
  GraphWriter w;
  w.tensor("x", fb::DType::FP32, {2});
  for (const char* name : {"a", "b", "y"}) w.tensor(name, fb::DType::FP32, {2});
  w.op(fb::Op::CUSTOM, {"x"}, {"a"});
  w.op(fb::Op::ADD, {"a", "x"}, {"b"});  // depends on what was refused: no problem of its own
  w.op(fb::Op::MATMUL_T, {"x"}, {"y"});
  w.region("main", {"x"}, {"y"});
  const auto r = import_bytes(w.finish());
  EXPECT_EQ(r->problems.size(), 2u) << r->text();
  EXPECT_NE(r->text().find("a (CUSTOM, operator 0): the operator is not supported"), std::string::npos) << r->text();
  EXPECT_NE(r->text().find("y (MATMUL_T, operator 2)"), std::string::npos) << r->text();
}

TEST(TosaReader, RefusesResultsThatAreNotAsDeclared) {
  GraphWriter w;
  w.tensor("x", fb::DType::FP32, {2, 3});
  w.tensor("y", fb::DType::FP32, {3, 2});
  w.op(fb::Op::ABS, {"x"}, {"y"});
  w.region("main", {"x"}, {"y"});
  EXPECT_NE(import_bytes(w.finish())->text().find("expected an output of f32 (2, 3), found FP32 (3, 2)"), std::string::npos);
}

TEST(TosaReader, UnpacksNarrowAndOddIntegers) {
  GraphWriter w;
  w.tensor("c", fb::DType::INT48, {2}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 0, 0, 0, 0});
  w.tensor("n", fb::DType::INT4, {3}, {0xf7, 0x08});
  w.op(fb::Op::CONST, {}, {"c"}, fb::Attribute::ConstAttribute, fb::CreateConstAttribute(w.b).Union());
  w.op(fb::Op::CONST, {}, {"n"}, fb::Attribute::ConstAttribute, fb::CreateConstAttribute(w.b).Union());
  w.region("main", {}, {"c", "n"});
  const auto r = import_bytes(w.finish());
  ASSERT_TRUE(r->ok) << r->text();
  const auto& results = r->graph.methods[0].block->results;
  const ir::Value* wide = results[0]->producer->inputs[0];
  int64_t found[2];
  ASSERT_EQ(wide->data.size, sizeof found);
  std::memcpy(found, wide->data.data, sizeof found);
  EXPECT_EQ(found[0], -1);
  EXPECT_EQ(found[1], 513);
  const ir::Bytes& narrow = results[1]->producer->inputs[0]->data;
  EXPECT_EQ(std::vector<int8_t>(narrow.data, narrow.data + narrow.size), (std::vector<int8_t>{7, -1, -8}));
}

TEST(TosaReader, VariablesAreStates) {
  GraphWriter w;
  w.tensor("x", fb::DType::INT32, {2});
  w.tensor("v", fb::DType::INT32, {2}, {5, 0, 0, 0, 7, 0, 0, 0}, "total");
  w.tensor("old", fb::DType::INT32, {2});
  w.tensor("sum", fb::DType::INT32, {2});
  w.op(fb::Op::VARIABLE, {}, {"v"});
  w.op(fb::Op::VARIABLE_READ, {"v"}, {"old"});
  w.op(fb::Op::ADD, {"old", "x"}, {"sum"});
  w.op(fb::Op::VARIABLE_WRITE, {"sum", "v"}, {});
  w.region("main", {"x"}, {"sum"});
  const auto r = import_bytes(w.finish());
  ASSERT_TRUE(r->ok) << r->text();
  ASSERT_EQ(r->graph.states().size(), 1u);
  const ir::Value* state = r->graph.states()[0];
  EXPECT_EQ(state->name, "total");
  ASSERT_EQ(state->data.size, 8u);
  EXPECT_EQ(state->data.data[4], 7);
  EXPECT_EQ(count_nodes(*r->graph.methods[0].block, ir::kAssign), 1u);
}

TEST(TosaReader, ShapesAreComputedWhenCompiling) {
  GraphWriter w;
  w.tensor("x", fb::DType::INT8, {2, 6});
  w.tensor("y", fb::DType::INT8, {3, 4});
  w.shape("a", {1, 2});
  w.shape("b", {3, 2});
  w.op(fb::Op::MUL_SHAPE, {"a", "b"}, {"c"});
  w.op(fb::Op::RESHAPE, {"x", "c"}, {"y"});
  w.region("main", {"x"}, {"y"});
  const auto r = import_bytes(w.finish());
  ASSERT_TRUE(r->ok) << r->text();
  EXPECT_EQ(r->graph.methods[0].block->results[0]->type.dims, (ir::Dims{3, 4}));
}

TEST(TosaReader, OpenSizesComeFromTheUser) {
  const auto graph = [] {
    GraphWriter w;
    w.tensor("x", fb::DType::FP32, {-1, 3});
    w.tensor("y", fb::DType::FP32, {-1, 3});
    w.op(fb::Op::EXP, {"x"}, {"y"});
    w.region("main", {"x"}, {"y"});
    return w.finish();
  };
  EXPECT_FALSE(import_bytes(graph())->ok);
  ImportOptions o;
  o.dims["x.0"] = {1, 8};
  const auto r = import_bytes(graph(), o);
  ASSERT_TRUE(r->ok) << r->text();
  EXPECT_EQ(r->graph.methods[0].block->results[0]->type.dynamic, 1);
  ImportOptions p;
  p.shapes["x"] = {5, 3};
  EXPECT_TRUE(import_bytes(graph(), p)->ok);
}

TEST(TosaReader, RegionsThatCallEachOtherEnd) {
  GraphWriter w;
  w.tensor("x", fb::DType::BOOL, {});
  w.tensor("y", fb::DType::BOOL, {});
  w.op(fb::Op::COND_IF, {"x", "x"}, {"y"}, fb::Attribute::CondIfAttribute, fb::CreateCondIfAttributeDirect(w.b, "main", "main").Union());
  w.region("main", {"x"}, {"y"});
  EXPECT_NE(import_bytes(w.finish())->text().find("calls itself"), std::string::npos);
}

}  // namespace mote::frontends::tosa
