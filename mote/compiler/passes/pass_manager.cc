#include <chrono>
#include <cstdio>

#include "mote/compiler/ir/text.h"
#include "mote/compiler/ir/verify.h"
#include "mote/compiler/passes/rewrite.h"

namespace mote::passes {

#define MOTE_PASS(group, name, when) bool name(Graph& graph, const PassOptions& options);  // may stand in several groups
#include "mote/compiler/passes/passes.def"
#undef MOTE_PASS

namespace {

// When a pass is wanted, by the third word of its line.
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
  const char* group;
  const char* name;
  PassFn run;
  When when;
};
constexpr Pass kPasses[] = {
#define MOTE_PASS(group, name, when) {#group, #name, &name, When::when},
#include "mote/compiler/passes/passes.def"
#undef MOTE_PASS
};
constexpr size_t kPassCount = std::size(kPasses);

// Passes feed each other, but each makes the graph smaller or moves work to one side, so few rounds do; the bound is for defects.
constexpr int kMaxRounds = 20;

class Manager {
 public:
  Manager(Graph& graph, const PassOptions& options) : graph_(graph), options_(options) {
    // Models have reasons to transpose and cast all their weights, hostile files to let the same ones be computed without end.
    for (const auto& v : graph.values())
      if (v->is_constant()) fold_budget_ += 8 * v->type.count();
    options_.fold_budget = &fold_budget_;
  }

  bool run(std::string* error) {
    bool good = verified("import", error);
    for (size_t i = 0; good && i < kPassCount;) {
      size_t end = i;
      while (end < kPassCount && std::string(kPasses[end].group) == kPasses[i].group) ++end;
      if (options_.quantize && std::string(kPasses[i].group) == "quantized" && !quantize(error)) return false;
      good = group(i, end, error);
      i = end;
    }
    graph_.drop_unused_values();
    if (good && options_.time_passes) print_times();
    return good;
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool group(size_t begin, size_t end, std::string* error) {
    for (int round = 0; round < kMaxRounds; ++round) {
      bool changed = false;
      for (size_t i = begin; i < end; ++i) {
        if (!wanted(kPasses[i].when, options_)) continue;
        const Clock::time_point start = Clock::now();
        const bool here = kPasses[i].run(graph_, options_);
        graph_.drop_unused_values();
        const Clock::time_point stop = Clock::now();
        times_[i].seconds += std::chrono::duration<double>(stop - start).count();
        times_[i].runs += 1;
        times_[i].changes += here ? 1 : 0;
        if (here && !verified(kPasses[i].name, error)) return false;
        if (here || round == 0) print_after(kPasses[i].name);
        changed |= here;
      }
      if (!changed || end - begin == 1) break;
    }
    return true;
  }

  bool quantize(std::string* error) {
    if (!options_.quantize(graph_, error)) return false;
    graph_.drop_unused_values();
    return verified("quantize", error);
  }

  bool verified(const char* pass, std::string* error) {
    const Clock::time_point start = Clock::now();
    std::string why;
    const bool good = !options_.verify || ir::verify(graph_, &why);
    if (!good && error != nullptr) *error = std::string("the graph is broken after ") + pass + ", a defect of Mote: " + why;
    verify_seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
    return good;
  }

  void print_after(const char* pass) const {
    if (!options_.log || (options_.print_after.count(pass) == 0 && options_.print_after.count("all") == 0)) return;
    ir::TextOptions text;
    text.bytes = false;
    options_.log(std::string("// after ") + pass + "\n" + ir::print(graph_, text));
  }

  void print_times() const {
    if (!options_.log) return;
    std::string table = "pass                  runs changed       ms\n";
    const auto line = [&](const char* name, int runs, int changes, double seconds) {
      char s[96];
      std::snprintf(s, sizeof s, "%-20s %5d %7d %8.2f\n", name, runs, changes, seconds * 1e3);
      table += s;
    };
    double sum = verify_seconds_;
    for (size_t i = 0; i < kPassCount; ++i) {
      line(kPasses[i].name, times_[i].runs, times_[i].changes, times_[i].seconds);
      sum += times_[i].seconds;
    }
    line("(verify)", 0, 0, verify_seconds_);
    line("all", 0, 0, sum);
    options_.log(table);
  }

  struct Time {
    double seconds = 0;
    int runs = 0, changes = 0;
  };
  Graph& graph_;
  PassOptions options_;
  int64_t fold_budget_ = 100'000'000;
  Time times_[kPassCount];
  double verify_seconds_ = 0;
};

}  // namespace

bool run_passes(Graph& graph, const PassOptions& options, std::string* error) { return Manager(graph, options).run(error); }

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
