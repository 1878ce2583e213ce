#include "mote/tools/validate_kernels.h"

#include <algorithm>

#include "mote/compiler/driver/run.h"
#include "mote/platform/cpu.h"
#include "mote/platform/thread_pool.h"
#include "mote/tools/failure.h"

namespace mote::tools {
namespace {

using kernels::Isa;

// The most able first; portable ones last.
std::vector<Isa> sets_here() {
  std::vector<Isa> sets = {kernels::best_isa(cpu_features())};
  for (auto i = static_cast<uint8_t>(Isa::kCount); i-- > 1;)
    if (const auto isa = static_cast<Isa>(i); isa != sets[0] && kernels::can_run(isa, cpu_features())) sets.push_back(isa);
  if (sets[0] != Isa::kPortable) sets.push_back(Isa::kPortable);
  return sets;
}

class Validator {
 public:
  Validator(ConstBytes file, ConstBytes external, const std::vector<Arrays>& inputs,
            const std::function<bool(size_t, const Arrays&)>& agrees, const PartHeard& heard)
      : file_(file), external_(external), inputs_(inputs), agrees_(agrees), heard_(heard) {}

  KernelValidation run(uint64_t portable_work) {
    const std::vector<Isa> sets = sets_here();
    steps_ = sets.size() + 2;  // the default set twice, the other ones, the comparison by instruction
    out_.outputs = try_set(sets[0], 1, inputs_.size());
    const std::vector<Arrays> shared = try_set(sets[0], 2, inputs_.size());
    for (size_t i = 0; i < std::min(shared.size(), out_.outputs.size()); ++i)
      if (!same_bits(shared[i], out_.outputs[i]) && out_.sets[1].problem.empty()) out_.sets[1].problem = "other bits than on one thread";
    for (size_t k = 1; k < sets.size(); ++k)
      try_set(sets[k], 1, sets[k] != Isa::kPortable || macs_ == 0 ? inputs_.size() : std::max<uint64_t>(1, portable_work / macs_));
    // Where a set is wrong, its instructions are looked at; otherwise those of the default.
    Isa looked_at = sets[0];
    size_t sample = 0;
    for (size_t k = out_.sets.size(); k-- > 0;)
      if (!out_.sets[k].problem.empty() && out_.sets[k].kernels != kernels::isa_name(Isa::kPortable)) {
        looked_at = sets[k < 2 ? 0 : k - 1];
        sample = failed_[k];
      }
    if (looked_at != Isa::kPortable && !inputs_.empty()) compare_instructions(looked_at, sample);
    return std::move(out_);
  }

 private:
  std::vector<Arrays> try_set(Isa isa, uint32_t threads, size_t most) {
    KernelRuns r{kernels::isa_name(isa), threads, 0, ""};
    failed_.push_back(0);
    ThreadPool pool;
    driver::HostProgram program;
    program.on_progress(step(std::min(most, inputs_.size())));
    if (threads > 1 && pool.start(threads)) program.use_threads(&pool.threads());
    std::string error;
    std::vector<Arrays> all;
    if (!program.open(file_, external_, {}, &error, nullptr, kernels::select_for(isa))) throw Failure("cannot open the program: " + error);
    macs_ = program.program().table().certificate->macs;
    for (size_t i = 0; i < std::min(most, inputs_.size()); ++i) {
      Arrays outputs;
      if (!program.run(0, inputs_[i], &outputs, &error)) throw Failure("with the kernels of " + r.kernels + ": " + error);
      if (r.problem.empty() && !agrees_(i, outputs)) {
        r.problem = "differs from the reference on input " + std::to_string(i + 1);
        failed_.back() = i;
      }
      all.push_back(std::move(outputs));
      ++r.runs;
    }
    out_.sets.push_back(r);
    return all;
  }

  // The next of the steps, which has so many runs.
  driver::HostProgram::RunsHeard step(size_t runs) {
    const size_t before = step_++;
    if (!heard_) return {};
    return [this, before, total = static_cast<double>(std::max<size_t>(runs, 1))](double done) {
      heard_((static_cast<double>(before) + done / total) / static_cast<double>(steps_));
    };
  }

  static bool same_bits(const Arrays& a, const Arrays& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const NpyArray& x, const NpyArray& y) { return x.dims == y.dims && x.data == y.data; });
  }

  void compare_instructions(Isa isa, size_t sample) {
    driver::KernelCheck check(kernels::select_for(isa), 0);
    driver::HostProgram program;
    program.on_progress(step(1));
    std::string error;
    Arrays ignored;
    if (!program.open(file_, external_, {}, &error, nullptr, kernels::select_for(isa), &check) ||
        !program.run(0, inputs_[sample], &ignored, &error))
      throw Failure("cannot compare the kernels: " + error);
    out_.differences = check.differences();
    out_.set = kernels::isa_name(isa);
  }

  const ConstBytes file_, external_;
  const std::vector<Arrays>& inputs_;
  const std::function<bool(size_t, const Arrays&)>& agrees_;
  const PartHeard& heard_;
  size_t step_ = 0, steps_ = 1;
  uint64_t macs_ = 0;
  KernelValidation out_;
  std::vector<size_t> failed_;  // the input that each set got wrong
};

}  // namespace

bool KernelValidation::passed() const {
  return differences.empty() && std::all_of(sets.begin(), sets.end(), [](const KernelRuns& r) { return r.problem.empty(); });
}

KernelValidation validate_kernels(ConstBytes file, ConstBytes external, const std::vector<Arrays>& inputs, uint64_t portable_work,
                                  const std::function<bool(size_t, const Arrays&)>& agrees, const PartHeard& heard) {
  return Validator(file, external, inputs, agrees, heard).run(portable_work);
}

std::string differing_instruction(ConstBytes file, ConstBytes external, const std::string& kernels, uint32_t method, const Arrays& inputs) {
  Isa isa = kernels::best_isa(cpu_features());
  for (uint8_t i = 0; i < static_cast<uint8_t>(Isa::kCount); ++i)
    if (kernels::isa_name(static_cast<Isa>(i)) == kernels) isa = static_cast<Isa>(i);
  if (isa == Isa::kPortable) return "";
  driver::KernelCheck check(kernels::select_for(isa), 0);
  driver::HostProgram program;
  std::string error;
  Arrays ignored;
  if (!program.open(file, external, {}, &error, nullptr, kernels::select_for(isa), &check) ||
      !program.run(method, inputs, &ignored, &error))
    return "";
  return check.differences().empty() ? "" : check.differences()[0].text();
}

}  // namespace mote::tools
