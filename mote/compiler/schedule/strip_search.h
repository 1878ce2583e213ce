#pragma once

// Which steps of a plan to run in strips.

#include <functional>

#include "mote/compiler/schedule/strips.h"

namespace mote::schedule {

class StripSearch {
 public:
  // Shares and places the memory of a plan; gives for each of its steps the number before. False when it does not fit.
  using Finish = std::function<bool(Plan&, std::vector<uint32_t>* origins)>;

  // `fresh`: steps without strips. It and `ops` are borrowed.
  StripSearch(const Plan& fresh, const OpRegistry& ops, Finish finish) : fresh_(fresh), ops_(ops), finish_(std::move(finish)) {}

  // Adds strips around the steps where the peak is, as long as it becomes smaller, until it is at most `goal` bytes (0: as small as it
  // gets). *best holds the finished plan without strips at first. False when finishing fails.
  bool run(uint64_t goal, Plan* best);

 private:
  struct Tried {
    std::vector<Segment> segments;
    Plan plan;
    std::vector<uint32_t> origins;
  };
  bool finished(const std::vector<Segment>& segments, Tried* out) const;
  std::vector<Segment> with(const std::vector<Segment>& segments, Segment more) const;
  static int64_t live_at(const Tried& t, uint32_t low, uint32_t high);
  bool improve(uint64_t goal, Tried* now) const;

  const Plan& fresh_;
  const OpRegistry& ops_;
  const Finish finish_;
};

}  // namespace mote::schedule
