#pragma once

// What a profile knows of a program's instructions: their names, what they cost, and when each call began and ended.

#include <string>
#include <vector>

#include "mote/compiler/program/cost.h"
#include "mote/tools/roofline.h"
#include "mote/tools/session.h"

namespace mote::tools {

// The trace hook: times on the platform's clock.
struct Recorder {
  struct Span {
    uint32_t instruction;
    uint64_t begin_ns, end_ns;
  };
  static void event(void* self, mote_trace_kind kind, uint32_t method, uint32_t instruction);
  uint64_t begin_ns = 0;
  std::vector<Span> spans;
  std::vector<size_t> runs;  // where each run's spans begin
};

// An instruction of the program.
struct OpRecord {
  uint32_t instruction = 0;
  std::string op, source;
  program::Cost cost;           // of one pass
  Bound bound;                  // of one pass
  uint64_t calls_per_pass = 1;  // more in strips
  uint64_t calls = 0;           // over all runs
  double total_us = 0;          // over all runs
  double median_us = 0;         // of one run

  double passes(uint64_t runs) const { return static_cast<double>(calls) / static_cast<double>(calls_per_pass * runs); }
};

// How much of what the machine could do an instruction does. Nothing where there is nothing to count.
struct Achieved {
  double gflops = 0, gb_s = 0;
  double percent = 0;  // of the roofline
};
Achieved achieved(const OpRecord& r, double us, double passes);

// Every instruction with its cost and bound, in the order of the program.
std::vector<OpRecord> describe_ops(const Session& session, const program::CostSource& program, const Roofline& roofline);
// Adds the times.
void add_times(const Recorder& recorder, std::vector<OpRecord>* ops);

// Chrome's trace format, which Perfetto opens: an event for every call.
void write_trace(const std::string& path, const std::vector<OpRecord>& ops, const Recorder& recorder);

}  // namespace mote::tools
