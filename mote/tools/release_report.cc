#include "mote/tools/release_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "mote/tools/failure.h"
#include "mote/tools/files.h"
#include "mote/tools/partial.h"
#include "mote/tools/placement_summary.h"

namespace mote::tools {
namespace {

constexpr char kValidate[] = "not compared with the framework the model comes from: 'mote validate MODEL PROGRAM' does that";

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The nodes that an instruction stands for: passes join the names of what they fuse by '+', which a name may hold itself.
std::set<std::string> nodes_of(const std::string& source) {
  std::set<std::string> names = {source};
  for (size_t at = 0; at <= source.size();) {
    const size_t end = std::min(source.find('+', at), source.size());
    names.insert(source.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

// Of each operator of the model how many there are, and the instructions that carry the names of its nodes.
Json coverage_json(const ProgramView& view, const driver::CompileResult& r) {
  const ProgramTable& t = view.table();
  std::map<std::string, std::vector<std::string>> instructions;  // by the node's name
  for (uint32_t i = 0; i < t.instructions.size && i < t.source_names.size; ++i)
    for (const std::string& name : nodes_of(view.string(t.source_names[i]))) instructions[name].push_back(view.op_name(t.instructions[i]));
  struct Kind {
    size_t count = 0, alone = 0;
    std::map<std::string, size_t> became;
  };
  std::map<std::string, Kind> kinds;
  for (const ir::SourceNode& n : r.source_nodes) {
    Kind& k = kinds[n.op];
    ++k.count;
    const auto it = instructions.find(n.name);
    if (it == instructions.end()) ++k.alone;
    else
      for (const std::string& op : it->second) ++k.became[op];
  }
  const bool named = t.source_names.size > 0;
  Json types = Json::array();
  for (const auto& [op, k] : kinds) {
    Json j = {{"op", op}, {"count", k.count}};
    j["instructions"] = named ? Json(k.became) : Json(nullptr);
    j["without_instruction"] = named ? Json(k.alone) : Json(nullptr);
    types.push_back(std::move(j));
  }
  size_t refused = 0;
  for (const ir::SourceNode& n : r.source_nodes) refused += n.refused;
  return {{"operators", r.source_nodes.size()},
          {"supported", r.source_nodes.size() - refused},
          {"missing", missing_json(r.missing_ops)},
          {"types", types}};
}

Json comparison_json(const ProgramView& view, const driver::Comparison& c) {
  const char* const against[] = {"nothing", "unoptimised", "given"};
  const driver::Difference& d = c.difference;
  Json j = {{"method", view.string(view.table().methods[c.method].name)},
            {"example", c.example},
            {"output", c.output},
            {"against", against[static_cast<size_t>(c.against)]}};
  if (c.against == driver::Comparison::Against::kNothing) return j;
  j["same_type"] = d.same_type;
  j["identical"] = d.identical;
  j["specials_differ"] = d.specials_differ;
  j["elements"] = d.count;
  j["largest_error"] = d.largest_error;
  j["largest_expected"] = d.largest_expected;
  j["mean_error"] = d.mean_error;
  j["sqnr_db"] = std::isfinite(d.sqnr_db) ? Json(d.sqnr_db) : Json(nullptr);
  j["top1"] = d.top1;
  j["tolerance"] = c.tolerance;
  return j;
}

Json parity_json(const ProgramView& view, const ReportInput& in) {
  Json outputs = Json::array();
  bool any = false;
  for (const driver::Comparison& c : in.result->compared) {
    outputs.push_back(comparison_json(view, c));
    any |= c.against != driver::Comparison::Against::kNothing;
  }
  const char* reference = !any       ? "nothing: the examples hold the program's own results"
                          : in.given ? "outputs that were given (--golden), or the same model compiled by Mote without optimisation"
                                     : "the same model compiled by Mote without optimisation";
  return {{"reference", reference},
          {"source_framework", nullptr},
          {"inputs", in.given ? "given" : "made up"},
          {"kernels", in.result->compared_fast ? "fast" : "portable"},
          {"outputs", outputs},
          {"not_compared", kValidate}};
}

Json document(Json facts) {
  Json j = {{"schema", "mote.report"}, {"version", kReportVersion}, {"mote", mote_version()}, {"coverage", nullptr}, {"parity", nullptr}};
  j.update(facts);
  return j;
}

}  // namespace

Json file_report(const ProgramView& view, const std::string& path) {
  FactOptions options;
  options.path = path;
  return document(program_facts(view, options));
}

Json release_report(const ProgramView& view, const std::string& path, const ReportInput& in) {
  const driver::CompileResult& r = *in.result;
  FactOptions options;
  options.path = path;
  options.external = {r.external.data(), r.external.size()};
  options.target = &in.options->target;
  Json j = document(program_facts(view, options));
  j["source"]["bytes"] = in.model_bytes;
  if (!r.source_nodes.empty()) j["coverage"] = coverage_json(view, r);
  j["parity"] = parity_json(view, in);
  j["memory"]["peak_bytes"] = r.peak_bytes;
  j["memory"]["lower_bound_bytes"] = r.lower_bound_bytes;
  if (!in.weights.empty())
    j["program"]["weights"] = {{"file", in.weights}, {"bytes", r.external.size()}, {"sha256", driver::sha256_hex(options.external)}};
  if (!r.placement.pieces.empty()) j["placement"]["forecast"] = placement_json(r.placement, in.options->target);
  if (in.quantized != nullptr) j["quantization"]["measured"] = quantize_json(*in.quantized);
  j["notes"] = r.notes;
  return j;
}

void check_report_path(const std::string& path) {
  if (!ends_with(path, ".json") && !ends_with(path, ".html") && !ends_with(path, ".htm"))
    throw usage("--report: expected a name that ends with .html or .json, found '" + path + "'");
}

void write_report(const std::string& path, const Json& report, const std::string& sections) {
  const std::string text = ends_with(path, ".json") ? json_text(report) : report_html(report, sections);
  std::string error;
  if (!write_whole_file(path, {text.begin(), text.end()}, &error)) throw Failure(path + ": " + error);
}

}  // namespace mote::tools
