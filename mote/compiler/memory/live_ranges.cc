#include "mote/compiler/memory/live_ranges.h"

namespace mote::memory {

void LivenessScan::add_repeated_range(uint32_t first, uint32_t last) { ranges_.push_back({first, last, innermost_range(first)}); }

// Ranges are sorted by their first step, so the last one that contains the step is the innermost.
int32_t LivenessScan::innermost_range(uint32_t step) const {
  for (size_t i = ranges_.size(); i-- > 0;)
    if (ranges_[i].first <= step && step <= ranges_[i].last) return static_cast<int32_t>(i);
  return -1;
}

void LivenessScan::add_access(size_t buffer, uint32_t step, bool reads, bool whole_range) {
  const int32_t range = innermost_range(step);
  accesses_[buffer].push_back({step, range, reads});
  if (whole_range && range >= 0) accesses_[buffer].push_back({ranges_[static_cast<size_t>(range)].last, range, reads});
}

LiveRange LivenessScan::live_range_of(const std::vector<Access>& accesses) const {
  LiveRange live;
  // Read before written within a range: the value comes from the trip before.
  std::vector<bool> seen(ranges_.size(), false);
  for (const Access& a : accesses) {
    live.extend(a.step, a.step);
    for (int32_t r = a.range; r >= 0; r = ranges_[static_cast<size_t>(r)].parent) {
      const RepeatedRange& range = ranges_[static_cast<size_t>(r)];
      if (!seen[static_cast<size_t>(r)] && a.reads) live.extend(range.first, range.last);
      seen[static_cast<size_t>(r)] = true;
    }
  }
  // Used inside and outside of a range: live throughout it, which may reach into further ranges.
  for (bool changed = true; changed;) {
    const LiveRange before = live;
    for (const Access& a : accesses)
      for (int32_t r = a.range; r >= 0; r = ranges_[static_cast<size_t>(r)].parent) {
        const RepeatedRange& range = ranges_[static_cast<size_t>(r)];
        if (live.first < range.first || live.last > range.last) live.extend(range.first, range.last);
      }
    changed = before.first != live.first || before.last != live.last;
  }
  return live;
}

std::vector<LiveRange> LivenessScan::live_ranges() const {
  std::vector<LiveRange> ranges;
  ranges.reserve(accesses_.size());
  for (const std::vector<Access>& accesses : accesses_) ranges.push_back(live_range_of(accesses));
  return ranges;
}

}  // namespace mote::memory
