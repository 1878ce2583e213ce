#include "mote/compiler/driver/size_check.h"

#include <chrono>
#include <map>

#include "mote/compiler/driver/check.h"
#include "mote/compiler/driver/ranges.h"

namespace mote::driver {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTimeLimit{1000};

std::string list_of(const std::map<int32_t, std::string>& sizes) {
  std::string list;
  for (const auto& [size, why] : sizes) list += (list.empty() ? "" : ", ") + std::to_string(size);
  return list;
}

// The program beside the unoptimised model at fixed sizes.
class FixedSizes {
 public:
  FixedSizes(Context& context, const ModelFacts& model, const RunSetup& setup) : c_(context), model_(model), setup_(setup) {}

  // What the program gets wrong. *refused: the model itself cannot be compiled or run at these sizes.
  std::vector<std::string> faults(const frontends::ImportOptions& sizes, uint64_t seed, HostProgram& program, std::string* refused) const {
    CompileResult compiled;
    HostProgram reference;
    if (!open_reference(sizes, &compiled, &reference, refused)) return {};
    Example e;
    Random random(seed);
    for (uint32_t k = 0; k < model_.signature.methods[0].inputs.size(); ++k)
      e.inputs.push_back(make_random(reference.input_type(0, k), reference.input_dims(0, k), random));
    std::vector<Array> outputs;
    std::string error;
    if (!reference.run(0, e.inputs, &outputs, refused)) return {};
    if (!program.run(0, e.inputs, &outputs, &error)) return {"the program does not run: " + error};
    CheckResult checked;
    (void)check_example(model_.signature, reference, program, setup_.quantized, std::move(e), &checked, &error);
    return checked.faults;
  }

 private:
  bool open_reference(const frontends::ImportOptions& sizes, CompileResult* compiled, HostProgram* reference, std::string* refused) const {
    CompileOptions fixed = reference_options(c_.options);
    fixed.import = sizes;
    fixed.passes.pack = setup_.select != nullptr;
    ir::Problems problems;
    if (!compile(c_.source, fixed, compiled, &problems)) {
      *refused = problems.empty() ? "it cannot be compiled" : problems[0].where + ": " + problems[0].what;
      return false;
    }
    std::string ignored;
    return reference->open(compiled->file.span(), {}, setup_.budget, &ignored, c_.options.plan.ops, setup_.select);
  }

  Context& c_;
  const ModelFacts& model_;
  const RunSetup& setup_;
};

}  // namespace

void check_sizes(Context& c, const ModelFacts& model, const RunSetup& setup, HostProgram& program, std::vector<std::string>* faults) {
  const Clock::time_point end = Clock::now() + kTimeLimit;
  const FixedSizes fixed_sizes(c, model, setup);
  for (const ir::Symbol& symbol : model.symbols) {
    const std::vector<int32_t> sizes = sizes_to_try(symbol.min, symbol.max);
    std::map<int32_t, std::string> refused;  // by size
    size_t tried = 0;
    for (const size_t i : halving_order(sizes.size())) {
      if (Clock::now() > end) break;
      frontends::ImportOptions fixed = model.import;
      for (const ir::Symbol& other : model.symbols) fixed.dims[other.name] = {other.max, other.max};
      fixed.dims[symbol.name] = {sizes[i], sizes[i]};
      std::string why;
      for (const std::string& fault : fixed_sizes.faults(fixed, static_cast<uint64_t>(sizes[i]), program, &why))
        faults->push_back("at " + symbol.name + " = " + std::to_string(sizes[i]) + ": " + fault);
      if (!faults->empty()) return;
      if (!why.empty()) refused[sizes[i]] = why;
      ++tried;
    }
    if (refused.empty() || refused.size() == tried) continue;
    c.out.notes.push_back("'" + symbol.name + "': at " + list_of(refused) + " the model does not run on made-up inputs (" +
                          refused.begin()->second + ")");
  }
}

}  // namespace mote::driver
