#pragma once

// Measuring what this machine can do. Everything is a median of rounds, and a round measures everything once, so that a neighbour on the
// machine disturbs all figures alike.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mote/compiler/target/target.h"
#include "mote/kernels/select.h"

namespace mote::tools {

struct MeasureSettings {
  kernels::Isa isa = kernels::Isa::kPortable;
  uint32_t threads = 1;
  target::Level furthest = target::kMemory;  // caches and memory beyond it are left out
  int rounds = 25;
  bool best = false;      // the best round instead of the median: what the machine can do, not what it does on the whole
  double round_ms = 1.5;  // of one figure
  std::function<void(const std::string& what, double part)> progress = nullptr;
  double* noise = nullptr;  // raised to how much better the best round of arithmetic was than the median: 1 on a quiet machine
};

// The instruction set of that name, or the most able one for "". Throws Failure with the names this machine has.
kernels::Isa find_isa(const std::string& name);

// Names of the machine and sizes of its caches: the system's, or the knees of a read bandwidth. No rates.
target::Target describe_target(kernels::Isa isa);
// What `settings.threads` threads do together. Caches are those of `machine`.
target::Rates measure_rates(const target::Target& machine, const MeasureSettings& settings);
// All of it: rates of one and of `settings.threads` threads, and what calls and hand-offs cost.
target::Target measure_target(const MeasureSettings& settings);

// One operator with next to nothing to do, in ns.
double measure_call_ns(kernels::Isa isa);
// Until every thread of a pool has begun, in us: while they wait for work awake, and while they sleep.
struct Handoff {
  double awake_us = 0, asleep_us = 0;
};
Handoff measure_handoff(uint32_t threads);

// Plain code in place of an instruction set's, for the portable kernels.
kernels::Probes portable_probes();

double median(std::vector<double> values);
// Sizes of caches from the bandwidth of reading blocks (bytes, rate) of rising size: the last one before the rate falls, at most three.
std::vector<uint64_t> cache_knees(const std::vector<std::pair<uint64_t, double>>& bandwidth);

}  // namespace mote::tools
