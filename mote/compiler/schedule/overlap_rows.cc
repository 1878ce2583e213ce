#include "mote/compiler/schedule/overlap_rows.h"

#include <algorithm>

#include "mote/compiler/schedule/overlap.h"
#include "mote/compiler/schedule/place.h"
#include "mote/compiler/schedule/share.h"
#include "mote/compiler/schedule/strips.h"

namespace mote::schedule {
namespace {

constexpr int32_t kTrips[] = {2, 4, 8, 16, 1 << 16};  // at most this many
constexpr int32_t kMostTrips = 4;                     // where no goal is given: each trip takes time
constexpr double kWorth = 0.9;                        // of the peak with fewer trips or none

// A step to put a strip around, and its trips at most. Of convolutions one after the other every second one begins with the last rows: the
// output lies in front of the input, then behind it, and they stay where they are.
struct Lone {
  uint32_t step;
  int32_t trips;
  bool backwards;
};

// The runtime's verifier permits it for products with weights.
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

std::vector<Lone> alternating(const Plan& plan, const std::vector<uint32_t>& steps, int32_t trips, bool backwards) {
  std::vector<Lone> lone;
  for (const uint32_t i : steps) {
    const bool follows = !lone.empty() && plan.steps[lone.back().step].outputs[0] == plan.steps[i].inputs[0];
    lone.push_back({i, trips, follows ? !lone.back().backwards : backwards});
  }
  return lone;
}

Plan with_lone(const Plan& from, const std::vector<Lone>& lone) {
  Plan plan = from;
  std::vector<Step> steps;
  std::vector<uint32_t> place(plan.steps.size() + 1);
  size_t next = 0;
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    place[i] = static_cast<uint32_t>(steps.size());
    Step s = plan.steps[i];
    if (next < lone.size() && lone[next].step == i) {
      const Lone& l = lone[next++];
      const int32_t all = plan.tensor(s.outputs[0]).desc.dims[1], most = std::min(all, l.trips), rows = (all + most - 1) / most;
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

class Search {
 public:
  Search(const Plan& from, uint32_t alignment) : from_(from), alignment_(alignment) {}

  // The peak with these strips; no plan when it cannot be placed.
  uint64_t peak(const std::vector<Lone>& lone, Plan* out) const {
    std::string ignored;
    *out = with_lone(from_, lone);
    return place_buffers(*out, alignment_, emit::Effort::kQuick, &ignored) ? out->peak() : UINT64_MAX;
  }

  // Without those whose output then lies on nothing all the same.
  std::vector<Lone> that_overlap(const std::vector<Lone>& lone) const {
    const Plan plan = with_lone(from_, lone);
    std::vector<Lone> kept;
    size_t before = 0;  // strips in front
    const std::vector<Overlap> all = find_overlaps(plan, buffer_lives(plan));
    for (const Lone& l : lone) {
      const auto step = static_cast<uint32_t>(l.step + ++before);
      if (std::any_of(all.begin(), all.end(), [&](const Overlap& o) { return o.step == step; })) kept.push_back(l);
    }
    return kept;
  }

  // Leaves out what the peak does not depend on, and halves trips that are more than it takes.
  std::vector<Lone> pruned(std::vector<Lone> lone, uint64_t most) const {
    Plan plan;
    for (size_t i = lone.size(); i-- > 0;) {
      std::vector<Lone> less = lone;
      less.erase(less.begin() + static_cast<ptrdiff_t>(i));
      if (peak(less, &plan) <= most) lone = std::move(less);
    }
    for (size_t i = 0; i < lone.size(); ++i) {
      std::vector<Lone> less = lone;
      while (less[i].trips > 2) {
        less[i].trips /= 2;
        if (peak(less, &plan) > most) break;
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
  if (!place_buffers(plan, alignment, emit::Effort::kQuick, error)) return false;
  const std::vector<uint32_t> steps = possible_steps(plan, ops);
  const Search search(plan, alignment);
  uint64_t least = plan.peak();
  std::vector<Lone> best;
  Plan tried;
  for (const int32_t trips : kTrips) {
    if ((goal > 0 && least <= goal) || (goal == 0 && trips > kMostTrips)) break;
    uint64_t most = goal > 0 ? least : static_cast<uint64_t>(static_cast<double>(least) * kWorth);
    for (const bool backwards : {false, true}) {
      const std::vector<Lone> lone = search.that_overlap(alternating(plan, steps, trips, backwards));
      const uint64_t peak = search.peak(lone, &tried);
      if (peak < most) best = lone, least = most = peak;
    }
  }
  if (best.empty()) return true;
  search.peak(search.pruned(best, std::max(goal, least)), &tried);
  plan = std::move(tried);
  return true;
}

}  // namespace mote::schedule
