#pragma once

// What a plan takes on a target: the cost model behind strips. Steps add up arithmetic and bytes moved; what lies between steps is moved
// at the rate of the caches that hold it, which is where strips differ from whole layers.

#include <set>
#include <vector>

#include "mote/compiler/emit/cost.h"
#include "mote/compiler/schedule/plan.h"
#include "mote/compiler/target/target.h"

namespace mote::schedule {

class PlanCost {
 public:
  // `target` is borrowed.
  PlanCost(const target::Target& target, uint32_t threads) : target_(target), threads_(threads) {}

  // Nanoseconds of one pass over the steps; what control steps repeat, strips excepted, counts once. Nothing need be placed yet.
  // `step_ns`: of each step by itself.
  double run_ns(const Plan& plan, std::vector<double>* step_ns = nullptr);

 private:
  // What the steps of a strip keep between its trips; of steps outside: one trip.
  struct Scope {
    double trips = 1;
    uint64_t bytes = 0;
    bool strip = false;
  };
  Scope scope_of(const Plan& plan, size_t strip) const;
  double time_of(const Plan& plan, const Step& step, const Scope& scope);
  double moved_ns(uint64_t bytes, uint64_t among, uint32_t threads, bool written) const;
  double operands_ns(const Plan& plan, const Step& step, const Scope& scope, uint32_t threads);
  uint32_t useful_threads(const Plan& plan, const Step& step, const emit::Cost& cost, double trips) const;

  const target::Target& target_;
  const uint32_t threads_;
  std::vector<uint32_t> writers_;  // threads that wrote a tensor; 0: not known
  uint64_t constant_bytes_ = 0;    // of the whole plan
};

}  // namespace mote::schedule
