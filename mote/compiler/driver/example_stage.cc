// The stage that makes examples: the program runs beside the unoptimised model, and its fast kernels beside the portable ones.

#include "mote/compiler/driver/check.h"
#include "mote/compiler/driver/kernel_check.h"
#include "mote/compiler/driver/size_check.h"
#include "mote/compiler/driver/stages.h"

namespace mote::driver {
namespace {

// Runs the fast kernels that this machine selects beside the portable ones, instruction by instruction.
bool check_kernels(Context& c, ConstBytes file, ConstBytes external, const RunBudget& budget, const Example& example) {
  if (c.options.select == nullptr || c.options.golden.kernel_work == 0) return true;
  c.begin_stage("kernels", 0.7);
  HostProgram program;
  program.on_progress(c.part_of_stage("kernels", 0.7, 0.8));
  KernelCheck kernels(c.options.select, c.options.golden.kernel_work);
  std::string error;
  std::vector<Array> ignored;
  const std::string advice =
      "this is a defect of Mote's kernels on this machine: please report it with the model; --golden-examples 0 compiles without this "
      "check, and what it makes is right with --kernels portable";
  if (!program.open(file, external, budget, &error, c.options.plan.ops, c.options.select, &kernels) ||
      !program.run(example.method, example.inputs, &ignored, &error))
    return c.fail("check", "the program does not run with fast kernels: " + error, advice);
  for (const KernelDifference& d : kernels.differences()) c.fail("check", d.text(), advice);
  return kernels.differences().empty();
}

// The model without optimization, compiled at the same ranges.
bool compile_reference(Context& c, const ModelFacts& model, bool large, CompileResult* out) {
  CompileOptions options = reference_options(c.options);
  options.passes.pack = large;  // a large model runs with fast kernels, which read packed weights
  options.passes.winograd = false;
  options.import = model.import;
  if (c.options.progress)
    options.progress = [heard = c.part_of_stage("reference", 0.5, 0.55)](const std::string&, double part) { heard(part); };
  return compile(c.source, options, out, &c.problems);
}

}  // namespace

bool make_examples(Context& c, const ModelFacts& model, const program::ProgramRecords& records, std::vector<Example>* out) {
  c.begin_stage("reference", 0.5);
  const GoldenOptions& golden = c.options.golden;
  const bool large = golden.check_macs != 0 && records.certificate.macs > golden.check_macs;
  RunSetup setup;
  setup.budget = {golden.memory_bytes, golden.time_ms, golden.work};
  if (large) setup.select = golden.select != nullptr ? golden.select : c.options.select;
  setup.quantized = is_quantized({records.instructions.data(), records.instructions.size()});
  // Portable kernels would take too long for a large model: without fast ones nothing runs beside it.
  const bool check = golden.reference && (!large || setup.select != nullptr);
  CompileResult compiled;
  if (check && !compile_reference(c, model, large, &compiled)) return false;

  c.begin_stage("check", 0.55);
  program::FileBytes file;
  if (!write(c, records, Purpose::kExamples, &file)) return false;
  const std::vector<uint8_t>& constants = records.segments[0].bytes;
  const ConstBytes external = c.options.external_weights ? ConstBytes{constants.data(), constants.size()} : ConstBytes{};
  std::string error;
  const OpRegistry* ops = c.options.plan.ops;
  HostProgram reference, program;
  const size_t examples = golden.given.empty() ? model.signature.methods.size() * static_cast<size_t>(golden.count) : golden.given.size();
  RunsOfTwo runs(c.part_of_stage("check", 0.55, 0.7), static_cast<double>(examples * (check ? 2 : 1)));
  program.on_progress(runs.first());
  reference.on_progress(runs.second());
  if (!program.open(file.span(), external, setup.budget, &error, ops, setup.select) ||
      (check && !reference.open(compiled.file.span(), {}, setup.budget, &error, ops, setup.select))) {
    c.out.notes.push_back("no golden example: " + error);
    return true;
  }
  CheckResult checked;
  if (!make_examples(model.signature, golden, check ? &reference : nullptr, program, setup.quantized, large, &checked, &error))
    return c.fail("--golden", error);
  if (check && !checked.examples.empty()) check_sizes(c, model, setup, program, &checked.faults);
  c.out.compared = std::move(checked.compared);
  c.out.compared_fast = setup.select != nullptr;
  c.out.notes.insert(c.out.notes.end(), checked.notes.begin(), checked.notes.end());
  for (const std::string& fault : checked.faults)
    c.fail("check", fault, "this is a defect of Mote: please report it with the model; --no-fuse or --no-optimize may go around it");
  if (!checked.faults.empty()) return false;
  if (!checked.examples.empty() && !check_kernels(c, file.span(), external, setup.budget, checked.examples[0])) return false;
  *out = std::move(checked.examples);
  return true;
}

}  // namespace mote::driver
