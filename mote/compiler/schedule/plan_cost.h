#pragma once

// The cost model of plans: the time of a plan on a target. A step costs its arithmetic, its calls and the bytes it moves, at the bandwidth
// of the cache level that holds them; that is where strips differ from whole layers.

#include <set>
#include <vector>

#include "mote/compiler/program/cost.h"
#include "mote/compiler/schedule/plan.h"
#include "mote/compiler/target/target.h"

namespace mote::schedule {

class PlanCost {
 public:
  // `target` is borrowed.
  PlanCost(const target::Target& target, uint32_t threads) : target_(target), threads_(threads) {}

  // Nanoseconds of one pass over the steps; the bodies of loops count once. Works before buffers have offsets.
  // `step_ns`: of each step by itself.
  double run_ns(const Plan& plan, std::vector<double>* step_ns = nullptr);

 private:
  // The working set of a strip between its trips. Steps outside of strips: one trip.
  struct Scope {
    double trips = 1;
    uint64_t bytes = 0;
    bool strip = false;
  };
  Scope scope_of(const Plan& plan, size_t strip) const;
  double time_of(const Plan& plan, const Step& step, const Scope& scope);
  double moved_ns(uint64_t bytes, uint64_t among, uint32_t threads, bool written) const;
  double operands_ns(const Plan& plan, const Step& step, const Scope& scope, uint32_t threads);
  uint32_t thread_count(const Plan& plan, const Step& step, const program::Cost& cost, double trips) const;

  const target::Target& target_;
  const uint32_t threads_;
  std::vector<uint32_t> writers_;  // how many threads wrote a tensor; 0: unknown
  uint64_t constant_bytes_ = 0;    // of the whole plan
};

}  // namespace mote::schedule
