#include "mote/compiler/passes/pass.h"

#include <chrono>
#include <cstdio>

#include "mote/compiler/ir/text.h"
#include "mote/compiler/ir/verify.h"
#include "mote/compiler/passes/rewrite.h"

namespace mote::passes {

#define MOTE_PASS(phase, group, name, when) bool name(Graph& graph, const PassOptions& options);  // may stand in several groups
#include "mote/compiler/passes/passes.def"
#undef MOTE_PASS

namespace {

// When a pass is wanted, by the last word of its line.
enum class When { always, optimize, fuse, pack };
bool wanted(When when, const PassOptions& o) {
  switch (when) {
    case When::always: return true;
    case When::optimize: return o.optimize;
    case When::fuse: return o.optimize && o.fuse;
    case When::pack: return o.pack;
  }
  return false;
}

struct Pass {
  Phase phase;
  const char* group;
  const char* name;
  PassFn run;
  When when;
};
constexpr Pass kPasses[] = {
#define MOTE_PASS(phase, group, name, when) {Phase::phase, #group, #name, &name, When::when},
#include "mote/compiler/passes/passes.def"
#undef MOTE_PASS
};
constexpr size_t kPassCount = std::size(kPasses);

// Passes feed each other, but each makes the graph smaller or moves work to one side, so few rounds do; the bound is for defects.
constexpr int kMaxRounds = 20;
constexpr int64_t kFoldBudget = 100'000'000;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

struct PassRun::Times {
  struct Pass {
    double seconds = 0;
    int runs = 0, changes = 0;
  };
  Pass passes[kPassCount];
  double verify_seconds = 0;
};

PassRun::PassRun(Graph& graph, const PassOptions& options)
    : graph_(graph), options_(options), fold_budget_(kFoldBudget), times_(std::make_unique<Times>()) {
  // A model may have good reasons to transpose and cast all of its weights; a hostile file makes the same ones be computed without end.
  for (const auto& v : graph.values())
    if (v->is_constant()) fold_budget_ += 8 * v->type.count();
  options_.fold_budget = &fold_budget_;
}
PassRun::~PassRun() = default;

bool PassRun::run(Phase phase, std::string* error) {
  bool good = phase != Phase::optimize || verify("import", error);
  for (size_t i = 0; good && i < kPassCount;) {
    size_t end = i;
    while (end < kPassCount && std::string(kPasses[end].group) == kPasses[i].group) ++end;
    good = kPasses[i].phase != phase || run_group(i, end, error);
    i = end;
  }
  graph_.drop_unused_values();
  return good;
}

bool PassRun::run_group(size_t begin, size_t end, std::string* error) {
  for (int round = 0; round < kMaxRounds; ++round) {
    bool changed = false;
    for (size_t i = begin; i < end; ++i) {
      if (!wanted(kPasses[i].when, options_)) continue;
      const Clock::time_point start = Clock::now();
      const bool here = kPasses[i].run(graph_, options_);
      graph_.drop_unused_values();
      Times::Pass& times = times_->passes[i];
      times.seconds += seconds_since(start);
      times.runs += 1;
      times.changes += here ? 1 : 0;
      if (here && !verify(kPasses[i].name, error)) return false;
      if (here || round == 0) print_after(kPasses[i].name);
      changed |= here;
    }
    if (!changed || end - begin == 1) break;
  }
  return true;
}

bool PassRun::verify(const char* after, std::string* error) {
  const Clock::time_point start = Clock::now();
  std::string why;
  const bool good = !options_.verify || ir::verify(graph_, &why);
  if (!good && error != nullptr) *error = std::string("the graph is broken after ") + after + ", a defect of Mote: " + why;
  times_->verify_seconds += seconds_since(start);
  return good;
}

void PassRun::print_after(const char* pass) const {
  if (!options_.log || (options_.print_after.count(pass) == 0 && options_.print_after.count("all") == 0)) return;
  ir::TextOptions text;
  text.bytes = false;
  options_.log(std::string("// after ") + pass + "\n" + ir::print(graph_, text));
}

void PassRun::print_times() const {
  if (!options_.log) return;
  std::string table = "pass                  runs changed       ms\n";
  const auto line = [&](const char* name, int runs, int changes, double seconds) {
    char s[96];
    std::snprintf(s, sizeof s, "%-20s %5d %7d %8.2f\n", name, runs, changes, seconds * 1e3);
    table += s;
  };
  double all = times_->verify_seconds;
  for (size_t i = 0; i < kPassCount; ++i) {
    const Times::Pass& times = times_->passes[i];
    line(kPasses[i].name, times.runs, times.changes, times.seconds);
    all += times.seconds;
  }
  line("(verify)", 0, 0, times_->verify_seconds);
  line("all", 0, 0, all);
  options_.log(table);
}

bool run_passes(Graph& graph, const PassOptions& options, std::string* error) {
  PassRun run(graph, options);
  if (!run.run(Phase::optimize, error) || !run.run(Phase::legalize, error)) return false;
  if (options.time_passes) run.print_times();
  return true;
}

bool run_pass(const std::string& name, Graph& graph, const PassOptions& options) {
  for (const Pass& p : kPasses) {
    if (name != p.name) continue;
    const bool changed = p.run(graph, options);
    graph.drop_unused_values();
    return changed;
  }
  return false;
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& p : kPasses) {
    bool known = false;
    for (const std::string& n : names) known |= n == p.name;
    if (!known) names.emplace_back(p.name);
  }
  return names;
}

}  // namespace mote::passes
