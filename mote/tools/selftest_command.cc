#include <cstdio>

#include "mote/tools/bisect.h"
#include "mote/tools/commands.h"
#include "mote/tools/golden.h"
#include "mote/tools/json_out.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

struct SelftestSettings {
  std::string file, weights, kernels;
  std::vector<std::string> backends;
  uint32_t threads = 1;
  bool json = false;
};

struct Outcome {
  std::string method, output;
  uint32_t example;
  float tolerance;
  Comparison comparison;
};

std::vector<Outcome> run_examples(Session& session) {
  std::vector<Outcome> all;
  session.create_instance();
  for (const GoldenExample& e : golden_examples(session)) {
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

// Of the first example that fails, where parts of the program run on a backend.
Bisected find_operator(const SelftestSettings& s, Session& session, const std::vector<Outcome>& outcomes) {
  if (mote_instance_degraded(session.instance(), nullptr) > 0) return {};
  for (const Outcome& o : outcomes) {
    if (o.comparison.passed) continue;
    for (const GoldenExample& e : golden_examples(session))
      if (e.example == o.example && mote_program_method_name(session.program(), e.method) == o.method)
        return bisect(s.file, {s.weights, false, s.kernels, s.threads, s.backends}, e);
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

void print_text(const SelftestSettings& s, const std::vector<Outcome>& outcomes, size_t failed) {
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

void print_results(const SelftestSettings& s, const std::vector<Outcome>& outcomes, size_t failed, const Bisected& b) {
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
  print_json(j);
}

int selftest(const SelftestSettings& s) {
  Session session(s.file, {s.weights, false, s.kernels, s.threads, s.backends});
  if (mote_program_golden_count(session.program()) == 0)
    throw Failure(s.file + ": the program has no golden data: expected at least one example, found none");
  const std::vector<Outcome> outcomes = run_examples(session);
  size_t failed = 0;
  for (const Outcome& o : outcomes) failed += !o.comparison.passed;
  const Bisected bisected = failed > 0 ? find_operator(s, session, outcomes) : Bisected{};
  if (s.json) print_results(s, outcomes, failed, bisected);
  else print_text(s, outcomes, failed);
  if (!s.json) print_bisected(bisected);
  return failed == 0 ? kSuccess : kFailed;
}

}  // namespace

void add_selftest(CLI::App& app, Context& context) {
  auto s = std::make_shared<SelftestSettings>();
  CLI::App* c = app.add_subcommand("selftest", "Run the golden examples a program carries and compare");
  c->add_option("FILE", s->file, "program (.mote)")->required();
  c->add_option("--threads", s->threads, "threads that share the work (default 1)")->check(CLI::PositiveNumber);
  c->add_option("--kernels", s->kernels, "instruction set of the kernels (default: the best of this machine)");
  c->add_option("--backend", s->backends, "backends the program may use besides the CPU (default: all of this build); once for each")
      ->allow_extra_args(false);
  c->add_option("--weights", s->weights, "file with the program's external weights");
  c->add_flag("--json", s->json, "print JSON (docs/json.md)");
  c->callback([s, &context] {
    context.json = s->json;
    context.exit_code = selftest(*s);
  });
}

}  // namespace mote::tools
