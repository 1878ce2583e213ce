#include <algorithm>
#include <cstdio>

#include "mote/platform/clock.h"
#include "mote/tools/commands.h"
#include "mote/tools/files.h"
#include "mote/tools/golden.h"
#include "mote/tools/json_out.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

struct ProfileSettings {
  std::string file, method, weights, kernels, trace;
  uint32_t threads = 1;
  uint64_t runs = 10;
  uint32_t top = 0;
  bool json = false;
};

// The trace hook: when each instruction began and ended, on the platform's clock.
struct Recorder {
  struct Span {
    uint32_t instruction;
    uint64_t begin_ns, end_ns;
  };
  static void event(void* self, mote_trace_kind kind, uint32_t, uint32_t instruction) {
    auto& r = *static_cast<Recorder*>(self);
    if (kind == MOTE_TRACE_INSTRUCTION_BEGIN) r.begin_ns = clock_now_ns();
    if (kind == MOTE_TRACE_INSTRUCTION_END) r.spans.push_back({instruction, r.begin_ns, clock_now_ns()});
  }
  uint64_t begin_ns = 0;
  std::vector<Span> spans;
};

struct OpTime {
  uint32_t instruction = 0;
  std::string op, source;
  uint64_t calls = 0;
  double total_us = 0;
};

OpTime described(const Session& session, uint32_t instruction) {
  const char *op = "", *source = "";
  (void)mote_program_instruction(session.program(), instruction, &op, &source);
  return {instruction, op, source, 0, 0};
}

std::vector<OpTime> sum_up(const Session& session, const std::vector<Recorder::Span>& spans) {
  std::vector<OpTime> all(mote_program_instruction_count(session.program()));
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = described(session, i);
  for (const Recorder::Span& s : spans) {
    ++all[s.instruction].calls;
    all[s.instruction].total_us += static_cast<double>(s.end_ns - s.begin_ns) / 1e3;
  }
  all.erase(std::remove_if(all.begin(), all.end(), [](const OpTime& t) { return t.calls == 0; }), all.end());
  std::stable_sort(all.begin(), all.end(), [](const OpTime& a, const OpTime& b) { return a.total_us > b.total_us; });
  return all;
}

// Chrome's trace format, which Perfetto opens.
void write_trace(const std::string& path, const Session& session, const std::vector<Recorder::Span>& spans) {
  Json events = Json::array();
  const uint64_t first = spans.empty() ? 0 : spans.front().begin_ns;
  for (const Recorder::Span& s : spans) {
    const OpTime d = described(session, s.instruction);
    events.push_back({{"name", d.source.empty() ? d.op : d.source},
                      {"cat", d.op},
                      {"ph", "X"},
                      {"ts", static_cast<double>(s.begin_ns - first) / 1e3},
                      {"dur", static_cast<double>(s.end_ns - s.begin_ns) / 1e3},
                      {"pid", 1},
                      {"tid", 1},
                      {"args", {{"op", d.op}, {"instruction", s.instruction}}}});
  }
  const std::string text = json_text({{"traceEvents", events}, {"displayTimeUnit", "ns"}});
  std::string error;
  if (!write_whole_file(path, {text.begin(), text.end()}, &error)) throw Failure(path + ": " + error);
}

std::string percent(double part) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * part);
  return text;
}

void print_text(const ProfileSettings& s, const std::vector<OpTime>& times, double total_us) {
  TextTable table({"us per run", "share", "calls per run", "op", "node of the model"});
  const size_t shown = s.top > 0 ? std::min<size_t>(s.top, times.size()) : times.size();
  for (size_t i = 0; i < shown; ++i) {
    const OpTime& t = times[i];
    table.add({microseconds(t.total_us / static_cast<double>(s.runs)), percent(t.total_us / total_us),
               real(static_cast<double>(t.calls) / static_cast<double>(s.runs)), t.op, t.source});
  }
  std::printf("%s%s us per run over %s runs, %zu instructions\n", table.text().c_str(),
              microseconds(total_us / static_cast<double>(s.runs)).c_str(), number(s.runs).c_str(), times.size());
}

void print_result(const ProfileSettings& s, const std::vector<OpTime>& times, double total_us) {
  Json ops = Json::array();
  for (const OpTime& t : times)
    ops.push_back({{"instruction", t.instruction}, {"op", t.op}, {"source", t.source}, {"calls", t.calls}, {"total_us", t.total_us}});
  print_json({{"file", s.file}, {"runs", s.runs}, {"total_us", total_us}, {"ops", ops}});
}

void profile(const ProfileSettings& s) {
  Session session(s.file, {s.weights, false, s.kernels, s.threads});
  Recorder recorder;
  session.create_instance(&Recorder::event, &recorder);
  const uint32_t method = session.method(s.method);
  fill_inputs(session, method);
  session.own_io(method);
  session.run(method);  // the first one finds cold caches
  recorder.spans.clear();
  for (uint64_t i = 0; i < s.runs; ++i) session.run(method);
  const std::vector<OpTime> times = sum_up(session, recorder.spans);
  double total_us = 0;
  for (const OpTime& t : times) total_us += t.total_us;
  if (!s.trace.empty()) write_trace(s.trace, session, recorder.spans);
  if (s.json) print_result(s, times, total_us);
  else print_text(s, times, total_us);
}

}  // namespace

void add_profile(CLI::App& app, Context& context) {
  auto s = std::make_shared<ProfileSettings>();
  CLI::App* c = app.add_subcommand("profile", "Measure the time of each operator, named as the model's author named it");
  c->add_option("FILE", s->file, "program (.mote)")->required();
  c->add_option("--trace", s->trace, "write every run as a trace that Perfetto opens (JSON)");
  c->add_option("--runs", s->runs, "runs to measure (default 10)")->check(CLI::Range(uint64_t{1}, uint64_t{1000000}));
  c->add_option("--top", s->top, "show the K slowest only")->check(CLI::PositiveNumber);
  c->add_option("--method", s->method, "method to run (default: the first)");
  c->add_option("--threads", s->threads, "threads that share the work (default 1)")->check(CLI::PositiveNumber);
  c->add_option("--kernels", s->kernels, "instruction set of the kernels (default: the best of this machine)");
  c->add_option("--weights", s->weights, "file with the program's external weights");
  c->add_flag("--json", s->json, "print JSON (docs/json.md)");
  c->callback([s, &context] {
    context.json = s->json;
    profile(*s);
  });
}

}  // namespace mote::tools
