#include "mote/compiler/schedule/strip_search.h"

#include <algorithm>

#include "mote/compiler/schedule/overlap.h"
#include "mote/compiler/schedule/place.h"

namespace mote::schedule {
namespace {

constexpr uint32_t kMaxReach = 12;  // a strip reaches at most so many steps before and behind the peak
constexpr int kRounds = 12;
constexpr int32_t kRows[] = {32, 16, 8, 4, 2, 1};  // candidates for the rows of a trip

// Sizes within 5 % count as equal.
uint64_t with_tolerance(uint64_t bytes) { return bytes + bytes / 20; }

// Live bytes at each step.
std::vector<int64_t> live_bytes(const Plan& plan) {
  const std::vector<memory::LiveRange> ranges = buffer_live_ranges(plan);
  std::vector<int64_t> live(plan.steps.size() + 2, 0);
  for (size_t b = 0; b < ranges.size(); ++b) {
    if (!ranges[b].used()) continue;
    live[ranges[b].first] += static_cast<int64_t>(plan.buffers[b].bytes);
    live[std::min<size_t>(ranges[b].last, plan.steps.size()) + 1] -= static_cast<int64_t>(plan.buffers[b].bytes);
  }
  for (const Overlap& o : find_overlaps(plan, ranges)) {
    const Buffer &y = plan.buffers[static_cast<size_t>(o.output)], &x = plan.buffers[static_cast<size_t>(o.input)];
    memory::BufferRequest output, input;
    output.bytes = y.bytes, input.bytes = x.bytes;
    output.distance = o.distance;
    output.starts_after = o.starts_after;
    const auto shared = static_cast<int64_t>(memory::shared_bytes(output, input));
    live[o.step] -= shared;
    live[o.step + 1] += shared;
  }
  for (size_t i = 1; i < live.size(); ++i) live[i] += live[i - 1];
  live.resize(plan.steps.size());
  return live;
}

// The peak of live bytes over the steps whose original numbers are in [low, high].
int64_t live_at(const Plan& plan, const std::vector<uint32_t>& origins, uint32_t low, uint32_t high) {
  const std::vector<int64_t> live = live_bytes(plan);
  int64_t peak = 0;
  for (size_t i = 0; i < live.size(); ++i)
    if (low <= origins[i] && origins[i] <= high) peak = std::max(peak, live[i]);
  return peak;
}

}  // namespace

StripSearch::StripSearch(const Plan& fresh, const OpRegistry& ops, Finish finish, const target::Target& target, const StripLimits& limits)
    : fresh_(fresh), ops_(ops), finish_(std::move(finish)), target_(target), limits_(limits) {
  for (const uint32_t threads : std::set<uint32_t>{1, std::min(2u, target.all.threads), target.all.threads})
    whole_ns_.emplace_back(threads, PlanCost(target, threads).run_ns(fresh));
}

double StripSearch::slowness(const Plan& plan) const {
  double worst = 0;
  for (const auto& [threads, ns] : whole_ns_) worst = std::max(worst, PlanCost(target_, threads).run_ns(plan) / ns);
  return worst;
}

bool StripSearch::finished(const std::vector<Segment>& segments, Tried* out) const {
  out->segments = segments;
  out->plan = fresh_;
  std::vector<uint32_t> before, after;
  if (!make_strips(out->plan, ops_, segments, &before) || !finish_(out->plan, &after)) return false;
  out->origins.clear();
  for (uint32_t i : after) out->origins.push_back(before[i]);
  return true;
}

// The segments with one more, merged with those it overlaps.
std::vector<Segment> StripSearch::with(const std::vector<Segment>& segments, Segment more) const {
  std::vector<Segment> out;
  for (const Segment& s : segments) {
    const bool meets = s.first <= more.last && more.first <= s.last;
    if (meets) more.first = std::min(more.first, s.first), more.last = std::max(more.last, s.last);
    else out.push_back(s);
  }
  out.push_back(more);
  std::sort(out.begin(), out.end(), [](const Segment& a, const Segment& b) { return a.first < b.first; });
  return out;
}

// Strips around the step with the most live bytes that reduce them.
std::vector<StripSearch::Candidate> StripSearch::candidates(const Tried& now) const {
  std::vector<Candidate> found;
  const std::vector<int64_t> live = live_bytes(now.plan);
  if (live.empty()) return found;
  const uint32_t at = now.origins[static_cast<size_t>(std::max_element(live.begin(), live.end()) - live.begin())];
  if (!works_by_rows(fresh_, ops_, fresh_.steps[at])) return found;
  uint32_t low = at, high = at;
  while (low > 0 && at - low < kMaxReach && works_by_rows(fresh_, ops_, fresh_.steps[low - 1])) --low;
  while (high + 1 < fresh_.steps.size() && high - at < kMaxReach && works_by_rows(fresh_, ops_, fresh_.steps[high + 1])) ++high;
  const auto score = std::make_pair(now.plan.peak(), live_at(now.plan, now.origins, low, high));
  std::vector<std::vector<Segment>> seen = {now.segments};
  for (uint32_t first = low; first <= at; ++first) {
    for (uint32_t last = std::max(at, first + 1); last <= high; ++last) {
      for (const int32_t rows : kRows) {
        const std::vector<Segment> segments = with(now.segments, {first, last, rows});
        if (std::find(seen.begin(), seen.end(), segments) != seen.end()) continue;
        seen.push_back(segments);
        Plan plan = fresh_;
        if (!make_strips(plan, ops_, segments, nullptr)) continue;
        const double slow = slowness(plan);
        if (slow > limits_.time) continue;
        Tried tried;
        if (!finished(segments, &tried)) continue;
        const auto reached = std::make_pair(tried.plan.peak(), live_at(tried.plan, tried.origins, low, high));
        if (reached < score) found.push_back({segments, reached.first, reached.second, slow});
      }
    }
  }
  return found;
}

bool StripSearch::improve(uint64_t goal, Tried* now) const {
  const std::vector<Candidate> all = candidates(*now);
  if (all.empty()) return false;
  const auto smaller = [](const Candidate& a, const Candidate& b) {
    return std::make_pair(a.peak, a.live) < std::make_pair(b.peak, b.live);
  };
  const Candidate* best = &*std::min_element(all.begin(), all.end(), smaller);
  const uint64_t peak = std::max(goal, with_tolerance(best->peak));
  const int64_t live = static_cast<int64_t>(with_tolerance(static_cast<uint64_t>(best->live)));
  for (const Candidate& c : all)
    if (c.peak <= peak && (c.peak < now->plan.peak() || c.live <= live) && c.slowness < best->slowness) best = &c;
  return finished(best->segments, now);
}

bool StripSearch::run(uint64_t goal, Plan* best) {
  Tried now;
  if (!finished({}, &now)) return false;
  const auto limit = static_cast<uint64_t>(static_cast<double>(best->peak()) * limits_.peak);
  for (int round = 0; round < kRounds && (goal == 0 || best->peak() > goal) && improve(goal, &now); ++round)
    if (now.plan.peak() < best->peak() && now.plan.peak() <= limit) *best = now.plan;
  return true;
}

}  // namespace mote::schedule
