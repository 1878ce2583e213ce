#include <cstdio>

#include "mote/platform/file.h"
#include "mote/tools/bisect.h"
#include "mote/tools/commands.h"
#include "mote/tools/golden.h"
#include "mote/tools/json_out.h"
#include "mote/tools/program_options.h"
#include "mote/tools/progress.h"
#include "mote/tools/text_table.h"
#include "mote/tools/validate_kernels.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

struct Outcome {
  std::string method, output;
  uint32_t example;
  float tolerance;
  Comparison comparison;
};

std::vector<Outcome> run_examples(Session& session, Progress* progress) {
  std::vector<Outcome> all;
  session.create_instance();
  const std::vector<GoldenExample> examples = golden_examples(session);
  for (const GoldenExample& e : examples) {
    progress->show("running examples", static_cast<double>(&e - examples.data()) / static_cast<double>(examples.size()));
    // Examples are independent: state of one must not reach the next.
    session.reset_state();
    for (const GoldenTensor& t : e.inputs) session.set_input(e.method, t.index, t.array);
    session.own_io(e.method);
    session.run(e.method);
    const std::vector<TensorSpec> specs = session.specs(e.method, true);
    for (const GoldenTensor& t : e.outputs)
      all.push_back({mote_program_method_name(session.program(), e.method), specs[t.index].name, e.example, t.tolerance,
                     compare(session.output(e.method, t.index), t)});
  }
  return all;
}

// The first instruction of an example whose fast kernel differs from the portable one.
std::string find_kernel(const ProgramOptions& s, const GoldenExample& e) {
  MappedFile file, weights;
  if (!MappedFile::open(s.file.c_str(), &file).ok() || (!s.weights.empty() && !MappedFile::open(s.weights.c_str(), &weights).ok()))
    return "";
  Arrays inputs(e.inputs.size());
  for (const GoldenTensor& t : e.inputs)
    if (t.index < inputs.size()) inputs[t.index] = t.array;
  const std::string found = differing_instruction(file.bytes(), weights.bytes(), s.kernels, e.method, inputs);
  return found.empty() ? "no fast kernel differs from the portable one by itself" : "the first operator that differs: " + found;
}

// Of the first example that fails: on a backend where parts of the program run on one, else among the kernels.
Bisected find_operator(const ProgramOptions& s, Session& session, const std::vector<Outcome>& outcomes) {
  for (const Outcome& o : outcomes) {
    if (o.comparison.passed) continue;
    for (const GoldenExample& e : golden_examples(session)) {
      if (e.example != o.example || mote_program_method_name(session.program(), e.method) != o.method) continue;
      Bisected b;
      const bool placed = mote_instance_degraded(session.instance(), nullptr) == 0;
      if (placed) b = bisect(s.file, s, e);
      if (b.found || !b.backend.empty()) return b;
      b.note = find_kernel(s, e);
      return b;
    }
  }
  return {};
}

void print_bisected(const Bisected& b) {
  if (b.found)
    std::printf("the first operator that differs: %s (%s), in part %zu on %s: error %s, allowed %s%s\n", b.node.c_str(), b.op.c_str(),
                b.part, b.backend.c_str(), real(b.largest_error).c_str(), real(b.allowed).c_str(),
                b.alone ? "; it differs by itself, too" : "; by itself, on the CPU's values, it does not differ");
  else if (!b.note.empty()) std::printf("%s%s\n", b.backend.empty() ? "" : (b.backend + ": ").c_str(), b.note.c_str());
}

void print_text(const ProgramOptions& s, const std::vector<Outcome>& outcomes, size_t failed) {
  TextTable table({"method", "example", "output", "largest error", "allowed", "result"});
  for (const Outcome& o : outcomes) {
    const Comparison& c = o.comparison;
    table.add({o.method, std::to_string(o.example), o.output, c.difference.same_type ? real(c.difference.largest_error) : "-",
               o.tolerance == 0 ? "same bits" : real(c.allowed),
               c.passed                 ? "ok"
               : c.difference.same_type ? "WRONG"
                                        : "WRONG SHAPE"});
  }
  std::printf("%s", table.text().c_str());
  std::printf("%s: %zu of %zu outputs as expected\n", s.file.c_str(), outcomes.size() - failed, outcomes.size());
}

void print_results(const ProgramOptions& s, const std::vector<Outcome>& outcomes, size_t failed, const Bisected& b) {
  Json results = Json::array();
  for (const Outcome& o : outcomes) {
    const Comparison& c = o.comparison;
    results.push_back({{"method", o.method},
                       {"example", o.example},
                       {"output", o.output},
                       {"tolerance", o.tolerance},
                       {"same_type", c.difference.same_type},
                       {"largest_error", c.difference.largest_error},
                       {"largest_expected", c.difference.largest_expected},
                       {"allowed_error", c.allowed},
                       {"passed", c.passed}});
  }
  Json j = {{"file", s.file}, {"passed", failed == 0}, {"failed", failed}, {"outputs", outcomes.size()}, {"results", results}};
  if (b.found)
    j["first_difference"] = {{"part", b.part},           {"backend", b.backend},       {"operator", b.op}, {"node", b.node},
                             {"error", b.largest_error}, {"allowed_error", b.allowed}, {"alone", b.alone}};
  else if (!b.note.empty()) j["note"] = b.note;
  print_json(j);
}

int selftest(const ProgramOptions& s) {
  Progress progress;
  progress.show("loading");
  Session session(s.file, s);
  if (mote_program_golden_count(session.program()) == 0)
    throw Failure(s.file + ": the program has no golden data: expected at least one example, found none");
  const std::vector<Outcome> outcomes = run_examples(session, &progress);
  size_t failed = 0;
  for (const Outcome& o : outcomes) failed += !o.comparison.passed;
  if (failed > 0) progress.show("looking for the operator");
  const Bisected bisected = failed > 0 ? find_operator(s, session, outcomes) : Bisected{};
  progress.clear();
  if (s.json) print_results(s, outcomes, failed, bisected);
  else print_text(s, outcomes, failed);
  if (!s.json) print_bisected(bisected);
  return failed == 0 ? kSuccess : kFailed;
}

}  // namespace

void add_selftest(CLI::App& app, Context& context) {
  auto s = std::make_shared<ProgramOptions>();
  CLI::App* c = app.add_subcommand("selftest", "Run the golden examples a program carries and compare");
  add_program_options(c, s.get());
  c->callback([s, &context] {
    context.json = s->json;
    context.exit_code = selftest(*s);
  });
}

}  // namespace mote::tools
