// What counts as a defect of the program, and what as rounding.

#include <gtest/gtest.h>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/ir/builder.h"
#include "mote/compiler/ir/text.h"

namespace mote::driver {
namespace {

// A layer norm as exporters write it, of rows of `width`, and something behind it.
std::string norm(const std::string& type, int width) {
  const std::string row = type + "[60," + std::to_string(width) + "]";
  return "method \"m\"(%0 \"x\": " + row + R"() -> ("y") {
  %1 = mul(%0, )" +
         type + R"([]{0.001})
  %2 = reduce_mean(%1) {axes=[1], axis_count=1, keep_dims=1}
  %3 = sub(%1, %2)
  %4 = square(%3)
  %5 = reduce_mean(%4) {axes=[1], axis_count=1, keep_dims=1}
  %6 = add(%5, )" +
         type + R"([]{1e-10})
  %7 = sqrt(%6)
  %8 = div(%3, %7)
  yield %8
})";
}

std::string problems_of(const std::string& text, const std::function<bool(ir::Graph&, std::string*)>& after_passes = {}) {
  frontends::Source s;
  s.path = "text";
  s.bytes = ir::Bytes::copy_of(text.data(), text.size());
  s.format = "text";
  s.import = [text](const frontends::ImportOptions&, ir::Graph& graph, ir::Problems* problems) {
    std::string error;
    if (ir::parse(text, graph, &error)) return true;
    problems->push_back({"text", error, ""});
    return false;
  };
  CompileOptions o;
  o.after_passes = after_passes;
  CompileResult r;
  ir::Problems problems;
  std::string out;
  (void)compile(s, o, &r, &problems);
  for (const ir::Problem& p : problems) out += p.where + ": " + p.what + "\n";
  return out;
}

// Found with random graphs: in f16 the mean of nearly equal numbers rounds to one of them, and the norm is then another one.
TEST(Check, NormsOfHalfFloatsAreNoDefect) {
  for (const std::string type : {"f16", "bf16", "f32"})
    for (const int width : {2, 3, 8}) EXPECT_EQ(problems_of(norm(type, width)), "") << type << " " << width;
}

TEST(Check, ADefectIsStillFound) {
  const auto halve = [](ir::Graph& graph, std::string*) {
    ir::Method& m = graph.methods[0];
    ir::Value* y = m.block->results[0];
    ir::NodeBuilder b(graph, *m.block, "wrong");
    ir::Value* half = graph.add_constant(
        y->type.dtype, {},
        ir::Bytes::own(y->type.dtype == DType::f32 ? std::vector<uint8_t>{0, 0, 0, 0x3f} : std::vector<uint8_t>{0, 0x38}));
    graph.set_result(*m.block, 0, b.op(OpId::mul, {y, half}));
    return true;
  };
  for (const std::string type : {"f16", "f32"}) {
    const std::string text = "method \"m\"(%0 \"x\": " + type + "[4,50]) -> (\"y\") {\n  %1 = exp(%0)\n  yield %1\n}";
    EXPECT_EQ(problems_of(text), "");
    EXPECT_NE(problems_of(text, halve).find("output 'y' is not what the model gives without optimisation"), std::string::npos) << type;
  }
}

}  // namespace
}  // namespace mote::driver
