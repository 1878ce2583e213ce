#include "mote/compiler/schedule/strip_search.h"

#include <algorithm>

#include "mote/compiler/schedule/place.h"

namespace mote::schedule {
namespace {

constexpr uint32_t kReach = 12;  // steps before and behind the peak that a strip may take in
constexpr int kRounds = 12;

// Bytes alive at each step.
std::vector<int64_t> live_bytes(const Plan& plan) {
  const std::vector<emit::Life> lives = buffer_lives(plan);
  std::vector<int64_t> live(plan.steps.size() + 2, 0);
  for (size_t b = 0; b < lives.size(); ++b) {
    if (!lives[b].used()) continue;
    live[lives[b].first] += static_cast<int64_t>(plan.buffers[b].bytes);
    live[std::min<size_t>(lives[b].last, plan.steps.size()) + 1] -= static_cast<int64_t>(plan.buffers[b].bytes);
  }
  for (size_t i = 1; i < live.size(); ++i) live[i] += live[i - 1];
  live.resize(plan.steps.size());
  return live;
}

}  // namespace

bool StripSearch::finished(const std::vector<Segment>& segments, Tried* out) const {
  out->segments = segments;
  out->plan = fresh_;
  std::vector<uint32_t> before, after;
  if (!make_strips(out->plan, ops_, segments, &before) || !finish_(out->plan, &after)) return false;
  out->origins.clear();
  for (uint32_t i : after) out->origins.push_back(before[i]);
  return true;
}

// One more segment; those it meets become part of it.
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

// The most bytes alive at steps that were [low, high].
int64_t StripSearch::live_at(const Tried& t, uint32_t low, uint32_t high) {
  const std::vector<int64_t> live = live_bytes(t.plan);
  int64_t most = 0;
  for (size_t i = 0; i < live.size(); ++i)
    if (low <= t.origins[i] && t.origins[i] <= high) most = std::max(most, live[i]);
  return most;
}

bool StripSearch::improve(uint64_t goal, Tried* now) const {
  const std::vector<int64_t> live = live_bytes(now->plan);
  if (live.empty()) return false;
  const uint32_t at = now->origins[static_cast<size_t>(std::max_element(live.begin(), live.end()) - live.begin())];
  if (!works_by_rows(fresh_, ops_, fresh_.steps[at])) return false;
  uint32_t low = at, high = at;
  while (low > 0 && at - low < kReach && works_by_rows(fresh_, ops_, fresh_.steps[low - 1])) --low;
  while (high + 1 < fresh_.steps.size() && high - at < kReach && works_by_rows(fresh_, ops_, fresh_.steps[high + 1])) ++high;
  Tried best;
  // There may be several peaks: what counts beside the highest is this one.
  auto score = std::make_pair(now->plan.peak(), live_at(*now, low, high));
  bool found = false;
  std::vector<std::vector<Segment>> seen;
  for (uint32_t first = low; first <= at; ++first) {
    for (uint32_t last = std::max(at, first + 1); last <= high; ++last) {
      for (const int32_t rows : {8, 4, 2, 1}) {
        const std::vector<Segment> segments = with(now->segments, {first, last, rows});
        if (segments == now->segments || std::find(seen.begin(), seen.end(), segments) != seen.end()) continue;
        seen.push_back(segments);
        Tried tried;
        if (!finished(segments, &tried)) continue;
        const auto reached = std::make_pair(tried.plan.peak(), live_at(tried, low, high));
        if (!(reached < score)) continue;
        score = reached;
        best = std::move(tried);
        found = true;
        if (goal > 0 && score.first <= goal) break;
      }
    }
  }
  if (found) *now = std::move(best);
  return found;
}

bool StripSearch::run(uint64_t goal, Plan* best) {
  Tried now;
  if (!finished({}, &now)) return false;
  for (int round = 0; round < kRounds && (goal == 0 || best->peak() > goal) && improve(goal, &now); ++round)
    if (now.plan.peak() < best->peak()) *best = now.plan;
  return true;
}

}  // namespace mote::schedule
