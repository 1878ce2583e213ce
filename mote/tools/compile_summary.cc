#include "mote/tools/compile_summary.h"

#include <cstdio>

#include "mote/tools/inspect.h"
#include "mote/tools/partial.h"
#include "mote/tools/placement_summary.h"
#include "mote/tools/size_report.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

std::vector<TensorSpec> specs_of(const ProgramView& view, bool outputs) {
  std::vector<TensorSpec> all;
  for (const Method& m : view.table().methods)
    for (uint32_t i = 0; i < (outputs ? m.output_count : m.input_count); ++i)
      all.push_back(spec_of(view, view.table().ios[(outputs ? m.first_output : m.first_input) + i]));
  return all;
}

size_t example_count(const ProgramView& view) {
  size_t count = 0;
  for (const Golden& g : view.table().goldens) count += g.is_output == 1 && g.io == 0;
  return count;
}

std::string target_of(const ProgramView& view) {
  for (const Pair& p : view.table().evidence)
    if (std::string(view.string(p.key)) == "target") return view.string(p.value);
  return "";
}

size_t strip_count(const ProgramView& view) {
  size_t count = 0;
  for (const Instruction& n : view.table().instructions) count += static_cast<ControlOp>(n.op) == ControlOp::kStrip;
  return count;
}

}  // namespace

Json result_json(const CompiledFiles& files, const driver::CompileResult& r, const target::Target& target, const ProgramView& view,
                 double seconds) {
  const auto ios = [&](bool outputs) {
    Json all = Json::array();
    for (const TensorSpec& t : specs_of(view, outputs)) all.push_back(spec_json(t));
    return all;
  };
  const Certificate& c = *view.table().certificate;
  Json stages = Json::object();
  for (const auto& [name, time] : r.stage_seconds) stages[name] = time;
  Json j = {{"model", files.model},
            {"file", files.output},
            {"frontend", r.frontend},
            {"file_bytes", view.file_bytes()},
            {"weights_file", files.weights},
            {"weights_bytes", r.external.size()},
            {"inputs", ios(false)},
            {"outputs", ios(true)},
            {"instruction_count", view.table().instructions.size},
            {"ops", count_ops(view)},
            {"constant_bytes", c.constant_bytes},
            {"peak_bytes", r.peak_bytes},
            {"lower_bound_bytes", r.lower_bound_bytes},
            {"target", target_of(view)},
            {"strips", strip_count(view)},
            {"macs", c.macs},
            {"golden_examples", example_count(view)},
            {"compile_s", seconds},
            {"stages_s", stages},
            {"slow_paths", r.slow_paths},
            {"notes", r.notes}};
  if (!r.portable.empty()) j["portable"] = r.portable;
  if (!r.missing_ops.empty()) j["missing"] = missing_json(r.missing_ops), j["stub"] = stub_path(files.output);
  if (!r.placement.pieces.empty()) j["placement"] = placement_json(r.placement, target);
  if (files.size) j["size"] = size_json(size_report(view));
  return j;
}

void print_result(const CompiledFiles& files, const driver::CompileResult& r, const target::Target& target, const ProgramView& view,
                  double seconds) {
  const Certificate& c = *view.table().certificate;
  TextTable t({"", ""});
  for (const TensorSpec& spec : specs_of(view, false)) t.add({"input", spec.name + "  " + type_text(spec)});
  for (const TensorSpec& spec : specs_of(view, true)) t.add({"output", spec.name + "  " + type_text(spec)});
  t.add({"operators", number(view.table().instructions.size) + " of " + number(count_ops(view).size()) + " kinds"});
  t.add({"file", bytes_text(view.file_bytes())});
  if (!files.weights.empty()) t.add({"weights", files.weights + ", " + bytes_text(r.external.size())});
  t.add({"constants", bytes_text(c.constant_bytes)});
  const size_t strips = strip_count(view);
  t.add({"peak memory", bytes_text(r.peak_bytes) + " (lower bound " + bytes_text(r.lower_bound_bytes) + ")" +
                            (strips > 0 ? ", " + number(strips) + (strips > 1 ? " chains in strips" : " chain in strips") : "")});
  t.add({"target", target_of(view)});
  std::string portable;
  for (const std::string& name : r.portable) portable += (portable.empty() ? "" : ", ") + name;
  if (!portable.empty()) t.add({"portable kernels", portable});
  t.add({"multiply-adds", number(c.macs)});
  t.add({"golden examples", number(example_count(view))});
  char time[32];
  std::snprintf(time, sizeof time, "%.2f s", seconds);
  t.add({"compiled in", time});
  std::printf("%s -> %s\n%s", files.model.c_str(), files.output.c_str(), t.text().c_str());
  if (files.size) std::printf("%s", size_text(size_report(view), 20).c_str());
  for (const std::string& line : r.slow_paths) std::fprintf(stderr, "mote: warning: %s\n", line.c_str());
  print_placement(r.placement, target);
  for (const ir::MissingOp& m : r.missing_ops)
    std::fprintf(stderr, "mote: warning: %s is to be filled in for %zu %s: %s\n", m.symbol.c_str(), m.nodes.size(),
                 m.nodes.size() > 1 ? "nodes" : "node", stub_path(files.output).c_str());
  for (const std::string& note : r.notes) std::fprintf(stderr, "mote: note: %s\n", note.c_str());
}

}  // namespace mote::tools
