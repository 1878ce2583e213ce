#include "mote/compiler/schedule/overlap_rows.h"

#include <algorithm>

#include "mote/compiler/schedule/overlap.h"
#include "mote/compiler/schedule/place.h"
#include "mote/compiler/schedule/share.h"
#include "mote/compiler/schedule/strips.h"

namespace mote::schedule {
namespace {

constexpr int32_t kTrips[] = {2, 4, 8, 16, 1 << 16};  // at most this many
constexpr int32_t kMaxTrips = 4;                      // without a goal: every trip costs a call
constexpr double kMaxPart = 0.9;                      // a new peak must be below this part of the one before

// A strip around one step, with at most so many trips. In a chain of convolutions every second one runs its rows backwards: outputs start
// alternately before and behind their input, so that the chain does not drift through the arena.
struct LoneStrip {
  uint32_t step;
  int32_t trips;
  bool backwards;
};

// The runtime's verifier permits such overlaps for convolutions alone.
std::vector<uint32_t> possible_steps(const Plan& plan, const OpRegistry& ops) {
  std::vector<uint32_t> steps;
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    const Step& s = plan.steps[i];
    if (s.is_control()) i += s.body + s.otherwise;
    else if ((s.is(OpId::conv) || s.is(OpId::q_conv)) && works_by_rows(plan, ops, s) && plan.tensor(s.outputs[0]).desc.dims[1] > 1)
      steps.push_back(i);
  }
  return steps;
}

std::vector<LoneStrip> alternating(const Plan& plan, const std::vector<uint32_t>& steps, int32_t trips, bool backwards) {
  std::vector<LoneStrip> lone;
  for (const uint32_t i : steps) {
    const bool follows = !lone.empty() && plan.steps[lone.back().step].outputs[0] == plan.steps[i].inputs[0];
    lone.push_back({i, trips, follows ? !lone.back().backwards : backwards});
  }
  return lone;
}

Plan with_lone(const Plan& from, const std::vector<LoneStrip>& lone) {
  Plan plan = from;
  std::vector<Step> steps;
  std::vector<uint32_t> place(plan.steps.size() + 1);
  size_t next = 0;
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    place[i] = static_cast<uint32_t>(steps.size());
    Step s = plan.steps[i];
    if (next < lone.size() && lone[next].step == i) {
      const LoneStrip& l = lone[next++];
      const int32_t all = plan.tensor(s.outputs[0]).desc.dims[1], max_trips = std::min(all, l.trips),
                    rows = (all + max_trips - 1) / max_trips;
      const int32_t trips = (all + rows - 1) / rows;
      Step strip;
      strip.op = static_cast<uint16_t>(ControlOp::kStrip);
      strip.name = s.name;
      strip.body = 1;
      strip.trips = static_cast<uint32_t>(trips);
      steps.push_back(std::move(strip));
      s.rows = {l.backwards ? (trips - 1) * rows : 0, l.backwards ? -rows : rows, rows};
    }
    steps.push_back(std::move(s));
  }
  place.back() = static_cast<uint32_t>(steps.size());
  set_steps(plan, std::move(steps), place);
  return plan;
}

class RowOverlapSearch {
 public:
  RowOverlapSearch(const Plan& from, uint32_t alignment) : from_(from), alignment_(alignment) {}

  // The peak with these strips; UINT64_MAX when the banks are too small.
  uint64_t peak(const std::vector<LoneStrip>& lone, Plan* out) const {
    std::string ignored;
    *out = with_lone(from_, lone);
    return place_buffers(*out, alignment_, memory::Effort::kQuick, &ignored) ? out->peak() : UINT64_MAX;
  }

  // Without the strips whose output cannot overlap its input.
  std::vector<LoneStrip> without_useless(const std::vector<LoneStrip>& lone) const {
    const Plan plan = with_lone(from_, lone);
    std::vector<LoneStrip> kept;
    size_t before = 0;  // strips before this one
    const std::vector<Overlap> all = find_overlaps(plan, buffer_live_ranges(plan));
    for (const LoneStrip& l : lone) {
      const auto step = static_cast<uint32_t>(l.step + ++before);
      if (std::any_of(all.begin(), all.end(), [&](const Overlap& o) { return o.step == step; })) kept.push_back(l);
    }
    return kept;
  }

  // Drops strips without which the peak stays within `limit`, and halves numbers of trips while it does.
  std::vector<LoneStrip> pruned(std::vector<LoneStrip> lone, uint64_t limit) const {
    Plan plan;
    for (size_t i = lone.size(); i-- > 0;) {
      std::vector<LoneStrip> less = lone;
      less.erase(less.begin() + static_cast<ptrdiff_t>(i));
      if (peak(less, &plan) <= limit) lone = std::move(less);
    }
    for (size_t i = 0; i < lone.size(); ++i) {
      std::vector<LoneStrip> less = lone;
      while (less[i].trips > 2) {
        less[i].trips /= 2;
        if (peak(less, &plan) > limit) break;
        lone = less;
      }
    }
    return lone;
  }

 private:
  const Plan& from_;
  const uint32_t alignment_;
};

}  // namespace

bool overlap_rows(Plan& plan, const OpRegistry& ops, uint32_t alignment, uint64_t goal, std::string* error) {
  if (!place_buffers(plan, alignment, memory::Effort::kQuick, error)) return false;
  const std::vector<uint32_t> steps = possible_steps(plan, ops);
  const RowOverlapSearch search(plan, alignment);
  uint64_t least = plan.peak();
  std::vector<LoneStrip> best;
  Plan tried;
  for (const int32_t trips : kTrips) {
    if ((goal > 0 && least <= goal) || (goal == 0 && trips > kMaxTrips)) break;
    uint64_t bound = goal > 0 ? least : static_cast<uint64_t>(static_cast<double>(least) * kMaxPart);
    for (const bool backwards : {false, true}) {
      const std::vector<LoneStrip> lone = search.without_useless(alternating(plan, steps, trips, backwards));
      const uint64_t peak = search.peak(lone, &tried);
      if (peak < bound) best = lone, least = bound = peak;
    }
  }
  if (best.empty()) return true;
  search.peak(search.pruned(best, std::max(goal, least)), &tried);
  plan = std::move(tried);
  return true;
}

}  // namespace mote::schedule
