#include <algorithm>
#include <cstdio>

#include "mote/platform/clock.h"
#include "mote/tools/backends.h"
#include "mote/tools/commands.h"
#include "mote/tools/compile_checks.h"
#include "mote/tools/compile_settings.h"
#include "mote/tools/compile_summary.h"
#include "mote/tools/emit_source.h"
#include "mote/tools/emit_tosa.h"
#include "mote/tools/ethosu.h"
#include "mote/tools/files.h"
#include "mote/tools/inspect.h"
#include "mote/tools/model_file.h"
#include "mote/tools/nearest.h"
#include "mote/tools/partial.h"
#include "mote/tools/placement_summary.h"
#include "mote/tools/progress.h"
#include "mote/tools/quantize_settings.h"
#include "mote/tools/release_report.h"
#include "mote/tools/size_report.h"
#include "mote/tools/text_checks.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

struct CommandSettings {
  std::string model, output, weights, golden, labels, licence, emit = "mote", backends, policy, vela;
  std::vector<std::string> metadata;
  CompileSettings compile;
  QuantizeSettings quantize;
  std::vector<std::string> print_after;
  int golden_examples = -1;  // -1: one, within the driver's bounds
  bool time_passes = false, size = false, list_passes = false, partial = false, json = false;
};

// Metadata from the command line: what people should know of the program.
void add_texts(const CommandSettings& s, driver::CompileOptions* o) {
  for (const std::string& text : s.metadata) {
    const size_t at = text.find('=');
    if (at == std::string::npos || at == 0) throw usage("--metadata: expected KEY=VALUE, found '" + text + "'");
    o->metadata.emplace_back(text.substr(0, at), text.substr(at + 1));
  }
  check_metadata_keys(o->metadata);
  if (!s.licence.empty()) o->evidence.emplace_back("licence", s.licence);
  if (s.labels.empty()) return;
  std::vector<uint8_t> bytes;
  std::string error;
  if (!read_whole_file(s.labels, &bytes, &error)) throw Failure(s.labels + ": " + error);
  std::string labels(bytes.begin(), bytes.end());
  while (!labels.empty() && (labels.back() == '\n' || labels.back() == '\r')) labels.pop_back();
  o->metadata.emplace_back("labels", labels);
}

// Where parts of the model may run, and what the user demands of that.
void add_placement(const CommandSettings& s, driver::CompileOptions* o) {
  std::string error;
  if (!s.policy.empty()) {
    std::vector<uint8_t> bytes;
    if (!read_whole_file(s.policy, &bytes, &error)) throw Failure(s.policy + ": " + error);
    if (!placement::parse_policy(std::string(bytes.begin(), bytes.end()), &o->policy, &error)) throw Failure(s.policy + ": " + error);
    check_policy(s.policy, o->policy);
  }
  if (s.backends.empty()) return;
  bool cpu = false;
  o->backends = backend_compilers(s.backends, &cpu);
  if (!cpu && !o->backends.empty() && o->policy.all.forbid.empty()) o->policy.all.forbid = {"cpu"};
}

driver::CompileOptions all_options(const CommandSettings& s) {
  driver::CompileOptions o = options_of(s.compile);
  add_placement(s, &o);
  o.producer = std::string("mote ") + mote_version();
  o.external_weights = !s.weights.empty();
  o.passes.time_passes = s.time_passes;
  std::vector<std::string> known = passes::pass_names();
  known.insert(known.end(), {"all", "plan", "program"});
  for (const std::string& name : s.print_after) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw usage("--print-after: no pass is called '" + name + "'" + did_you_mean(name, known) +
                  ": 'mote compile --list-passes' lists them");
    o.passes.print_after.insert(name);
  }
  if (!s.golden.empty()) o.golden.given = read_examples(s.golden);
  if (s.golden_examples >= 0) ask_for_examples(s.golden_examples, &o);
  add_texts(s, &o);
  return o;
}

// Of a model with operators that its front end refused: what share is supported. Empty where nothing was refused.
Support support_after(const frontends::Source& source, const driver::CompileOptions& options, const driver::CompileResult& result) {
  const auto refused = [](const ir::SourceNode& n) { return n.refused; };
  const bool any = std::any_of(result.source_nodes.begin(), result.source_nodes.end(), refused);
  return any ? support_of(source, options, true) : Support{};
}

int report_problems(const CommandSettings& s, const ir::Problems& problems, const Support& support) {
  const std::string text = problems_text(s.model, problems);
  std::fprintf(stderr, "mote: %s%s", text.c_str(), support_text(support).c_str());
  if (s.json) {
    Json list = Json::array();
    for (const ir::Problem& p : problems) list.push_back({{"where", p.where}, {"what", p.what}, {"advice", p.advice}});
    Json error = {{"message", text.substr(0, text.find('\n'))}, {"problems", list}};
    if (support.operators > 0) error["coverage"] = support_json(support);
    print_json({{"error", error}});
  }
  return kFailed;
}

void save(const std::string& path, ConstBytes bytes) {
  std::string error;
  if (!emit::save_file(path, bytes, &error)) throw Failure(error);
}

void warn_of_ram(const CommandSettings& s, uint64_t wanted, uint64_t found) {
  if (wanted == 0 || found <= wanted) return;
  std::fprintf(stderr, "mote: warning: --ram %s: the smallest plan found takes %llu B, %llu B more\n", s.compile.ram.c_str(),
               static_cast<unsigned long long>(found), static_cast<unsigned long long>(found - wanted));
}

// Compiles, with a model's own options or quantized.
bool compile_model(const CommandSettings& s, const frontends::Source& source, const driver::CompileOptions& options, Progress* progress,
                   driver::CompileResult* result, QuantizeResult* quantized, ir::Problems* problems) {
  QuantizeSettings quantize = s.quantize;
  if (s.emit == "mote") {
    quantize.sections = !quantize.report.empty() && quantize.scheme.rfind("int", 0) == 0;
    quantize.report.clear();  // it has more to say than the quantizer's part
  }
  check_usage(quantize);
  if (s.emit == "cpp") quantize_for_source(&quantize);
  return quantize.wanted() ? compile_quantized(quantize, source, options, progress, result, quantized, problems)
                           : driver::compile(source, options, result, problems);
}

void save_report(const CommandSettings& s, const frontends::Source& source, const driver::CompileOptions& options,
                 const driver::CompileResult& result, const QuantizeResult& quantized, const ProgramView& view) {
  ReportInput in;
  in.model_bytes = source.bytes.size;
  in.weights = s.weights;
  in.given = !s.golden.empty();
  in.options = &options;
  in.result = &result;
  if (s.quantize.wanted()) in.quantized = &quantized;
  write_report(s.quantize.report, release_report(view, s.output, in), quantized.sections);
}

// C++ in place of a program.
int emit_cpp(const CommandSettings& s, const driver::CompileOptions& options, const driver::CompileResult& result) {
  const emit::CppFiles files = emit_source(s.output, s.compile.target, options, result);
  warn_of_ram(s, options.plan.strip_ram, files.ram_bytes);
  print_source(s.model, files, result, s.json);
  return kSuccess;
}

// Vela's part is the whole program.
int compile_for_ethosu(const CommandSettings& s) {
  if (s.emit != "mote") throw usage("--emit cpp: an Ethos-U is driven by the runtime: expected --emit mote");
  const frontends::Source source = open_model(s.model);
  check_output_path(s.output, s.model);
  const EthosUResult r = compile_ethosu(source, s.compile.target, s.vela);
  save(s.output, r.file.span());
  if (s.json) {
    print_json({{"model", s.model},
                {"file", s.output},
                {"target", r.accelerator},
                {"vela", r.version},
                {"cycles", r.cycles},
                {"predicted_ms", r.predicted_ns / 1e6},
                {"sram_bytes", r.sram_bytes},
                {"flash_bytes", r.flash_bytes},
                {"blob_bytes", r.blob_bytes},
                {"executed", false}});
    return kSuccess;
  }
  std::printf(
      "%s -> %s\n  target     %s, compiled by vela %s; not executed here\n  estimates  %.0f cycles, %.3f ms, %s of SRAM, %s of flash\n",
      s.model.c_str(), s.output.c_str(), r.accelerator.c_str(), r.version.c_str(), r.cycles, r.predicted_ns / 1e6,
      bytes_text(r.sram_bytes).c_str(), bytes_text(r.flash_bytes).c_str());
  return kSuccess;
}

// A TOSA FlatBuffer in place of a program.
int compile_to_tosa(const CommandSettings& s) {
  if (s.quantize.wanted()) throw usage("--emit tosa: writes a model as it is: expected no --quantize");
  const frontends::Source source = open_model(s.model);
  check_output_path(s.output, s.model);
  std::vector<uint8_t> bytes;
  ir::Problems problems;
  std::vector<std::string> rounding;
  if (!model_to_tosa(source, all_options(s), &bytes, &problems, &rounding)) return report_problems(s, problems, {});
  save(s.output, {bytes.data(), bytes.size()});
  if (s.json) {
    print_json({{"model", s.model}, {"file", s.output}, {"file_bytes", bytes.size()}, {"rounds_otherwise", rounding}});
    return kSuccess;
  }
  std::printf("%s -> %s, %s\n", s.model.c_str(), s.output.c_str(), bytes_text(bytes.size()).c_str());
  if (!rounding.empty()) std::printf("Scaled by floats here: TOSA's integers may differ by one step where these round (docs/tosa.md):\n");
  for (const std::string& node : rounding) std::printf("  %s\n", node.c_str());
  return kSuccess;
}

// Options that do not go together, or name no file that can be written.
void check_settings(const CommandSettings& s) {
  if (s.model.empty()) throw usage("MODEL is required");
  if (s.partial && (s.emit != "mote" || s.quantize.wanted())) throw usage("--partial: expected neither --emit cpp nor --quantize");
  if (s.output.empty()) throw usage("--output is required: mote compile MODEL -o OUT.mote");
  if (!s.quantize.report.empty()) {
    check_report_path(s.quantize.report);
    check_output_path(s.quantize.report, s.model);
    if (s.quantize.report == s.output) throw usage("--report: expected another file than the program, found '" + s.output + "'");
    if ((s.emit != "mote" && !s.quantize.wanted()) || is_ethosu(s.compile.target))
      throw usage("--report: expected a program for Mote's runtime (--emit mote), or --quantize, of which the page then tells");
  }
}

int compile(const CommandSettings& s) {
  if (s.list_passes) {
    for (const std::string& name : passes::pass_names()) std::printf("%s\n", name.c_str());
    return kSuccess;
  }
  check_settings(s);
  if (is_ethosu(s.compile.target)) return compile_for_ethosu(s);
  if (s.emit == "tosa") return compile_to_tosa(s);
  const uint64_t begin = clock_now_ns();
  Progress progress;
  progress.show("read", 0);
  driver::CompileOptions options = all_options(s);
  if (s.emit == "cpp") plan_for_source(s.output, s.compile.target, &options);
  const frontends::Source source = open_model(s.model);
  check_output_path(s.output, s.model);
  if (!s.weights.empty()) {
    check_output_path(s.weights, s.model);
    if (s.weights == s.output) throw usage("--external-weights: expected another file than the program, found '" + s.weights + "'");
  }
  options.progress = [&](const std::string& stage, double fraction) { progress.show(stage, fraction); };
  driver::CompileResult result;
  ir::Problems problems;
  QuantizeResult quantized;
  bool done = compile_model(s, source, options, &progress, &result, &quantized, &problems);
  if (!done && s.partial) done = compile_partial(source, options, &result, &problems);
  progress.clear();
  std::fprintf(stderr, "%s", result.log.c_str());
  if (!done) return report_problems(s, problems, support_after(source, options, result));
  if (s.emit == "cpp") {
    for (const std::string& warning : quantized.warnings) std::fprintf(stderr, "mote: warning: %s\n", warning.c_str());
    for (const std::string& note : result.notes) std::fprintf(stderr, "mote: note: %s\n", note.c_str());
    return emit_cpp(s, options, result);
  }
  warn_of_ram(s, options.plan.strip_ram, result.peak_bytes);
  if (!s.weights.empty()) save(s.weights, {result.external.data(), result.external.size()});
  // What a user said of images must hold before anything is written; what a model says of itself is worth a warning.
  for (const std::string& warning : check_texts(s.model, result.file.span(), options.metadata, s.labels))
    quantized.warnings.push_back(warning);
  if (!result.missing_ops.empty()) write_stub(result.missing_ops, s.model, s.output);
  save(s.output, result.file.span());
  const double seconds = static_cast<double>(clock_now_ns() - begin) / 1e9;
  const ProgramView view(s.output);
  if (!s.quantize.report.empty()) save_report(s, source, options, result, quantized, view);
  for (const std::string& warning : quantized.warnings) std::fprintf(stderr, "mote: warning: %s\n", warning.c_str());
  const CompiledFiles files{s.model, s.output, s.weights, s.size};
  if (s.json) {
    Json j = result_json(files, result, options.target, view, seconds);
    if (s.quantize.wanted()) j["quantization"] = quantize_json(quantized);
    print_json(j);
  } else {
    print_result(files, result, options.target, view, seconds);
    if (s.quantize.wanted()) std::printf("%s", quantize_text(quantized).c_str());
  }
  return kSuccess;
}

}  // namespace

void add_compile(CLI::App& app, Context& context) {
  auto s = std::make_shared<CommandSettings>();
  CLI::App* c = app.add_subcommand("compile", "Compile an ONNX or TFLite model into a program");
  c->add_option("MODEL", s->model, "model (.onnx, .tflite, .pt2, .pte, .tosa)");
  c->add_option("--output,-o", s->output, "program to write (.mote)");
  c->add_option("--emit", s->emit,
                "mote: a program (default); cpp: OUT.h and OUT.cc, which call kernels directly (docs/tinyml.md); tosa: a "
                "TOSA 1.0 FlatBuffer (docs/tosa.md)")
      ->check(CLI::IsMember({"mote", "cpp", "tosa"}));
  add_compile_options(c, &s->compile);
  add_quantize_options(c, &s->quantize);
  c->add_option("--external-weights", s->weights, "write the constants to this file instead, for several programs to share");
  c->add_option("--backends", s->backends, "where parts of the model may run, such as opencl,cpu; this build has " + backend_names());
  c->add_option("--vela", s->vela, "with --target ethos-u55-...: Arm's compiler (pip install ethos-u-vela; default: vela on PATH)");
  c->add_option("--policy", s->policy, "what placement must keep to (docs/backends.md)");
  c->add_option("--golden", s->golden, "folder of examples to carry: one .npy each, or a folder each with NAME.npy per input and output");
  c->add_option("--golden-examples", s->golden_examples,
                "examples to make up, each checked against the unoptimised model, whatever that costs (default: one, within bounds)")
      ->check(CLI::Range(0, 1000));
  c->add_option("--labels", s->labels, "text file with the names of an output's classes, one a line");
  c->add_option("--metadata", s->metadata, "a text for the program's users, KEY=VALUE; once for each")->allow_extra_args(false);
  c->add_option("--licence", s->licence, "licence of the model (SPDX), for the evidence");
  c->add_option("--print-after", s->print_after,
                "print the graph after these passes, the plan after 'plan', the program after 'program', or 'all'")
      ->delimiter(',')
      ->allow_extra_args(false);
  c->add_flag(
      "--partial", s->partial,
      "write what can be compiled: unsupported operators become custom ones, with a C++ file beside the program in which to fill them in");
  c->add_flag("--time-passes", s->time_passes, "print what each pass takes");
  c->add_flag("--size", s->size, "report what takes the space");
  c->add_flag("--list-passes", s->list_passes, "list the passes in the order they run");
  c->add_flag("--json", s->json, "print JSON (docs/json.md)");
  c->footer(
      "Example: mote compile mobilenet.onnx -o mobilenet.mote\n         mote compile bert.onnx -o bert.mote --dim batch=1 --dim "
      "seq=1..128");
  c->callback([s, &context] {
    context.json = s->json;
    context.exit_code = compile(*s);
  });
}

}  // namespace mote::tools
