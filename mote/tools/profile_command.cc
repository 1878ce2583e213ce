#include <algorithm>
#include <cstdio>

#include "mote/tools/commands.h"
#include "mote/tools/golden.h"
#include "mote/tools/input_option.h"
#include "mote/tools/machine.h"
#include "mote/tools/measure.h"
#include "mote/tools/parts_report.h"
#include "mote/tools/profile_record.h"
#include "mote/tools/program_options.h"
#include "mote/tools/program_view.h"
#include "mote/tools/progress.h"
#include "mote/tools/target_file.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

struct ProfileSettings : ProgramOptions {
  std::string trace, target;
  uint64_t runs = 10;
  uint32_t top = 0;
};

struct Profile {
  kernels::Isa isa = kernels::Isa::kPortable;
  target::Rates rates;
  std::vector<OpRecord> ops;        // that ran, slowest first
  std::vector<MeasuredPart> parts;  // of placed programs
  std::vector<std::string> notes;
  double total_us = 0;   // over all runs
  double median_us = 0;  // of one run: what the operators' medians add up to
  double bound_us = 0;   // of one run
};

uint64_t footprint(const ProgramView& view, const Session& session, uint32_t method) {
  uint64_t bytes = view.table().certificate->constant_bytes;
  for (const Bank& b : view.table().banks) bytes += b.size;
  for (const bool output : {false, true})
    for (const TensorSpec& t : session.specs(method, output)) bytes += t.bytes;
  return bytes;
}

// The peaks that are needed, in a fraction of a second.
target::Target quick_target(kernels::Isa isa, uint32_t threads, uint64_t footprint_bytes) {
  target::Target t = describe_target(isa);
  MeasureSettings m;
  m.isa = isa;
  m.threads = threads;
  m.furthest = target::level_of(t, footprint_bytes, threads);
  m.rounds = 7;
  m.best = true;
  m.round_ms = 0.7;
  t.one = t.all = measure_rates(t, m);
  return t;
}

void note_differences(const target::Target& t, const ProfileSettings& s, Profile* p) {
  const std::string kernels = kernels::isa_name(p->isa), cpu = describe_machine().cpu;
  if (t.kernels != kernels) p->notes.push_back(s.target + " was measured with " + t.kernels + " kernels; this run uses " + kernels);
  if (t.cpu != cpu) p->notes.push_back(s.target + " was measured on '" + t.cpu + "'; this is '" + cpu + "'");
  if (s.threads > t.all.threads)
    p->notes.push_back(s.target + " was measured with at most " + std::to_string(t.all.threads) + " threads; this run uses " +
                       std::to_string(s.threads));
}

bool below_bounds(const Session& session, uint32_t method) {
  const std::vector<TensorSpec> inputs = session.specs(method, false);
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    int32_t dims[MOTE_MAX_RANK];
    uint32_t rank = 0;
    if (mote_instance_input_dims(session.instance(), method, i, dims, &rank) == 0 &&
        !std::equal(dims, dims + rank, inputs[i].dims.begin(), inputs[i].dims.end()))
      return true;
  }
  return false;
}

Profile measure(const ProfileSettings& s) {
  Profile p;
  Progress progress;
  progress.show("loading");
  target::Target target;
  if (!s.target.empty()) target = load_target(s.target);
  Session session(s.file, s);
  Recorder recorder;
  session.create_instance(&Recorder::event, &recorder);
  const uint32_t method = session.method(s.method);
  fill_inputs(session, method, s.inputs);
  session.own_io(method);
  progress.show("the first run");
  session.run(method);  // the first one finds cold caches
  recorder.spans.clear();
  recorder.runs.clear();
  for (uint64_t i = 0; i < s.runs; ++i) {
    progress.show("running", static_cast<double>(i) / static_cast<double>(s.runs));
    session.run(method);
  }
  progress.show("computing the roofline");
  const ProgramView view(s.file);
  const uint64_t bytes = footprint(view, session, method);
  p.isa = find_isa(s.kernels);
  if (s.target.empty()) target = quick_target(p.isa, s.threads, bytes);
  else note_differences(target, s, &p);
  if (below_bounds(session, method)) p.notes.push_back("multiply-adds and bytes are those of the largest inputs; this run's are smaller");
  const Roofline roofline(target, s.threads, bytes);
  p.rates = roofline.rates();
  p.ops = describe_ops(session, program::CostSource(view.table()), roofline);
  add_times(recorder, &p.ops);
  if (!s.trace.empty()) write_trace(s.trace, p.ops, recorder);
  p.ops.erase(std::remove_if(p.ops.begin(), p.ops.end(), [](const OpRecord& r) { return r.calls == 0; }), p.ops.end());
  p.parts = measured_parts(s.file, p.ops);
  std::stable_sort(p.ops.begin(), p.ops.end(), [](const OpRecord& a, const OpRecord& b) { return a.median_us > b.median_us; });
  for (const OpRecord& r : p.ops) {
    p.total_us += r.total_us;
    p.median_us += r.median_us;
    p.bound_us += r.bound.us() * r.passes(s.runs);
  }
  return p;
}

// "12.34", or "-" for nothing.
std::string decimals(double v, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", digits, v);
  return v > 0 ? text : "-";
}

void print_text(const ProfileSettings& s, const Profile& p) {
  const bool all_once = std::all_of(p.ops.begin(), p.ops.end(), [&](const OpRecord& r) { return r.calls == s.runs; });
  std::vector<std::string> head = {"us per run", "share %",    "MMAC",  "kB", "GOP/s",
                                   "GB/s",       "roofline %", "limit", "op", "node of the model"};
  if (!all_once) head.insert(head.begin() + 2, "calls");
  TextTable table(head);
  const size_t shown = s.top > 0 ? std::min<size_t>(s.top, p.ops.size()) : p.ops.size();
  for (size_t i = 0; i < shown; ++i) {
    const OpRecord& r = p.ops[i];
    const double passes = r.passes(s.runs);
    const Achieved a = achieved(r, r.median_us, passes);
    std::vector<std::string> row = {microseconds(r.median_us),
                                    decimals(100 * r.median_us / std::max(p.median_us, 1e-9), 1),
                                    decimals(static_cast<double>(r.cost.macs) * passes / 1e6, 3),
                                    decimals(static_cast<double>(r.cost.bytes()) * passes / 1e3, 1),
                                    decimals(a.gflops, 1),
                                    decimals(a.gb_s, 1),
                                    decimals(a.percent, 1),
                                    r.bound.limit(),
                                    r.op,
                                    one_line(r.source, 60)};
    if (!all_once) row.insert(row.begin() + 2, real(static_cast<double>(r.calls) / static_cast<double>(s.runs)));
    table.add(row);
  }
  std::printf("%s", table.text().c_str());
  std::printf("%s us per run (operators' medians over %s runs), %zu instructions; the roofline allows %s us (%s %%)\n",
              microseconds(p.median_us).c_str(), number(s.runs).c_str(), p.ops.size(), microseconds(p.bound_us).c_str(),
              decimals(100 * p.bound_us / std::max(p.median_us, 1e-9), 1).c_str());
  std::printf("roofline of %s, %s kernels, %u thread%s: %s\n", s.target.empty() ? "this machine, measured now" : s.target.c_str(),
              kernels::isa_name(p.isa), s.threads, s.threads > 1 ? "s" : "", rates_text(p.rates).c_str());
  if (!p.parts.empty()) std::printf("\n%s", parts_text(p.parts).c_str());
  for (const std::string& n : p.notes) std::printf("note: %s\n", n.c_str());
}

void print_result(const ProfileSettings& s, const Profile& p) {
  Json ops = Json::array();
  for (const OpRecord& r : p.ops) {
    const double passes = r.passes(s.runs);
    const Achieved a = achieved(r, r.median_us, passes);
    const bool counted = r.bound.us() > 0;
    ops.push_back({{"instruction", r.instruction},
                   {"op", r.op},
                   {"source", r.source},
                   {"calls", r.calls},
                   {"total_us", r.total_us},
                   {"median_us", r.median_us},
                   {"macs", static_cast<uint64_t>(static_cast<double>(r.cost.macs) * passes)},
                   {"bytes", static_cast<uint64_t>(static_cast<double>(r.cost.bytes()) * passes)},
                   {"integer", r.cost.integer},
                   {"gflops", a.gflops},
                   {"gb_s", a.gb_s},
                   {"bound_us", r.bound.us() * passes},
                   {"roofline_percent", counted ? Json(a.percent) : Json(nullptr)},
                   {"limit", counted ? Json(r.bound.limit()) : Json(nullptr)}});
  }
  print_json({{"file", s.file},
              {"runs", s.runs},
              {"threads", s.threads},
              {"kernels", kernels::isa_name(p.isa)},
              {"total_us", p.total_us},
              {"median_us", p.median_us},
              {"bound_us", p.bound_us},
              {"target", s.target.empty() ? Json(nullptr) : Json(s.target)},
              {"rates", rates_json(p.rates)},
              {"notes", p.notes},
              {"parts", parts_json(p.parts)},
              {"ops", ops}});
}

}  // namespace

void add_profile(CLI::App& app, Context& context) {
  auto s = std::make_shared<ProfileSettings>();
  CLI::App* c = app.add_subcommand("profile", "Measure the time of each operator, against what the machine could do");
  add_input_options(c, s.get(), " (default: golden examples, or made up)");
  c->add_option("--trace", s->trace, "write every run as a trace that Perfetto opens (JSON)");
  c->add_option("--target", s->target, "target description with the machine's peaks, of 'mote measure' (default: a quick measurement)");
  c->add_option("--runs", s->runs, "runs to measure (default 10)")->check(CLI::Range(uint64_t{1}, uint64_t{1000000}));
  c->add_option("--top", s->top, "show the K slowest only")->check(CLI::PositiveNumber);
  add_program_options(c, s.get());
  c->callback([s, &context] {
    context.json = s->json;
    const Profile p = measure(*s);
    if (s->json) print_result(*s, p);
    else print_text(*s, p);
  });
}

}  // namespace mote::tools
