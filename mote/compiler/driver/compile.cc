#include "mote/compiler/driver/compile.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <set>
#include <stdexcept>

#include "mote/compiler/driver/check.h"
#include "mote/compiler/driver/slow_paths.h"
#include "mote/compiler/emit/builder.h"
#include "mote/compiler/emit/lower.h"
#include "mote/compiler/emit/program_text.h"
#include "mote/compiler/ir/verify.h"
#include "mote/compiler/schedule/place.h"
#include "mote/compiler/schedule/plan_text.h"

namespace mote::driver {
namespace {

using Clock = std::chrono::steady_clock;

constexpr float kDeviceTolerance = 1e-3f;  // of f32 on a backend, against the CPU

std::string file_part(const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); }

using Texts = std::vector<std::pair<std::string, std::string>>;

// A key appears once: what stands in `all` counts.
void add_missing(const Texts& more, Texts* all) {
  std::set<std::string> keys;
  for (const auto& pair : *all) keys.insert(pair.first);
  for (const auto& pair : more)
    if (keys.insert(pair.first).second) all->push_back(pair);
}

void expose(ir::Graph& graph) {
  for (ir::Method& m : graph.methods) {
    std::set<std::string> taken(m.output_names.begin(), m.output_names.end());
    for (const auto& node : m.block->nodes) {
      for (ir::Value* v : node->outputs) {
        if (v == nullptr || v->name.empty() || v->result_uses > 0 || dtype_bits(v->type.dtype) < 8) continue;
        if (taken.insert(v->name).second) graph.add_output(m, v->name, v);
      }
    }
  }
}

class Pipeline {
 public:
  Pipeline(const frontends::Source& source, const CompileOptions& options, CompileResult* out, ir::Problems* problems)
      : source_(source), options_(options), out_(*out), problems_(*problems) {}

  bool read(Signature* out) {
    ir::Graph graph;
    if (!import(graph)) return false;
    *out = signature_of(graph);
    return true;
  }

  bool run() {
    ir::Graph graph;
    if (!import(graph)) return false;
    const Signature signature = signature_of(graph);
    add_texts(graph);
    emit::ProgramRecords records;
    if (!optimize(graph) || !plan(graph, &records)) return false;
    if (options_.golden.count > 0 || !options_.golden.given.empty()) {
      if (!add_golden(signature, &records)) return false;
    }
    if (placed() && !place(graph, &records)) return false;
    stage("write", 0.95);
    const bool written = write(records, true, &out_.file);
    if (written && options_.external_weights) out_.external = std::move(records.segments[0].bytes);
    end_stage();
    return written;
  }

 private:
  void stage(const std::string& name, double fraction) {
    end_stage();
    name_ = name;
    begin_ = Clock::now();
    if (options_.progress) options_.progress(name, fraction);
  }
  void end_stage() {
    if (!name_.empty()) out_.stage_seconds.emplace_back(name_, std::chrono::duration<double>(Clock::now() - begin_).count());
    name_.clear();
  }
  bool fail(const std::string& where, const std::string& what, const std::string& advice = "") {
    problems_.push_back({where, what, advice});
    return false;
  }

  bool prints(const char* level) const { return options_.passes.print_after.count(level) + options_.passes.print_after.count("all") > 0; }
  void log(const std::string& text) {
    if (options_.passes.log) options_.passes.log(text);
    else out_.log += text;
  }

  bool import(ir::Graph& graph) {
    stage("import", 0);
    const frontends::Frontend* frontend = source_.import ? nullptr : frontends::find_frontend(source_);
    if (!source_.import && frontend == nullptr)
      return fail(file_part(source_.path), "expected an ONNX, TFLite or torch.export model, found none of these",
                  "see docs/compiling.md for what can be read");
    out_.frontend = source_.import ? source_.format : frontend->name;
    const bool done =
        source_.import ? source_.import(options_.import, graph, &problems_) : frontend->import(source_, options_.import, graph, &problems_);
    if (!done) return problems_.empty() ? fail(file_part(source_.path), "the model cannot be read") : false;
    return own_pass(options_.attach, "--audio-frontend", graph) && own_pass(options_.after_import, "own pass", graph);
  }

  bool own_pass(const std::function<bool(ir::Graph&, std::string*)>& pass, const char* name, ir::Graph& graph) {
    std::string error;
    if (!pass) return true;
    if (!pass(graph, &error)) return fail(name, error);
    graph.drop_unused_values();
    return ir::verify(graph, &error) || fail(name, "it leaves a broken graph: " + error);
  }

  // What the front end says (operator set, its producer) comes behind what holds for every program.
  void add_texts(ir::Graph& graph) const {
    Texts all = {{"producer", options_.producer},
                 {"source.model", file_part(source_.path)},
                 {"source.sha256", sha256_hex({source_.bytes.data, source_.bytes.size})},
                 {"source.format", out_.frontend}};
    if (!options_.options_text.empty()) all.emplace_back("options", options_.options_text);
    all.emplace_back("target", options_.target_name);
    all.insert(all.end(), options_.evidence.begin(), options_.evidence.end());
    add_missing(graph.evidence, &all);
    graph.evidence = std::move(all);
    all = options_.metadata;
    add_missing(graph.metadata, &all);
    graph.metadata = std::move(all);
  }

  bool optimize(ir::Graph& graph) {
    stage("passes", 0.1);
    passes::PassOptions p = options_.passes;
    p.target = &options_.target;
    if (placed()) p.winograd = false;  // the form is one of CPUs
    p.log = [this](const std::string& text) { log(text); };
    std::string error;
    if (!passes::run_passes(graph, p, &error))
      return fail("passes", error, "this is a defect of Mote: please report it with the model; --no-optimize may go around it");
    if (!own_pass(options_.after_passes, "own pass", graph)) return false;
    if (options_.expose_values) expose(graph);
    return true;
  }

  bool plan(const ir::Graph& graph, emit::ProgramRecords* records) {
    stage("plan", 0.3);
    schedule::Plan p;
    std::string error;
    schedule::PlanOptions how = options_.plan;
    how.target = &options_.target;
    // Placement chose the order: parts stand together, and the CPU works while a backend does.
    if (!out_.placement.blobs.empty()) how.reorder = false;
    if (!schedule::make_plan(graph, how, &p, &error)) return fail("plan", error);
    if (prints("plan")) log("-- after plan\n" + schedule::print(p, false));
    out_.peak_bytes = p.peak();
    out_.lower_bound_bytes = p.lower_bound;
    stage("lower", 0.4);
    emit::LowerOptions lower;
    lower.external_constants = options_.external_weights;
    lower.source_names = !options_.strip_names;
    lower.op_names = !options_.strip_names;
    if (options_.plan.in_order && !take_apart(p, lower)) return false;
    if (!emit::lower(p, lower, records, &error)) return fail("lower", error);
    if (prints("program")) log("-- after program\n" + emit::print(*records, false));
    const OpRegistry& ops = options_.plan.ops != nullptr ? *options_.plan.ops : emit::builtin_registry();
    const bool board = target::is_microcontroller(options_.target);
    if (board) out_.portable = op_names(slow_paths_on_board(*records, ops, 0));
    out_.slow_paths =
        describe(board ? slow_paths_on_board(*records, ops, kWorthAWordOnBoard) : slow_paths(*records, ops, kernels::best_isa(~0u)));
    return true;
  }

  // Keeps the plan's program for the emitter; then gives its tensors places that the runtime's verifier permits.
  bool take_apart(schedule::Plan& p, const emit::LowerOptions& lower) {
    std::string error;
    if (!emit::lower(p, lower, &out_.emitted, &error)) return fail("lower", error);
    for (schedule::Step& s : p.steps) s.in_order = false;
    for (schedule::Bank& b : p.banks) b.limit = b.size = 0;
    if (!schedule::place_buffers(p, options_.plan.alignment, emit::Effort::kThorough, &error)) return fail("plan", error);
    out_.apart_bytes = p.peak();
    return true;
  }

  bool placed() const { return !options_.backends.empty() || !options_.policy.text.empty(); }

  // The program as placement has it, in place of the one on the CPU alone, which the examples were made with.
  bool place(ir::Graph& graph, emit::ProgramRecords* records) {
    stage("place", 0.8);
    placement::PlaceOptions how;
    how.backends = options_.backends;
    how.policy = options_.policy;
    how.target = &options_.target;
    how.ops = options_.plan.ops;
    if (!placement::place(graph, how, &out_.placement, &problems_)) return false;
    graph.drop_unused_values();
    if (!plan(graph, records)) return false;
    // Another device adds in another order.
    float tolerance = kDeviceTolerance;
    for (const mote_backend_compiler* b : options_.backends) tolerance = std::max(tolerance, static_cast<float>(b->tolerance));
    for (Example& e : examples_)
      for (float& t : e.tolerances) t = t > 0 ? std::max(t, tolerance) : t;
    add_examples(examples_, records);
    placement::record(out_.placement, options_.policy, records);
    return true;
  }

  bool write(const emit::ProgramRecords& records, bool to_keep, emit::FileBytes* file) {
    std::string error;
    emit::WriteOptions options = options_.write;
    options.digests = options.digests && to_keep;
    const OpRegistry& ops = options_.plan.ops != nullptr ? *options_.plan.ops : emit::builtin_registry();
    if (emit::write_program(records, options, ops, file, &error)) return true;
    return fail("write", error, "this is a defect of Mote: please report it with the model");
  }

  bool add_golden(const Signature& signature, emit::ProgramRecords* records) {
    stage("check", 0.5);
    const RunBudget budget{options_.golden.memory_bytes, options_.golden.time_ms, options_.golden.work};
    CompileResult reference;
    HostProgram expected, found;
    const bool large = options_.golden.check_macs != 0 && records->certificate.macs > options_.golden.check_macs;
    const bool check = !large || options_.select != nullptr;
    CompileOptions plainly = reference_options(options_);
    plainly.passes.pack = large;  // fast kernels read packed weights
    plainly.passes.winograd = false;
    if (check && !compile(source_, plainly, &reference, &problems_)) return false;
    emit::FileBytes file;
    if (!write(*records, false, &file)) return false;
    const std::vector<uint8_t>& constants = records->segments[0].bytes;
    const ConstBytes external = options_.external_weights ? ConstBytes{constants.data(), constants.size()} : ConstBytes{};
    std::string error;
    const OpRegistry* ops = options_.plan.ops;
    if (!found.open(file.span(), external, budget, &error, ops) ||
        (check && !expected.open(reference.file.span(), {}, budget, &error, ops, large ? options_.select : nullptr))) {
      out_.notes.push_back("no golden example: " + error);
      return true;
    }
    CheckResult checked;
    const bool quantized = is_quantized({records->instructions.data(), records->instructions.size()});
    if (!make_examples(signature, options_.golden, check ? &expected : nullptr, found, quantized, large, &checked, &error))
      return fail("--golden", error);
    out_.notes.insert(out_.notes.end(), checked.notes.begin(), checked.notes.end());
    for (const std::string& fault : checked.faults)
      fail("check", fault, "this is a defect of Mote: please report it with the model; --no-fuse or --no-optimize may go around it");
    if (!checked.faults.empty()) return false;
    add_examples(checked.examples, records);
    examples_ = std::move(checked.examples);
    return true;
  }

  const frontends::Source& source_;
  const CompileOptions& options_;
  CompileResult& out_;
  ir::Problems& problems_;
  std::vector<Example> examples_;
  std::string name_;
  Clock::time_point begin_;
};

// Sizes that no memory holds are the model's fault.
template <class Work>
bool guarded(ir::Problems* problems, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    problems->push_back({"memory", "compiling this model needs more memory than there is", ""});
  } catch (const std::length_error&) {
    problems->push_back({"memory", "the model has a size that no memory can hold", ""});
  }
  return false;
}

}  // namespace

bool read_signature(const frontends::Source& source, const frontends::ImportOptions& options, Signature* out, ir::Problems* problems) {
  CompileOptions o;
  o.import = options;
  return read_signature(source, o, out, problems);
}

bool read_signature(const frontends::Source& source, const CompileOptions& options, Signature* out, ir::Problems* problems) {
  CompileOptions o;
  o.import = options.import;
  o.attach = options.attach;
  CompileResult ignored;
  return guarded(problems, [&] { return Pipeline(source, o, &ignored, problems).read(out); });
}

CompileOptions reference_options(const CompileOptions& options) {
  CompileOptions o;
  o.import = options.import;
  o.after_import = options.after_import;
  o.attach = options.attach;
  o.passes.fuse = o.passes.optimize = o.passes.pack = false;
  o.plan.reorder = o.plan.in_place = o.plan.views = false;
  o.plan.ops = options.plan.ops;
  o.golden.count = 0;
  o.write.digests = false;
  return o;
}

bool compile(const frontends::Source& source, const CompileOptions& options, CompileResult* out, ir::Problems* problems) {
  return guarded(problems, [&] { return Pipeline(source, options, out, problems).run(); });
}

}  // namespace mote::driver
