#include "mote/tools/measure.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "mote/compiler/emit/builder.h"
#include "mote/platform/cpu.h"
#include "mote/tools/nearest.h"
#include "mote/tools/team.h"

namespace mote::tools {
namespace {

constexpr int kCalls = 200;  // operators of a run

// A chain of operators on one number each: nothing but calls.
emit::FileBytes make_calls() {
  emit::ProgramBuilder b;
  b.begin_method("main");
  emit::TensorId x = b.input("x", DType::f32, {1});
  const emit::TensorId one = b.constant_f32({1}, {1});
  for (int i = 0; i < kCalls; ++i) x = b.op(i % 2 == 0 ? OpId::add : OpId::mul, NoAttrs{}, {x, one});
  b.output("y", x);
  emit::FileBytes file;
  std::string error;
  if (!b.finish(&file, &error)) throw Failure("the program that calls are measured on cannot be made: " + error);
  return file;
}

void check(mote_status status) {
  if (status != 0) throw Failure("the program that calls are measured on does not run", status);
}

// Median of samples(), which are taken `count` times.
template <class F>
double median_of(int count, const F& sample) {
  std::vector<double> all;
  for (int i = 0; i < count; ++i) all.push_back(sample());
  return median(all);
}

// A part of the whole work's progress.
MeasureSettings part_of(const MeasureSettings& s, const std::string& name, double begin, double end) {
  MeasureSettings part = s;
  if (s.progress) part.progress = [=](const std::string& what, double p) { s.progress(what + ", " + name, begin + p * (end - begin)); };
  return part;
}

// Threads that other work keeps waiting for each other may seem slower than one of them; a plan that gives one the work loses nothing then.
void raise_to(const target::Rates& one, target::Rates* all) {
  const auto raise = [](double least, double* rate) { *rate = std::max(*rate, least); };
  raise(one.f32_gflops, &all->f32_gflops);
  raise(one.int8_gops, &all->int8_gops);
  for (size_t i = 0; i < one.bandwidth.size(); ++i) {
    raise(one.bandwidth[i].read, &all->bandwidth[i].read);
    raise(one.bandwidth[i].write, &all->bandwidth[i].write);
    raise(one.bandwidth[i].copy, &all->bandwidth[i].copy);
  }
}

}  // namespace

kernels::Isa find_isa(const std::string& name) {
  const uint32_t features = cpu_features();
  if (name.empty()) return kernels::best_isa(features);
  std::string names;
  std::vector<std::string> known;
  for (uint8_t i = 0; i < static_cast<uint8_t>(kernels::Isa::kCount); ++i) {
    const auto isa = static_cast<kernels::Isa>(i);
    if (!kernels::can_run(isa, features)) continue;
    if (name == kernels::isa_name(isa)) return isa;
    names += (names.empty() ? "" : ", ") + std::string(kernels::isa_name(isa));
    known.emplace_back(kernels::isa_name(isa));
  }
  throw Failure("no kernels of that name on this machine: expected one of " + names + ", found '" + name + "'" + did_you_mean(name, known));
}

double measure_call_ns(kernels::Isa isa) {
  const emit::FileBytes file = make_calls();
  mote_program* program = nullptr;
  check(mote_program_open_memory(file.data(), file.size, nullptr, &program, nullptr));
  const ProgramHandle program_owner(program);
  mote_instance_options o{};
  o.struct_size = sizeof o;
  o.kernels = kernels::isa_name(isa);
  mote_instance* instance = nullptr;
  check(mote_instance_create(program, &o, &instance, nullptr));
  const InstanceHandle instance_owner(instance);
  check(mote_instance_own_io(instance, 0, nullptr));
  const auto run = [&] { check(mote_instance_run(instance, 0, nullptr, nullptr)); };
  constexpr int kRuns = 20;
  run();
  return median_of(101, [&] {
    const uint64_t begin = clock_now_ns();
    for (int i = 0; i < kRuns; ++i) run();
    return static_cast<double>(clock_now_ns() - begin) / (kRuns * kCalls);
  });
}

Handoff measure_handoff(uint32_t threads) {
  if (threads < 2) return {};
  Team team(threads);
  const auto gather_us = [&] { return team.run([](uint32_t) {}).gather_ns / 1e3; };
  (void)gather_us();
  Handoff h;
  h.awake_us = median_of(1001, gather_us);
  // Far longer than a pool waits awake.
  h.asleep_us = median_of(101, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return gather_us();
  });
  return h;
}

target::Target measure_target(const MeasureSettings& s) {
  const auto stage = [&](const char* what, double part) {
    if (s.progress) s.progress(what, part);
  };
  stage("caches", 0);
  target::Target t = describe_target(s.isa);
  MeasureSettings one = part_of(s, "one thread", 0.05, s.threads > 1 ? 0.45 : 0.85);
  one.threads = 1;
  t.one = measure_rates(t, one);
  t.all = s.threads > 1 ? measure_rates(t, part_of(s, std::to_string(s.threads) + " threads", 0.45, 0.85)) : t.one;
  raise_to(t.one, &t.all);
  stage("calls", 0.85);
  t.call_ns = measure_call_ns(s.isa);
  stage("hand-over of work to threads", 0.9);
  const Handoff h = measure_handoff(s.threads);
  t.handoff_awake_us = h.awake_us;
  t.handoff_asleep_us = h.asleep_us;
  return t;
}

}  // namespace mote::tools
