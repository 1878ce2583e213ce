#include "tests/cross/golden_run.h"

#include <cmath>
#include <cstring>

namespace mote::testing {
namespace {

constexpr size_t kAlignment = 64;

// Hands out pieces of the caller's memory.
class Pieces {
 public:
  explicit Pieces(ByteSpan memory) : at_(memory.data), end_(memory.data + memory.size) {}
  // Null data when the memory is used up.
  ByteSpan take(size_t bytes) {
    const size_t skip = (kAlignment - reinterpret_cast<uintptr_t>(at_) % kAlignment) % kAlignment;
    if (static_cast<size_t>(end_ - at_) < skip + bytes) return {};
    uint8_t* p = at_ + skip;
    at_ = p + bytes;
    return {p, bytes};
  }

 private:
  uint8_t *at_, *end_;
};

struct Memory {
  ByteSpan instance, scratch, bank, input, output;
};

uint64_t ticks(const GoldenOptions& options) { return options.now == nullptr ? 0 : options.now(); }

InstanceMemory as_instance_memory(const Memory& m, const ByteSpan* bank) { return {m.instance, {bank, 1}, m.scratch}; }

// One byte less in any piece of memory must be refused, and nothing else may be.
bool refuses_less(const Program& program, const Memory& memory) {
  for (int piece = 0; piece < 3; ++piece) {
    Memory less = memory;
    ByteSpan& cut = piece == 0 ? less.instance : piece == 1 ? less.scratch : less.bank;
    if (cut.size == 0) continue;
    cut = {cut.data, cut.size - 1};
    Instance instance;
    if (instance.create(program, as_instance_memory(less, &less.bank)).code() != Status::kOutOfMemory) return false;
  }
  return true;
}

const Golden* find_golden(const ProgramTable& table, uint32_t example, bool output) {
  for (const Golden& g : table.goldens)
    if (g.method == 0 && g.example == example && (g.is_output != 0) == output) return &g;
  return nullptr;
}

// The largest difference relative to the largest expected magnitude. NaN counts as infinitely wrong.
float error_of(const float* found, const float* expected, size_t count) {
  float worst = 0, largest = 0;
  for (size_t i = 0; i < count; ++i) {
    const float difference = std::fabs(found[i] - expected[i]);
    if (!(difference <= worst)) worst = difference;
    if (std::fabs(expected[i]) > largest) largest = std::fabs(expected[i]);
  }
  return worst / (largest > 0 ? largest : 1);
}

Status run_examples(const Program& program, Instance& instance, const Memory& memory, const GoldenOptions& options, GoldenReport* report) {
  const ProgramTable& table = program.table();
  for (uint32_t example = 0;; ++example) {
    const Golden *in = find_golden(table, example, false), *out = find_golden(table, example, true);
    if (in == nullptr || out == nullptr) return Status::kOk;
    report->step = "golden input";
    std::memcpy(memory.input.data, program.segment(in->segment).data + in->offset, memory.input.size);
    std::memset(memory.output.data, 0xff, memory.output.size);
    report->step = "run";
    const uint64_t begin = ticks(options);
    MOTE_TRY(instance.run(0));
    if (example == 0) report->run_ticks = ticks(options) - begin;
    report->step = "compare with the golden output";
    const auto* expected = reinterpret_cast<const float*>(program.segment(out->segment).data + out->offset);
    const float error = error_of(reinterpret_cast<const float*>(memory.output.data), expected, memory.output.size / sizeof(float));
    if (!(error <= report->worst)) report->worst = error;
    if (!(error <= out->tolerance)) return Status::kInternal;
    ++report->examples;
  }
}

Status run_all(ConstBytes file, ByteSpan memory, const OpRegistry& ops, const GoldenOptions& options, GoldenReport* report) {
  Program program;
  report->step = "open";
  const uint64_t begin = ticks(options);
  ProgramSource source;
  source.file = file;
  MOTE_TRY(Program::open(source, ops, &program, &report->diagnostic));
  report->open_ticks = ticks(options) - begin;
  const ProgramTable& table = program.table();
  report->step = "the program must have one method, bank, input and output";
  if (table.methods.size != 1 || table.banks.size != 1 || table.methods[0].input_count != 1 || table.methods[0].output_count != 1)
    return Status::kUnsupported;
  report->step = "memory for the test";
  Pieces pieces(memory);
  Memory m;
  m.instance = pieces.take(report->instance_bytes = program.needs().instance);
  m.scratch = pieces.take(report->scratch_bytes = program.needs().scratch(1));
  m.bank = pieces.take(report->bank_bytes = static_cast<uint32_t>(table.banks[0].size));
  m.input = pieces.take(extent_bytes(table.tensors[table.ios[table.methods[0].first_input].tensor]));
  m.output = pieces.take(extent_bytes(table.tensors[table.ios[table.methods[0].first_output].tensor]));
  if (m.output.data == nullptr) return Status::kOutOfMemory;
  report->step = "refuse one byte less";
  if (!refuses_less(program, m)) return Status::kInternal;
  report->step = "create";
  Instance instance;
  const uint64_t create = ticks(options);
  MOTE_TRY(instance.create(program, as_instance_memory(m, &m.bank), {}, &report->diagnostic));
  report->create_ticks = ticks(options) - create;
  report->step = "bind";
  MOTE_TRY(instance.bind_input(0, 0, m.input.data, m.input.size));
  MOTE_TRY(instance.bind_output(0, 0, m.output.data, m.output.size));
  MOTE_TRY(run_examples(program, instance, m, options, report));
  report->step = "the program has no golden examples";
  return report->examples > 0 ? Status(Status::kOk) : Status(Status::kNotFound);
}

}  // namespace

GoldenReport run_golden_examples(ConstBytes file, ByteSpan memory, const OpRegistry& ops, const GoldenOptions& options) noexcept {
  GoldenReport report;
  report.status = run_all(file, memory, ops, options, &report);
  return report;
}

}  // namespace mote::testing
