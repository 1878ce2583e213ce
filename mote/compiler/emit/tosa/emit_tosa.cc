#include "mote/compiler/emit/tosa/emit_tosa.h"

#include "mote/compiler/emit/tosa/blocks.h"

namespace mote::emit {
namespace {

bool is_static(const ir::Graph& graph, ir::Problems* problems) {
  if (graph.methods.size() != 1) problems->push_back({"model", "expected one method, found " + std::to_string(graph.methods.size()), ""});
  if (!graph.states().empty())
    problems->push_back({"model", "states have no form in the profiles of TOSA", "compile to a program instead"});
  for (const ir::Symbol& s : graph.symbols)
    problems->push_back({"size " + s.name, "TOSA has fixed sizes", "--dim " + s.name + "=" + std::to_string(s.max)});
  return problems->empty();
}

}  // namespace

bool emit_tosa(const ir::Graph& graph, std::vector<uint8_t>* out, ir::Problems* problems, std::vector<std::string>* rounding) {
  if (!is_static(graph, problems)) return false;
  const ir::Method& m = graph.methods[0];
  tosa::Writer w;
  tosa::Blocks blocks(w, problems);
  for (const std::string& name : m.input_names) w.reserve(name);
  for (const std::string& name : m.output_names) w.reserve(name);
  for (size_t i = 0; i < m.block->arguments.size(); ++i) {
    w.input(m.block->arguments[i], m.input_names[i]);
    blocks.report("input " + m.input_names[i]);
  }
  blocks.write(*m.block);
  for (size_t i = 0; problems->empty() && i < m.block->results.size(); ++i) {
    w.output(m.block->results[i], m.output_names[i]);
    blocks.report("output " + m.output_names[i]);
  }
  if (!problems->empty()) return false;
  *out = w.finish();
  if (rounding != nullptr) *rounding = blocks.rounding();
  return true;
}

}  // namespace mote::emit
