// More operands than an instruction can have.

#include <algorithm>

#include "mote/compiler/ir/text.h"
#include "mote/compiler/passes/testing.h"
#include "mote/runtime/verify.h"

namespace mote::passes {
namespace {

// "neg" of x as many times as wanted, joined along axis 0.
std::string wide_join(int parts) {
  std::string nodes, names;
  for (int i = 0; i < parts; ++i) {
    nodes += "  %" + std::to_string(i + 1) + " = " + (i % 2 == 0 ? "neg" : "exp") + "(%0)\n";
    names += (i > 0 ? ", %" : "%") + std::to_string(i + 1);
  }
  const std::string y = std::to_string(parts + 1);
  return "method \"m\"(%0 \"x\": f32[2, 3]) -> (\"y\") {\n" + nodes + "  %" + y + " = concat(" + names + ")\n  yield %" + y + "\n}\n";
}

// x of that many rows, cut into them, the first and the last added.
std::string wide_cut(int parts) {
  std::string names;
  for (int i = 0; i < parts; ++i) names += (i > 0 ? ", %" : "%") + std::to_string(i + 1);
  const std::string last = std::to_string(parts), y = std::to_string(parts + 1);
  return "method \"m\"(%0 \"x\": f32[" + last + ", 3]) -> (\"y\") {\n  " + names + " = split(%0)\n  %" + y + " = sub(%1, %" + last +
         ")\n  yield %" + y + "\n}\n";
}

// The most inputs and outputs that a node of the method has.
std::pair<size_t, size_t> widest(const std::string& text) {
  ir::Graph g;
  std::string error;
  EXPECT_TRUE(ir::parse(text, g, &error)) << error;
  std::pair<size_t, size_t> most{0, 0};
  for (const auto& n : g.methods[0].block->nodes) most = {std::max(most.first, n->inputs.size()), std::max(most.second, n->outputs.size())};
  return most;
}

TEST(OperandLimits, JoinsInGroups) {
  for (const int parts : {63, 64, 90, 127, 4000}) {
    const std::string after = run_all(wide_join(parts));
    EXPECT_LT(widest(after).first, static_cast<size_t>(kMaxOperands)) << parts;
  }
}

TEST(OperandLimits, CutsOneByOne) {
  for (const int parts : {16, 17, 200}) {
    const std::string after = run_all(wide_cut(parts));
    EXPECT_LE(widest(after).second, static_cast<size_t>(kMaxOutputs)) << parts;
  }
}

}  // namespace
}  // namespace mote::passes
