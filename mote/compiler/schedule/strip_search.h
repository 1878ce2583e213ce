#pragma once

// The search for the steps of a plan to run in strips.

#include <functional>

#include "mote/compiler/schedule/plan_cost.h"
#include "mote/compiler/schedule/strips.h"

namespace mote::schedule {

// Limits of a plan with strips, relative to the plan without.
struct StripLimits {
  double time;  // on the target, on one thread or on many
  double peak;  // of memory
};

class StripSearch {
 public:
  // Shares and places the memory of a plan; *origins: the number before of each of its steps. False when it does not fit.
  using Finish = std::function<bool(Plan&, std::vector<uint32_t>* origins)>;

  // `fresh`: steps without strips. Plan, registry and target are borrowed.
  StripSearch(const Plan& fresh, const OpRegistry& ops, Finish finish, const target::Target& target, const StripLimits& limits);

  // Adds strips around the steps where the peak is, as long as it becomes smaller, until it is at most `goal` bytes (0: as small as it
  // gets). Of plans that need about the same memory, or reach the goal, the fastest is taken. *best holds the finished plan without strips
  // at first. False when finishing fails.
  bool run(uint64_t goal, Plan* best);

 private:
  struct Tried {
    std::vector<Segment> segments;
    Plan plan;
    std::vector<uint32_t> origins;
  };
  struct Candidate {
    std::vector<Segment> segments;
    uint64_t peak;
    int64_t live;     // peak of live bytes at the steps the search is about, which need not be the plan's highest peak
    double slowness;  // time relative to the plan without strips, for the worst number of threads
  };
  bool finished(const std::vector<Segment>& segments, Tried* out) const;
  double slowness(const Plan& plan) const;
  std::vector<Segment> with(const std::vector<Segment>& segments, Segment more) const;
  std::vector<Candidate> candidates(const Tried& now) const;
  bool improve(uint64_t goal, Tried* now) const;

  const Plan& fresh_;
  const OpRegistry& ops_;
  const Finish finish_;
  const target::Target& target_;
  const StripLimits limits_;
  std::vector<std::pair<uint32_t, double>> whole_ns_;  // by threads: the plan without strips
};

}  // namespace mote::schedule
