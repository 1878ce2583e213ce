#include "mote/tools/partial.h"

#include <algorithm>
#include <set>

#include "mote/compiler/driver/stand_ins.h"
#include "mote/tools/program_view.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

bool compile_missing(const frontends::Source& source, driver::CompileOptions options, const std::vector<ir::MissingOp>& missing,
                     driver::CompileResult* result, ir::Problems* problems) {
  if (missing.size() > driver::kMostMissing) {
    problems->push_back({"--partial",
                         std::to_string(missing.size()) + " kinds of operators are missing; at most " +
                             std::to_string(driver::kMostMissing) + " can be custom ones",
                         ""});
    return false;
  }
  const driver::StandIns stand_ins(missing);
  options.import.partial = true;
  options.plan.ops = &stand_ins.ops();
  options.golden.count = 0;
  options.golden.given.clear();
  return driver::compile(source, options, result, problems);
}

std::string percent(size_t part, size_t all) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", all > 0 ? 100 * static_cast<double>(part) / static_cast<double>(all) : 0);
  return text;
}

Json tensors_json(const std::vector<ir::MissingOp::Tensor>& tensors) {
  Json all = Json::array();
  for (const auto& t : tensors)
    all.push_back(t.type.dtype == DType::kNone ? Json(nullptr)
                                               : Json{{"name", t.name}, {"dtype", dtype_name(t.type.dtype)}, {"dims", t.type.dims}});
  return all;
}

}  // namespace

Support support_of(const frontends::Source& source, const driver::CompileOptions& options, bool with_macs) {
  Support s;
  std::vector<ir::SourceNode> nodes;
  const bool done = driver::read_missing(source, options, &nodes, &s.missing, &s.remaining);
  s.operators = nodes.size();
  for (const ir::SourceNode& n : nodes) s.supported += !n.refused;
  if (!done || !with_macs) return s;
  driver::CompileResult result;
  ir::Problems problems;
  if (!compile_missing(source, driver::reference_options(options), s.missing, &result, &problems)) return s.remaining = problems, s;
  const ProgramView view("program", result.file.span());
  s.has_macs = true;
  s.macs = view.table().certificate->macs;
  return s;
}

std::string support_text(const Support& s) {
  if (s.operators == 0) return "";
  std::string text =
      "supported: " + number(s.supported) + " of " + number(s.operators) + " operators (" + percent(s.supported, s.operators) + ")";
  if (!s.remaining.empty())
    return text + "; those behind one whose results have no known type and shape count as supported where Mote has them\n";
  std::set<std::string> names;
  for (const ir::MissingOp& kind : s.missing) names.insert(kind.op);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  if (s.has_macs) text += ", with " + number(s.macs) + " multiply-adds; what " + list + " would add to these is not known";
  return text + "\n--partial writes the program without " + (s.missing.size() > 1 ? "them" : "it") + ", and a C++ file in which to fill " +
         (s.missing.size() > 1 ? "them" : "it") + " in\n";
}

Json support_json(const Support& s) {
  Json j = {{"operators", s.operators}, {"supported", s.supported}, {"partial", s.remaining.empty()}, {"missing", missing_json(s.missing)}};
  j["macs_supported"] = s.has_macs ? Json(s.macs) : Json(nullptr);
  return j;
}

bool compile_partial(const frontends::Source& source, const driver::CompileOptions& options, driver::CompileResult* result,
                     ir::Problems* problems) {
  std::vector<ir::SourceNode> nodes;
  std::vector<ir::MissingOp> missing;
  ir::Problems found;
  if (!driver::read_missing(source, options, &nodes, &missing, &found)) return *problems = found, false;
  if (missing.empty()) return false;  // something else is wrong, and reported
  problems->clear();
  *result = {};
  return compile_missing(source, options, missing, result, problems);
}

Json missing_json(const std::vector<ir::MissingOp>& missing) {
  Json all = Json::array();
  for (const ir::MissingOp& kind : missing) {
    Json attributes = Json::object();
    for (const auto& [name, value] : kind.attributes) attributes[name] = value;
    all.push_back({{"name", kind.symbol},
                   {"op", kind.op},
                   {"why", kind.why},
                   {"nodes", kind.nodes},
                   {"attributes", attributes},
                   {"inputs", tensors_json(kind.inputs)},
                   {"outputs", tensors_json(kind.outputs)}});
  }
  return all;
}

}  // namespace mote::tools
