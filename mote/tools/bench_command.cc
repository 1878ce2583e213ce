#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <thread>

#include "mote/platform/clock.h"
#include "mote/platform/process.h"
#include "mote/tools/commands.h"
#include "mote/tools/golden.h"
#include "mote/tools/input_option.h"
#include "mote/tools/json_out.h"
#include "mote/tools/program_options.h"
#include "mote/tools/progress.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

struct BenchSettings : ProgramOptions {
  double period_us = 0, deadline_us = 0, duration_s = 0;
  uint64_t runs = 0;
};

struct Measured {
  double load_us = 0, first_us = 0;
  std::vector<double> run_us;
  std::vector<double> late_us;  // start of each run after its scheduled time, in periodic mode
  uint64_t misses = 0;
  double jitter_us(double q) const;
};

double since_us(uint64_t begin_ns) { return static_cast<double>(clock_now_ns() - begin_ns) / 1e3; }

// The value below which a part `q` of the sorted values lies (nearest rank).
double percentile(std::vector<double> v, double q) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(v.size())));
  return v[std::min(v.size() - 1, rank > 0 ? rank - 1 : 0)];
}

double Measured::jitter_us(double q) const { return percentile(late_us, q); }

constexpr char kStage[] = "measuring";

void measure_back_to_back(Session& session, uint32_t method, const BenchSettings& s, Progress* progress, Measured* m) {
  const uint64_t begin = clock_now_ns();
  const double duration_us = s.duration_s * 1e6;
  for (;;) {
    const uint64_t start = clock_now_ns();
    session.run(method);
    m->run_us.push_back(since_us(start));
    const double of_runs = static_cast<double>(m->run_us.size()) / static_cast<double>(s.runs > 0 ? s.runs : 10);
    const double of_time = duration_us > 0 ? since_us(begin) / duration_us : 1;
    progress->show(kStage, s.runs > 0 ? std::max(of_runs, duration_us > 0 ? of_time : 0) : std::min(of_runs, of_time));
    const bool enough = s.runs > 0 ? m->run_us.size() >= s.runs : m->run_us.size() >= 10;
    if (s.runs > 0 ? enough || (duration_us > 0 && since_us(begin) >= duration_us) : enough && since_us(begin) >= duration_us) return;
  }
}

// Starts a run every period; a run that comes late is not caught up with but counted.
void measure_periodic(Session& session, uint32_t method, const BenchSettings& s, Progress* progress, Measured* m) {
  using Clock = std::chrono::steady_clock;
  const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::micro>(s.period_us));
  const double deadline_us = s.deadline_us > 0 ? s.deadline_us : s.period_us;
  const auto to_us = [](Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); };
  const uint64_t count = s.runs > 0 ? s.runs : std::max<uint64_t>(1, static_cast<uint64_t>(s.duration_s * 1e6 / s.period_us));
  auto scheduled = Clock::now() + period;
  for (uint64_t i = 0; i < count; ++i) {
    std::this_thread::sleep_until(scheduled);
    const auto start = Clock::now();
    session.run(method);
    const auto end = Clock::now();
    m->late_us.push_back(to_us(start - scheduled));
    m->run_us.push_back(to_us(end - start));
    m->misses += to_us(end - scheduled) > deadline_us;
    progress->show(kStage, static_cast<double>(i + 1) / static_cast<double>(count));
    scheduled += period;
    while (scheduled <= end) {
      scheduled += period;
      ++m->misses;  // a period that passed without a run
    }
  }
}

// Degrees Celsius of the hottest zone the system shows; NaN where it shows none.
double temperature() {
  double hottest = std::nan("");
  for (int i = 0; i < 32; ++i) {
    std::ifstream zone("/sys/class/thermal/thermal_zone" + std::to_string(i) + "/temp");
    double millidegrees;
    if (zone >> millidegrees) hottest = std::isnan(hottest) ? millidegrees / 1e3 : std::max(hottest, millidegrees / 1e3);
  }
  return hottest;
}

Json to_json(const BenchSettings& s, const Session& session, const Measured& m, uint64_t anonymous_before) {
  mote_certificate c{};
  c.struct_size = sizeof c;
  (void)mote_program_certificate(session.program(), &c);
  const ProcessMemory memory = process_memory();
  Json j = {{"file", s.file},
            {"load_us", m.load_us},
            {"first_us", m.first_us},
            {"p50_us", percentile(m.run_us, 0.5)},
            {"p90_us", percentile(m.run_us, 0.9)},
            {"p99_us", percentile(m.run_us, 0.99)},
            {"max_us", percentile(m.run_us, 1)},
            {"min_us", percentile(m.run_us, 0)},
            {"runs", m.run_us.size()},
            {"threads", s.threads},
            {"peak_rss_bytes", memory.peak_resident_bytes},
            {"anonymous_bytes", memory.anonymous_bytes},
            {"anonymous_growth_bytes", memory.anonymous_bytes > anonymous_before ? memory.anonymous_bytes - anonymous_before : 0},
            {"arena_bytes", c.arena_bytes},
            {"instance_bytes", c.instance_bytes},
            {"scratch_bytes", c.scratch_bytes},
            {"allocated_bytes", mote_program_allocated_bytes(session.program()) + mote_instance_allocated_bytes(session.instance())},
            {"file_bytes", mote_program_file_bytes(session.program())}};
  const double t = temperature();
  j["temperature_c"] = std::isnan(t) ? Json(nullptr) : Json(t);
  if (s.period_us > 0) {
    j["period_us"] = s.period_us;
    j["deadline_us"] = s.deadline_us > 0 ? s.deadline_us : s.period_us;
    j["jitter_p50_us"] = m.jitter_us(0.5);
    j["jitter_p99_us"] = m.jitter_us(0.99);
    j["jitter_max_us"] = m.jitter_us(1);
    j["deadline_misses"] = m.misses;
  }
  return j;
}

void print_text(const Json& j) {
  TextTable t({"", ""});
  const auto us = [&](const char* label, const char* key) { t.add({label, microseconds(j[key].get<double>()) + " us"}); };
  us("load", "load_us");
  us("first run", "first_us");
  us("p50", "p50_us");
  us("p90", "p90_us");
  us("p99", "p99_us");
  us("max", "max_us");
  t.add({"runs", number(j["runs"].get<uint64_t>())});
  if (j.contains("period_us")) {
    us("period", "period_us");
    us("deadline", "deadline_us");
    us("jitter p50", "jitter_p50_us");
    us("jitter p99", "jitter_p99_us");
    us("jitter max", "jitter_max_us");
    t.add({"deadline misses", number(j["deadline_misses"].get<uint64_t>())});
  }
  const auto bytes = [&](const char* label, const char* key) { t.add({label, bytes_text(j[key].get<uint64_t>())}); };
  bytes("file", "file_bytes");
  bytes("arena", "arena_bytes");
  bytes("instance", "instance_bytes");
  bytes("peak resident", "peak_rss_bytes");
  bytes("anonymous", "anonymous_bytes");
  bytes("  since loading", "anonymous_growth_bytes");
  if (!j["temperature_c"].is_null()) t.add({"temperature", microseconds(j["temperature_c"].get<double>()) + " C"});
  std::printf("%s", t.text().c_str());
}

void bench(BenchSettings s) {
  if (s.deadline_us > 0 && s.period_us <= 0) throw usage("--deadline-us needs --period-us");
  if (s.runs == 0 && s.duration_s == 0) s.duration_s = 1;
  Measured m;
  Progress progress;
  progress.show("loading");
  const uint64_t anonymous_before = process_memory().anonymous_bytes;
  const uint64_t begin = clock_now_ns();
  Session session(s.file, s);
  session.create_instance();
  m.load_us = since_us(begin);
  const uint32_t method = session.method(s.method);
  fill_inputs(session, method, s.inputs);
  session.own_io(method);
  progress.show("the first run");
  const uint64_t first = clock_now_ns();
  session.run(method);
  m.first_us = since_us(first);
  m.run_us.reserve(1u << 16);
  if (s.period_us > 0) measure_periodic(session, method, s, &progress, &m);
  else measure_back_to_back(session, method, s, &progress, &m);
  progress.clear();
  const Json j = to_json(s, session, m, anonymous_before);
  if (s.json) print_json(j);
  else print_text(j);
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  auto s = std::make_shared<BenchSettings>();
  CLI::App* c = app.add_subcommand("bench", "Measure loading, running and memory");
  add_input_options(c, s.get(), " (default: golden examples, or made up)");
  c->add_option("--period-us", s->period_us, "start a run every so many microseconds; report jitter")->check(CLI::PositiveNumber);
  c->add_option("--deadline-us", s->deadline_us,
                "with --period-us: count runs that end later than this after their start was due (default: the period)")
      ->check(CLI::PositiveNumber);
  c->add_option("--duration", s->duration_s, "seconds to measure (default 1)")->check(CLI::PositiveNumber);
  c->add_option("--runs", s->runs, "runs to measure, instead of or within --duration")->check(CLI::PositiveNumber);
  add_program_options(c, s.get());
  c->callback([s, &context] {
    context.json = s->json;
    bench(*s);
  });
}

}  // namespace mote::tools
