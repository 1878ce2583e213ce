#include "mote/tools/profile_record.h"

#include "mote/platform/clock.h"
#include "mote/tools/files.h"
#include "mote/tools/json_out.h"
#include "mote/tools/measure.h"

namespace mote::tools {

void Recorder::event(void* self, mote_trace_kind kind, uint32_t, uint32_t instruction) {
  auto& r = *static_cast<Recorder*>(self);
  if (kind == MOTE_TRACE_RUN_BEGIN) r.runs.push_back(r.spans.size());
  if (kind == MOTE_TRACE_INSTRUCTION_BEGIN) r.begin_ns = clock_now_ns();
  if (kind == MOTE_TRACE_INSTRUCTION_END) r.spans.push_back({instruction, r.begin_ns, clock_now_ns()});
}

Achieved achieved(const OpRecord& r, double us, double passes) {
  if (us <= 0) return {};
  return {2 * static_cast<double>(r.cost.macs) * passes / us / 1e3, static_cast<double>(r.cost.bytes()) * passes / us / 1e3,
          100 * r.bound.us() * passes / us};
}

std::vector<OpRecord> describe_ops(const Session& session, const program::CostSource& program, const Roofline& roofline) {
  const std::vector<uint64_t> calls = program::calls_per_pass(program);
  std::vector<OpRecord> all(program.instructions.size);
  for (uint32_t i = 0; i < all.size(); ++i) {
    OpRecord& r = all[i];
    const char *op = "", *source = "";
    (void)mote_program_instruction(session.program(), i, &op, &source);
    r.instruction = i;
    r.op = op;
    r.source = source;
    r.calls_per_pass = calls[i];
    r.cost = program::cost_of(program, program.instructions[i]);
    r.bound = roofline.of(r.cost, calls[i]);
  }
  return all;
}

void add_times(const Recorder& recorder, std::vector<OpRecord>* ops) {
  std::vector<std::vector<double>> runs(ops->size(), std::vector<double>(recorder.runs.size()));
  for (size_t run = 0; run < recorder.runs.size(); ++run) {
    const size_t end = run + 1 < recorder.runs.size() ? recorder.runs[run + 1] : recorder.spans.size();
    for (size_t i = recorder.runs[run]; i < end; ++i) {
      const Recorder::Span& s = recorder.spans[i];
      runs[s.instruction][run] += static_cast<double>(s.end_ns - s.begin_ns) / 1e3;
      ++(*ops)[s.instruction].calls;
    }
  }
  for (size_t i = 0; i < ops->size(); ++i) {
    for (double us : runs[i]) (*ops)[i].total_us += us;
    (*ops)[i].median_us = median(runs[i]);
  }
}

void write_trace(const std::string& path, const std::vector<OpRecord>& ops, const Recorder& recorder) {
  Json events = Json::array();
  const uint64_t first = recorder.spans.empty() ? 0 : recorder.spans.front().begin_ns;
  for (const Recorder::Span& s : recorder.spans) {
    const OpRecord& r = ops[s.instruction];
    const double us = static_cast<double>(s.end_ns - s.begin_ns) / 1e3, part = 1 / static_cast<double>(r.calls_per_pass);
    const Achieved a = achieved(r, us, part);
    events.push_back({{"name", r.source.empty() ? r.op : r.source},
                      {"cat", r.op},
                      {"ph", "X"},
                      {"ts", static_cast<double>(s.begin_ns - first) / 1e3},
                      {"dur", us},
                      {"pid", 1},
                      {"tid", 1},
                      {"args",
                       {{"op", r.op},
                        {"instruction", s.instruction},
                        {"macs", static_cast<double>(r.cost.macs) * part},
                        {"bytes", static_cast<double>(r.cost.bytes()) * part},
                        {"gflops", a.gflops},
                        {"gb_s", a.gb_s},
                        {"roofline_percent", a.percent},
                        {"limit", r.bound.limit()}}}});
  }
  const std::string text = json_text({{"traceEvents", events}, {"displayTimeUnit", "ns"}});
  std::string error;
  if (!write_whole_file(path, {text.begin(), text.end()}, &error)) throw Failure(path + ": " + error);
}

}  // namespace mote::tools
