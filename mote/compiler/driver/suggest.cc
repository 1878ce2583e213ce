#include "mote/compiler/driver/suggest.h"

#include <chrono>

#include "mote/compiler/driver/run.h"

namespace mote::driver {
namespace {

using Clock = std::chrono::steady_clock;
using frontends::OpenDim;

constexpr double kPatience = 6;      // seconds, after which nothing more is tried
constexpr uint64_t kRunTime = 1500;  // ms of one run: what takes longer has shown that it runs
constexpr uint64_t kRunMemory = uint64_t{2} << 30;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// How far a compilation with these sizes comes.
enum class Outcome { kFails, kCompiles, kRuns };

// What is tried: the model alone, without anything that only makes it faster or takes time.
CompileOptions trial_options(const CompileOptions& options, const frontends::ImportOptions& import) {
  CompileOptions o;
  o.import = import;
  o.attach = options.attach;
  o.target = options.target;
  o.plan.ops = options.plan.ops;
  o.plan.strips = schedule::Strips::kOff;
  o.passes.winograd = false;
  o.write.digests = false;
  o.golden.count = 0;
  o.suggest_sizes = false;
  return o;
}

bool runs(const CompileResult& compiled, const Signature& signature, const CompileOptions& options) {
  HostProgram program;
  std::string error;
  const RunBudget budget{kRunMemory, kRunTime, 0};
  if (!program.open(compiled.file.span(), {}, budget, &error, options.plan.ops, options.select)) return false;
  for (uint32_t m = 0; m < signature.methods.size(); ++m) {
    size_t samples = 1;
    for (const Signature::Io& in : signature.methods[m].inputs) samples = std::max(samples, in.dims.size());
    for (size_t s = 0; s < samples; ++s) {
      const Clock::time_point begin = Clock::now();
      std::vector<Array> outputs;
      if (program.run(m, make_inputs(signature.methods[m], s, 1), &outputs, &error)) continue;
      if (seconds_since(begin) * 1e3 < kRunTime) return false;
    }
  }
  return true;
}

Outcome attempt(const frontends::Source& source, const CompileOptions& options, const frontends::ImportOptions& import) {
  const CompileOptions o = trial_options(options, import);
  CompileResult result;
  Signature signature;
  ir::Problems problems;
  if (!compile(source, o, &result, &problems)) return Outcome::kFails;
  if (!read_signature(source, o, &signature, &problems)) return Outcome::kCompiles;
  return runs(result, signature, options) ? Outcome::kRuns : Outcome::kCompiles;
}

// The advice belongs to the problem that report_open() left.
void advise(const std::string& advice, ir::Problems* problems) {
  for (ir::Problem& p : *problems)
    if (p.what.find("dimensions are open") != std::string::npos)
      p.advice = advice + " (or fix an input's shape with --shape NAME=1x3x224x224)";
}

}  // namespace

void suggest_sizes(const frontends::Source& source, const CompileOptions& options, const std::vector<OpenDim>& open,
                   ir::Problems* problems) {
  const std::vector<std::string> names = frontends::names_of(open);
  const Clock::time_point begin = Clock::now();
  std::string words, tried, found;
  Outcome best = Outcome::kFails;
  for (size_t i = 0; i < frontends::kProposals && !names.empty() && best != Outcome::kRuns && (i == 0 || seconds_since(begin) < kPatience);
       ++i) {
    frontends::ImportOptions import = options.import;
    words.clear();
    for (const OpenDim& d : open) {
      const frontends::DimRange range = frontends::proposal(frontends::role_of(d.name, open), i, d.least);
      if (import.dims.emplace(d.name, range).second) words += frontends::dim_word(d.name, range);
    }
    if (tried.find(words + ";") != std::string::npos) break;  // the last proposals repeat
    tried += words + ";";
    if (options.progress) options.progress("trying" + words, static_cast<double>(i) / frontends::kProposals);
    const Outcome outcome = attempt(source, options, import);
    if (outcome <= best) continue;
    best = outcome;
    found = words;
  }
  if (best != Outcome::kFails) return advise("this compiles: add" + found, problems);
  if (tried.empty()) return;
  tried.pop_back();
  advise("give each a size or a range, as the model was trained with; none of these compiles:" + tried, problems);
}

}  // namespace mote::driver
