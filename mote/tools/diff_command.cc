#include <cmath>
#include <cstdio>

#include "mote/tools/commands.h"
#include "mote/tools/inspect.h"
#include "mote/tools/progress.h"
#include "mote/tools/session.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

struct DiffSettings {
  std::string a, b, weights_a, weights_b;
  int samples = 1;
  bool json = false;
};

// One figure of both programs.
struct Figure {
  const char* key;
  const char* label;
  uint64_t a, b;
};

std::vector<Figure> figures(const ProgramView& a, const ProgramView& b) {
  const auto arena = [](const ProgramView& v) {
    uint64_t bytes = 0;
    for (const Bank& bank : v.table().banks) bytes += bank.size;
    return bytes;
  };
  const auto golden = [](const ProgramView& v) {
    uint64_t bytes = 0;
    for (const Segment& s : v.table().segments) bytes += s.kind == SegmentKind::kGolden ? s.size : 0;
    return bytes;
  };
  const Certificate &ca = *a.table().certificate, &cb = *b.table().certificate;
  return {{"file_bytes", "file, bytes", a.file_bytes(), b.file_bytes()},
          {"constant_bytes", "constants, bytes", ca.constant_bytes, cb.constant_bytes},
          {"golden_bytes", "golden data, bytes", golden(a), golden(b)},
          {"arena_bytes", "arena, bytes", arena(a), arena(b)},
          {"instance_bytes", "instance, bytes", ca.needs.instance_bytes_64, cb.needs.instance_bytes_64},
          {"scratch_bytes", "scratch, bytes", uint64_t{ca.needs.scratch_base} + ca.needs.scratch_per_thread,
           uint64_t{cb.needs.scratch_base} + cb.needs.scratch_per_thread},
          {"instructions", "instructions", a.table().instructions.size, b.table().instructions.size},
          {"tensors", "tensors", a.table().tensors.size, b.table().tensors.size},
          {"macs", "multiply-adds", ca.macs, cb.macs},
          {"bytes_moved", "bytes moved", ca.bytes_moved, cb.bytes_moved}};
}

// Instructions on each backend; what no placement names runs on the CPU.
std::map<std::string, uint64_t> placement_of(const ProgramView& v) {
  std::map<std::string, uint64_t> counts;
  uint64_t placed = 0;
  for (const Placement& p : v.table().placements) {
    counts[v.string(p.backend)] += p.instruction_count;
    placed += p.instruction_count;
  }
  if (placed < v.table().instructions.size) counts["cpu"] += v.table().instructions.size - placed;
  return counts;
}

template <class Count>
std::map<std::string, std::pair<Count, Count>> side_by_side(const std::map<std::string, Count>& a, const std::map<std::string, Count>& b) {
  std::map<std::string, std::pair<Count, Count>> both;
  for (const auto& [name, count] : a) both[name].first = count;
  for (const auto& [name, count] : b) both[name].second = count;
  return both;
}

std::string change(uint64_t a, uint64_t b) {
  if (a == b) return "";
  if (a == 0) return "new";
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * (static_cast<double>(b) / static_cast<double>(a) - 1));
  return text;
}

struct Numerics {
  std::string skipped;  // why nothing was compared
  struct Output {
    std::string name;
    driver::Difference difference;  // the sample with the largest error
  };
  std::vector<Output> outputs;
};

bool same_specs(const std::vector<TensorSpec>& a, const std::vector<TensorSpec>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].dtype != b[i].dtype || a[i].dims != b[i].dims || a[i].dynamic != b[i].dynamic) return false;
  return true;
}

// Runs both on the same made-up inputs, at the largest sizes.
Numerics compare_numerics(const DiffSettings& s) {
  Progress progress;
  progress.show("loading");
  Session a(s.a, {s.weights_a, false, {}, 1, {}}), b(s.b, {s.weights_b, false, {}, 1, {}});
  Numerics n;
  if (!same_specs(a.specs(0, false), b.specs(0, false)) || !same_specs(a.specs(0, true), b.specs(0, true))) {
    n.skipped = "inputs or outputs differ";
    return n;
  }
  a.create_instance();
  b.create_instance();
  const std::vector<TensorSpec> in = a.specs(0, false), out = a.specs(0, true);
  for (int k = 0; k < s.samples; ++k) {
    driver::Random random(static_cast<uint64_t>(k) + 1);
    for (uint32_t i = 0; i < in.size(); ++i) {
      const NpyArray x = driver::make_random(static_cast<DType>(in[i].dtype), {in[i].dims.begin(), in[i].dims.end()}, random);
      a.set_input(0, i, x);
      b.set_input(0, i, x);
    }
    for (Session* p : {&a, &b}) {
      progress.show("running both", static_cast<double>(2 * k + (p == &b ? 1 : 0)) / (2.0 * s.samples));
      p->own_io(0);
      p->reset_state();
      p->run(0);
    }
    for (uint32_t i = 0; i < out.size(); ++i) {
      const driver::Difference d = driver::difference(b.output(0, i), a.output(0, i));
      if (k == 0) n.outputs.push_back({out[i].name, d});
      else if (d.largest_error > n.outputs[i].difference.largest_error) n.outputs[i].difference = d;
    }
  }
  return n;
}

void print_text(const DiffSettings& s, const ProgramView& a, const ProgramView& b, const Numerics& n) {
  std::printf("A %s\nB %s\n\n", s.a.c_str(), s.b.c_str());
  TextTable sizes({"", "A", "B", "change"});
  for (const Figure& f : figures(a, b)) sizes.add({f.label, number(f.a), number(f.b), change(f.a, f.b)});
  std::printf("%s", sizes.text().c_str());
  const auto counts = [](const char* title, const auto& both) {
    TextTable table({title, "A", "B"});
    for (const auto& [name, pair] : both)
      if (pair.first != pair.second) table.add({name, number(pair.first), number(pair.second)});
    if (!table.empty()) std::printf("\n%s", table.text().c_str());
  };
  counts("operators that differ", side_by_side(count_ops(a), count_ops(b)));
  counts("placement that differs", side_by_side(placement_of(a), placement_of(b)));
  if (!n.skipped.empty()) {
    std::printf("\nnumbers not compared: %s\n", n.skipped.c_str());
    return;
  }
  TextTable outputs({"output", "largest difference", "of", "mean", "SQNR dB", "top-1"});
  for (const auto& o : n.outputs) {
    const driver::Difference& d = o.difference;
    outputs.add({o.name, d.identical ? "same bits" : real(d.largest_error), real(d.largest_expected), real(d.mean_error),
                 decibels(d.sqnr_db), real(100 * d.top1) + " %"});
  }
  std::printf("\n%s", outputs.text().c_str());
}

void print_result(const DiffSettings& s, const ProgramView& a, const ProgramView& b, const Numerics& n) {
  Json sizes = Json::object(), ops = Json::object(), placement = Json::object(), outputs = Json::array();
  for (const Figure& f : figures(a, b)) sizes[f.key] = {f.a, f.b};
  for (const auto& [name, pair] : side_by_side(count_ops(a), count_ops(b))) ops[name] = {pair.first, pair.second};
  for (const auto& [name, pair] : side_by_side(placement_of(a), placement_of(b))) placement[name] = {pair.first, pair.second};
  for (const auto& o : n.outputs) {
    const driver::Difference& d = o.difference;
    outputs.push_back({{"name", o.name},
                       {"same_type", d.same_type},
                       {"identical", d.identical},
                       {"largest_error", d.largest_error},
                       {"largest_expected", d.largest_expected},
                       {"mean_error", d.mean_error},
                       {"sqnr_db", std::isfinite(d.sqnr_db) ? Json(d.sqnr_db) : Json(nullptr)},
                       {"top1", d.top1}});
  }
  print_json({{"a", s.a},
              {"b", s.b},
              {"figures", sizes},
              {"ops", ops},
              {"placement", placement},
              {"numbers_skipped", n.skipped},
              {"outputs", outputs}});
}

void diff(const DiffSettings& s) {
  const ProgramView a(s.a), b(s.b);
  const Numerics n = compare_numerics(s);
  if (s.json) print_result(s, a, b, n);
  else print_text(s, a, b, n);
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
  auto s = std::make_shared<DiffSettings>();
  CLI::App* c = app.add_subcommand("diff", "Compare two programs: size, memory, operators, placement, and results on the same inputs");
  c->add_option("A", s->a, "program (.mote)")->required();
  c->add_option("B", s->b, "program (.mote)")->required();
  c->add_option("--samples", s->samples, "made-up inputs to run both on (default 1)")->check(CLI::Range(1, 10000));
  c->add_option("--weights-a", s->weights_a, "file with the external weights of A");
  c->add_option("--weights-b", s->weights_b, "file with the external weights of B");
  c->add_flag("--json", s->json, "print JSON (docs/json.md)");
  c->callback([s, &context] {
    context.json = s->json;
    diff(*s);
  });
}

}  // namespace mote::tools
