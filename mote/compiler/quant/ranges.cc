// Ranges of activations.

#include <algorithm>
#include <cmath>

#include "mote/compiler/quant/trials.h"
#include "mote/compiler/quant/work.h"

namespace mote::quant {
namespace {

// Samples to compare observers on: the first number, or more within the limit of multiply-adds.
constexpr size_t kTrySamples = 32, kMaxTrySamples = 256;
constexpr double kTryMacs = 1e10;

// Operands of a concatenation share one scale when that widens the narrowest range by at most this factor.
constexpr double kJoinFactor = 2;

struct Candidate {
  Observer observer;
  double percentile;
};
constexpr Candidate kAll[] = {{Observer::kMse, 0},           {Observer::kMinMax, 0},         {Observer::kMovingAverage, 0},
                              {Observer::kPercentile, 99.9}, {Observer::kPercentile, 99.97}, {Observer::kPercentile, 99.99}};

std::string name_of(const Candidate& c) {
  std::string name = kObserverNames[static_cast<size_t>(c.observer)];
  if (c.observer == Observer::kPercentile) name += " " + std::to_string(c.percentile).substr(0, 6);
  return name;
}

}  // namespace

std::map<int, Grid> Quantizer::grids_for(const Work& work, Observer observer, double percentile) {
  const auto root = [&](int id) { return work.root(id); };
  std::map<int, Range> ranges;
  for (const int id : work.values) {
    const int r = root(id);
    if (ranges.count(r) == 0) ranges[r] = stats_[r].range(observer, percentile, options_.symmetric);
  }
  // Sets of values that are concatenated, where they fit together.
  std::map<int, int> set;
  for (const auto& [id, range] : ranges) set[id] = id;
  const auto span = [](const Range& r) { return std::max(r.hi, 0.0) - std::min(r.lo, 0.0); };
  for (const std::vector<int>& join : work.layout.joins) {
    double narrowest = INFINITY, widest = 0;
    for (const int id : join) {
      narrowest = std::min(narrowest, span(ranges[root(id)]));
      widest = std::max(widest, span(ranges[root(id)]));
    }
    if (!(widest <= kJoinFactor * narrowest)) continue;
    Range all;
    std::set<int> sets;
    for (const int id : join) sets.insert(set[root(id)]);
    for (auto& [id, range] : ranges)
      if (sets.count(set[id]) > 0) all = {std::min(all.lo, range.lo), std::max(all.hi, range.hi)};
    for (auto& [id, range] : ranges) {
      if (sets.count(set[id]) == 0) continue;
      range = all;
      set[id] = *sets.begin();
    }
  }
  std::map<int, Grid> grids;
  for (const int id : work.values) grids[id] = grid_of(ranges[root(id)], options_.symmetric);
  return grids;
}

bool Quantizer::choose_ranges(const Work& work, Samples& samples, const Progress& progress, ir::Problems* problems) {
  Candidate chosen = {options_.observer, options_.percentile};
  if (options_.observer == Observer::kAuto && options_.wide) {
    // 16 bits represent every outlier, and trials with portable kernels would take minutes.
    chosen = {Observer::kMinMax, 0};
  } else if (options_.observer == Observer::kAuto) {
    Trials trials;
    if (!trials.start(*this, samples, kTrySamples, kMaxTrySamples, kTryMacs, problems)) return false;
    double best_db = -1, done = 0;
    for (const Candidate& c : kAll) {
      if (progress) progress("choosing ranges", done++ / std::size(kAll));
      Recipe with = recipe_;
      with.grids = grids_for(work, c.observer, c.percentile);
      double db = 0;
      if (!trials.score(with, &db, problems)) return false;
      if (db > best_db) best_db = db, chosen = c;
    }
  }
  recipe_.grids = grids_for(work, chosen.observer, chosen.percentile);
  for (const int id : work.observed)
    recipe_.spare[id] = grid_of(stats_[id].range(chosen.observer, chosen.percentile, options_.symmetric), options_.symmetric);
  chosen_ = name_of(chosen);
  return true;
}

}  // namespace mote::quant
