// Graphs written as TOSA and read again.

#include "mote/compiler/emit/tosa/emit_tosa.h"

#include "mote/compiler/frontends/tosa/testing.h"
#include "mote/compiler/ir/text.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::emit {
namespace {

using frontends::tosa::Imported;

std::string problems_of(const ir::Problems& problems) {
  std::string all;
  for (const ir::Problem& p : problems) all += p.where + ": " + p.what + "\n";
  return all;
}

// One method of `text`, written and read again; nullptr with the problems in *said.
std::unique_ptr<Imported> there_and_back(const std::string& text, std::string* said) {
  ir::Graph graph;
  ir::Problems problems;
  std::vector<uint8_t> bytes;
  EXPECT_TRUE(ir::parse(text, graph, said)) << *said;
  const bool done = emit_tosa(graph, &bytes, &problems);
  *said = problems_of(problems);
  EXPECT_EQ(done, problems.empty()) << *said;
  if (!done) return nullptr;
  auto r = frontends::tosa::import_bytes(std::move(bytes));
  EXPECT_TRUE(r->ok) << r->text();
  return r;
}

std::string one_node(const std::string& input, const std::string& node) {
  return "method \"m\"(%0 \"x\": " + input + ") -> (\"y\") {\n  %1 = " + node + " \"n\"\n  yield %1\n}";
}

// The permutation of the only TRANSPOSE that is read again.
std::vector<int> permutation(const std::string& attributes) {
  std::string said;
  const auto r = there_and_back(one_node("f32[2,3,4]", "transpose(%0) {" + attributes + "}"), &said);
  if (r == nullptr) return {};
  for (const auto& n : r->graph.methods[0].block->nodes) {
    if (!n->is(OpId::transpose)) continue;
    const auto a = n->attributes<ops::transpose::Attrs>();
    return std::vector<int>(a.perm, a.perm + a.rank);
  }
  return {};
}

TEST(EmitTosa, TransposesInEveryNotation) {
  EXPECT_EQ(permutation("perm=[0,2,1], rank=3"), (std::vector<int>{0, 2, 1}));
  EXPECT_EQ(permutation("perm=[-1,-3,-2], rank=3"), (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(permutation(""), (std::vector<int>{2, 1, 0}));
}

TEST(EmitTosa, ScalarsHaveNoAxes) {
  std::string said;
  EXPECT_NE(there_and_back(one_node("f32[]", "softmax(%0) {axis=-1}"), &said), nullptr) << said;
  EXPECT_NE(there_and_back(one_node("f32[]", "softmax(%0) {axis=0}"), &said), nullptr) << said;
  EXPECT_NE(there_and_back(one_node("f32[]", "log_softmax(%0) {axis=-1}"), &said), nullptr) << said;
  EXPECT_NE(there_and_back(one_node("f32[]", "reduce_sum(%0)"), &said), nullptr) << said;
}

TEST(EmitTosa, WhatHasNoFormIsNamedWithTheReason) {
  std::string said;
  EXPECT_EQ(there_and_back(one_node("f32[4]", "sort(%0)"), &said), nullptr);
  EXPECT_NE(said.find("n (sort): TOSA does not sort"), std::string::npos) << said;
}

}  // namespace
}  // namespace mote::emit
