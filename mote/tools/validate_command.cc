#include <algorithm>
#include <cmath>
#include <cstdio>

#include "mote/compiler/driver/check.h"
#include "mote/compiler/driver/narrow_io.h"
#include "mote/platform/file.h"
#include "mote/tools/commands.h"
#include "mote/tools/compile_settings.h"
#include "mote/tools/failure.h"
#include "mote/tools/first_difference.h"
#include "mote/tools/input_option.h"
#include "mote/tools/json_out.h"
#include "mote/tools/model_file.h"
#include "mote/tools/program_options.h"
#include "mote/tools/progress.h"
#include "mote/tools/quantize_settings.h"
#include "mote/tools/text_table.h"
#include "mote/tools/validate_kernels.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

struct ValidateSettings {
  std::string model, file, weights, reference = "auto";
  std::vector<std::string> inputs;
  int samples = 3;
  double tolerance = -1, sqnr_db = -1;  // below 0: as the kind of model asks
  bool json = false;
  QuantizeSettings data;  // of a quantized program
};

// One output over all samples.
struct OutputResult {
  std::string name;
  bool same_type = true, passed = true;
  double largest_error = 0, largest_expected = 0, mean_error = 0, top1 = 0, sqnr_db = INFINITY;
};

// A program file, mapped, ready to run.
struct OpenProgram {
  OpenProgram(const std::string& path, const std::string& weights) {
    map(path, &file);
    if (!weights.empty()) map(weights, &external);
    std::string error;
    if (!program.open(file.bytes(), external.bytes(), {}, &error)) throw Failure(path + ": cannot open the program: " + error);
  }
  static void map(const std::string& path, MappedFile* out) {
    if (const Status s = MappedFile::open(path.c_str(), out); !s.ok())
      throw Failure(path + ": cannot open the file: " + why_text(s.why()), s.bits());
  }
  const ProgramTable& table() const { return program.program().table(); }
  std::string evidence(const std::string& key) const {
    for (const Pair& p : table().evidence)
      if (table().string(p.key) == key) return table().string(p.value);
    return "";
  }

  MappedFile file, external;
  driver::HostProgram program;
};

class Validation {
 public:
  Validation(const ValidateSettings& s, Progress* progress)
      : s_(s), progress_(*progress), source_(open_model(s.model)), open_(s.file, s.weights), options_(model_options(&narrow_io_)) {
    ir::Problems problems;
    driver::Signature signature;
    if (!driver::read_signature(source_, options_, &signature, &problems)) throw Failure(problems_text(s.model, problems));
    samples_ = make_samples(s.inputs, s.samples, signature.methods[0]);
    check_source();
    choose_judgement();
  }

  int run() {
    progress_.show("running the program", 0.1);
    for (const Sample& sample : samples_) {
      inputs_.emplace_back();
      for (const NamedArray& in : sample.inputs) inputs_.back().push_back(in.array);
      if (narrow_io_) driver::to_codes(open_.table(), &inputs_.back());
    }
    run_default();
    progress_.show("running the reference", 0.2);
    reference_ = run_reference(false);
    compare();
    if (!outputs_passed() && judgement_.least_db > 0 && reference_.runtime.compare(0, 11, "onnxruntime") == 0) try_optimized();
    compare_kernels();
    progress_.show("looking for the first difference", 0.8);
    if (!outputs_passed() && kernels_.differences.empty()) locate();
    progress_.clear();
    if (s_.json) print_results();
    else print_text();
    return passed() ? kSuccess : kFailed;
  }

 private:
  // How the program was compiled, but with the model's own inputs and outputs: 8-bit ones are judged by the numbers they stand for.
  driver::CompileOptions model_options(bool* narrow_io) const {
    driver::CompileOptions o = options_of(settings_of(open_.evidence("options")));
    *narrow_io = o.io_int8;
    o.io_int8 = false;
    return o;
  }

  void check_source() {
    const std::string recorded = open_.evidence("source.sha256");
    if (!recorded.empty() && recorded != driver::sha256_hex({source_.bytes.data, source_.bytes.size}))
      notes_.push_back("the program says it was compiled from another file than " + s_.model);
  }

  void choose_judgement() {
    const bool quantized = driver::is_quantized(open_.table().instructions) && (narrow_io_ || open_.evidence("source.format") == "onnx");
    judgement_ = judgement_of(s_.tolerance, s_.sqnr_db, quantized);
  }

  // The runtime that models of this format are made for; empty where there is none that Python can run.
  std::string fitting_runtime() const {
    const frontends::Frontend* frontend = frontends::find_frontend(source_);
    const std::string format = frontend != nullptr ? frontend->name : "";
    for (const auto& [name, runtime] :
         {std::pair{"onnx", "onnxruntime"}, {"tflite", "litert"}, {"torch", "torch"}, {"executorch", "executorch"}})
      if (format == name) return runtime;
    return "";
  }

  ReferenceResult run_reference(bool all) {
    if (options_.attach && s_.reference == "auto" && !fallen_back_) {
      notes_.push_back("the program takes samples, which other runtimes' models do not: compared with Mote's own unoptimised evaluation");
      fallen_back_ = true;
    }
    const std::string runtime = s_.reference == "auto" ? fitting_runtime() : s_.reference;
    if (runtime.empty() && !fallen_back_) {
      notes_.push_back("models of this format have no runtime to ask: compared with Mote's own unoptimised evaluation");
      fallen_back_ = true;
    }
    if (runtime != "mote" && !fallen_back_) {
      ReferenceResult r;
      bool missing = false;
      std::string error;
      if (run_python(runtime, s_.model, samples_, all, &r, &missing, &error)) return r;
      if (s_.reference != "auto") throw Failure(runtime + ": " + error);
      notes_.push_back(runtime + (missing ? " is not installed (" : " cannot run the model (") + error +
                       "); compared with Mote's own unoptimised evaluation");
      fallen_back_ = true;
    }
    return run_mote(source_, driver::reference_options(options_), samples_, all);
  }

  void compare() {
    const Method& m = open_.table().methods[0];
    if (reference_.output_count != m.output_count)
      throw Failure(s_.file + ": expected " + std::to_string(reference_.output_count) + " outputs, as the reference has, found " +
                    std::to_string(m.output_count));
    for (uint32_t i = 0; i < m.output_count; ++i) {
      OutputResult r;
      r.name = open_.table().string(open_.table().ios[m.first_output + i].name);
      for (size_t k = 0; k < samples_.size(); ++k) {
        const Array& expected = expected_output(k, i, r.name);
        const driver::Difference d = driver::difference(found_[k][i], expected);
        r.same_type &= d.same_type;
        const bool agreed = agrees(found_[k][i], expected, judgement_);
        r.passed &= agreed;
        if (!agreed && failing_ == kNone) failing_ = k;
        if (!d.same_type) continue;
        r.largest_error = std::max(r.largest_error, d.largest_error);
        r.largest_expected = std::max(r.largest_expected, d.largest_expected);
        r.mean_error += d.mean_error / static_cast<double>(samples_.size());
        r.top1 += d.top1 / static_cast<double>(samples_.size());
        r.sqnr_db = std::min(r.sqnr_db, d.sqnr_db);
      }
      results_.push_back(r);
    }
  }

  bool passed() const { return outputs_passed() && kernels_.passed(); }
  bool outputs_passed() const {
    return std::all_of(results_.begin(), results_.end(), [](const OutputResult& r) { return r.passed; });
  }

  // With the kernels that a user of this machine gets.
  void run_default() {
    driver::HostProgram program;
    program.on_progress(
        [this](double runs) { progress_.show("running the program", 0.1 + 0.1 * runs / static_cast<double>(inputs_.size())); });
    std::string error;
    if (!program.open(open_.file.bytes(), open_.external.bytes(), {}, &error, nullptr, options_.select))
      throw Failure(s_.file + ": " + error);
    for (const std::vector<Array>& inputs : inputs_) {
      std::vector<Array> outputs;
      if (!program.run(0, inputs, &outputs, &error)) throw Failure(s_.file + ": " + error);
      if (narrow_io_) driver::to_real(open_.table(), &outputs);
      found_.push_back(std::move(outputs));
    }
  }

  // Every set of kernels beside the same reference. Where the outputs are wrong with all of them, the kernels are not to blame.
  void compare_kernels() {
    const Method& m = open_.table().methods[0];
    const auto agreed = [&](size_t sample, Arrays outputs) {
      if (narrow_io_) driver::to_real(open_.table(), &outputs);
      for (uint32_t i = 0; i < m.output_count; ++i)
        if (!agrees(outputs[i], expected_output(sample, i, results_[i].name), judgement_)) return false;
      return true;
    };
    const auto heard = [this](double part) { progress_.show("comparing kernels", 0.5 + 0.3 * part); };
    heard(0);
    kernels_ = validate_kernels(open_.file.bytes(), open_.external.bytes(), inputs_, kPortableWork, agreed, heard);
  }

  // Where a model amplifies rounding, ONNX Runtime's own integer arithmetic is as far from its float emulation as ours: agreeing with
  // either is right.
  void try_optimized() {
    ReferenceResult other;
    bool missing = false;
    std::string error;
    if (!run_python("onnxruntime-optimized", s_.model, samples_, false, &other, &missing, &error)) return;
    const std::vector<OutputResult> first_results = std::move(results_);
    const size_t first_failing = failing_;
    std::swap(reference_, other);
    results_.clear();
    failing_ = kNone;
    compare();
    if (passed()) {
      double db = INFINITY;
      for (const OutputResult& r : first_results) db = std::min(db, r.sqnr_db);
      notes_.push_back("with its optimisations off, which emulates integers with floats, " + other.runtime +
                       " differs from its own integers: SQNR " + decibels(db) + " dB");
      return;
    }
    std::swap(reference_, other);
    results_ = first_results;
    failing_ = first_failing;
  }

  // By name where the reference has it, otherwise by place: names of signatures and tensors differ.
  const Array& expected_output(size_t sample, size_t i, const std::string& name) const {
    const std::vector<NamedArray>& values = reference_.values[sample];
    for (size_t k = 0; k < reference_.output_count; ++k)
      if (values[k].name == name) return values[k].array;
    return values[i].array;
  }

  void locate() {
    samples_ = {samples_[failing_]};
    std::map<std::string, std::string> nodes;
    try {
      ReferenceResult found = run_mote(source_, options_, samples_, true, &nodes);
      // The model's outputs stand in front of the values in between, which are in the order of the program.
      std::vector<NamedArray>& values = found.values[0];
      std::rotate(values.begin(), values.begin() + static_cast<long>(std::min(results_.size(), values.size())), values.end());
      const ReferenceResult expected = run_reference(true);
      first_ = first_difference(values, expected.values[0], nodes, judgement_);
    } catch (const Failure& f) {
      notes_.push_back(std::string("the first difference cannot be found: ") + f.what());
    }
  }

  void print_text() const {
    TextTable table({"output", "largest error", "of", "mean error", "SQNR dB", "top-1", "result"});
    for (const OutputResult& r : results_)
      table.add({r.name, real(r.largest_error), real(r.largest_expected), real(r.mean_error), decibels(r.sqnr_db),
                 real(100 * r.top1) + " %",
                 r.passed      ? "ok"
                 : r.same_type ? "WRONG"
                               : "WRONG SHAPE"});
    std::printf("%s against %s, %zu inputs\n%sright where: %s\n", s_.file.c_str(), reference_.runtime.c_str(), found_.size(),
                table.text().c_str(), judgement_.text().c_str());
    std::string sets;
    for (const KernelRuns& r : kernels_.sets) {
      sets += (sets.empty() ? "" : ", ") + r.kernels + (r.threads > 1 ? " on " + std::to_string(r.threads) + " threads" : "");
      if (r.runs < inputs_.size()) sets += " (" + std::to_string(r.runs) + " of them)";
      sets += r.problem.empty() ? " ok" : " WRONG: " + r.problem;
    }
    std::printf("kernels: %s\n", sets.c_str());
    for (const driver::KernelDifference& d : kernels_.differences)
      std::printf("WRONG kernel of %s: %s\n", kernels_.set.c_str(), d.text().c_str());
    for (const std::string& note : notes_) std::fprintf(stderr, "mote: note: %s\n", note.c_str());
    if (outputs_passed() || !kernels_.differences.empty()) return;
    if (first_.found)
      std::printf("first difference, after %zu values that agree: '%s' from %s: largest error %s of %s, SQNR %s dB\n", first_.compared - 1,
                  first_.value.c_str(), first_.node.c_str(), real(first_.difference.largest_error).c_str(),
                  real(first_.difference.largest_expected).c_str(), decibels(first_.difference.sqnr_db).c_str());
    else std::printf("none of %zu intermediate values differs by itself\n", first_.compared);
  }

  static Json finite(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

  void print_results() const {
    Json outputs = Json::array();
    for (const OutputResult& r : results_)
      outputs.push_back({{"name", r.name},
                         {"same_type", r.same_type},
                         {"largest_error", r.largest_error},
                         {"largest_expected", r.largest_expected},
                         {"mean_error", r.mean_error},
                         {"sqnr_db", finite(r.sqnr_db)},
                         {"top1", r.top1},
                         {"passed", r.passed}});
    Json sets = Json::array(), differences = Json::array();
    for (const KernelRuns& r : kernels_.sets)
      sets.push_back(
          {{"kernels", r.kernels}, {"threads", r.threads}, {"samples", r.runs}, {"passed", r.problem.empty()}, {"problem", r.problem}});
    for (const driver::KernelDifference& d : kernels_.differences)
      differences.push_back({{"kernels", kernels_.set},
                             {"instruction", d.instruction},
                             {"op", d.op},
                             {"node", d.node},
                             {"output", d.output},
                             {"between_threads", d.between_parts},
                             {"largest_error", d.difference.largest_error},
                             {"allowed_error", d.allowed}});
    Json j = {{"model", s_.model},
              {"file", s_.file},
              {"reference", reference_.runtime},
              {"samples", found_.size()},
              {"tolerance", judgement_.tolerance},
              {"absolute_tolerance", judgement_.floor},
              {"least_sqnr_db", judgement_.least_db > 0 ? Json(judgement_.least_db) : Json(nullptr)},
              {"passed", passed()},
              {"outputs", outputs},
              {"kernels", sets},
              {"kernel_differences", differences},
              {"notes", notes_}};
    if (first_.found)
      j["first_difference"] = {{"value", first_.value},
                               {"node", first_.node},
                               {"largest_error", first_.difference.largest_error},
                               {"largest_expected", first_.difference.largest_expected},
                               {"sqnr_db", finite(first_.difference.sqnr_db)}};
    print_json(j);
  }

  static constexpr size_t kNone = ~size_t{0};
  static constexpr uint64_t kPortableWork = 1000000000;  // multiply-adds that portable kernels may take: some seconds

  const ValidateSettings& s_;
  Progress& progress_;
  const frontends::Source source_;
  OpenProgram open_;
  bool narrow_io_ = false;
  const driver::CompileOptions options_;
  std::vector<Sample> samples_;
  KernelValidation kernels_;
  std::vector<std::vector<Array>> inputs_, found_;  // of the program, for each sample
  ReferenceResult reference_;
  Judgement judgement_;
  std::vector<OutputResult> results_;
  size_t failing_ = kNone;
  bool fallen_back_ = false;
  FirstDifference first_;
  std::vector<std::string> notes_;
};

int validate_evidence(const ValidateSettings& s, Progress* progress) {
  const frontends::Source source = open_model(s.model);
  const OpenProgram open(s.file, s.weights);
  const bool good = validate_quantized(s.data, source, options_of(settings_of(open.evidence("options"))), open.file.bytes(),
                                       open.external.bytes(), progress, s.json);
  return good ? kSuccess : kFailed;
}

}  // namespace

void add_validate(CLI::App& app, Context& context) {
  auto s = std::make_shared<ValidateSettings>();
  CLI::App* c = app.add_subcommand("validate", "Compare a program with a reference for the model it was compiled from");
  c->add_option("MODEL", s->model, "model (.onnx, .tflite)")->required();
  c->add_option("FILE", s->file, "program (.mote)")->required();
  c->add_option("--input,-i", s->inputs, std::string(kInputHelp) + "; the others are made up")->allow_extra_args(false);
  c->add_option("--samples", s->samples, "made-up inputs to try (default 3)")->check(CLI::Range(1, 10000));
  c->add_option("--reference", s->reference,
                "auto, onnxruntime, litert, torch, executorch (through python3 or $MOTE_PYTHON) or mote (unoptimised)")
      ->check(CLI::IsMember({"auto", "onnxruntime", "litert", "torch", "executorch", "mote"}));
  c->add_option("--tolerance", s->tolerance,
                "largest error allowed, relative to the largest expected value; it alone counts then (see below)")
      ->check(CLI::NonNegativeNumber);
  c->add_option("--sqnr", s->sqnr_db, "or signal to error ratio that is good enough, dB (see below)")->check(CLI::NonNegativeNumber);
  c->add_option("--weights", s->weights, kWeightsHelp);
  const char* group = "Evidence of quantizing (docs/quantization.md)";
  c->add_option("--calibrate", s->data.calibrate, "the data that calibrated: quantize again and compare all evidence")->group(group);
  c->add_option("--test", s->data.test, "the data that the program was measured on: measure it again")->group(group);
  c->add_option("--truth", s->data.truth, "right classes of the --test inputs")->group(group);
  c->add_flag("--json", s->json, "print JSON (docs/json.md)");
  c->footer(how_it_judges());
  c->callback([s, &context] {
    context.json = s->json;
    const bool evidence = !s->data.calibrate.empty() || !s->data.test.empty();
    Progress progress;
    progress.show("reading the model", 0);
    context.exit_code = evidence ? validate_evidence(*s, &progress) : Validation(*s, &progress).run();
  });
}

}  // namespace mote::tools
