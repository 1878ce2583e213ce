// Ranges of activations: an observer for all of them, then another one for single tensors where the model does better with it.

#include <algorithm>
#include <cmath>

#include "mote/compiler/quant/trials.h"
#include "mote/compiler/quant/work.h"

namespace mote::quant {
namespace {

// Samples that an observer is judged by; a tensor's own one is judged by more.
constexpr size_t kTrySamples = 32, kRefineSamples = 64;
// Multiply-adds that looking for single tensors may take: seconds, whatever the model.
constexpr double kRefineMacs = 4e10;
constexpr double kBetter = 0.01;  // dB, that another range must bring

// Values of concatenated tensors get one scale when that costs the narrowest at most this factor.
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

bool same(const Grid& a, const Grid& b) { return a.scale == b.scale && a.zero == b.zero; }

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
    double least = INFINITY, most = 0;
    for (const int id : join) {
      least = std::min(least, span(ranges[root(id)]));
      most = std::max(most, span(ranges[root(id)]));
    }
    if (!(most <= kJoinFactor * least)) continue;
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
  if (options_.observer == Observer::kAuto) {
    Trials trials;
    if (!trials.start(*this, samples, kTrySamples, problems)) return false;
    double most = -1, done = 0;
    for (const Candidate& c : kAll) {
      if (progress) progress("choosing ranges", done++ / std::size(kAll));
      Recipe with = recipe_;
      with.grids = grids_for(work, c.observer, c.percentile);
      double db = 0;
      if (!trials.score(with, &db, problems)) return false;
      if (db > most) most = db, chosen = c;
    }
  }
  recipe_.grids = grids_for(work, chosen.observer, chosen.percentile);
  for (const int id : work.observed)
    recipe_.spare[id] = grid_of(stats_[id].range(chosen.observer, chosen.percentile, options_.symmetric), options_.symmetric);
  chosen_ = name_of(chosen);
  return options_.observer != Observer::kAuto || refine_ranges(work, samples, progress, problems);
}

// One tensor after the other, in the order they are made, with those that share its scale. Concatenated ones keep what they have together.
bool Quantizer::refine_ranges(const Work& work, Samples& samples, const Progress& progress, ir::Problems* problems) {
  std::map<int, std::vector<int>> sharing;
  for (const int id : work.values) sharing[work.root(id)].push_back(id);
  for (const std::vector<int>& join : work.layout.joins)
    for (const int id : join) sharing.erase(work.root(id));
  Trials trials;
  double best = 0;
  if (sharing.empty() || !trials.start(*this, samples, kRefineSamples, problems)) return sharing.empty();
  if (trials.macs() * static_cast<double>(sharing.size()) * std::size(kAll) > kRefineMacs) return true;
  if (!trials.score(recipe_, &best, problems)) return false;
  size_t changed = 0, done = 0;
  for (const auto& [root, values] : sharing) {
    if (progress) progress("refining ranges", static_cast<double>(done++) / static_cast<double>(sharing.size()));
    const Grid before = recipe_.grids.at(values[0]);
    Grid chosen = before;
    std::vector<Grid> tried = {before};
    for (const Candidate& c : kAll) {
      const Grid g = grid_of(stats_[root].range(c.observer, c.percentile, options_.symmetric), options_.symmetric);
      if (std::any_of(tried.begin(), tried.end(), [&](const Grid& t) { return same(t, g); })) continue;
      tried.push_back(g);
      Recipe with = recipe_;
      for (const int id : values) with.grids[id] = g;
      double db = 0;
      if (!trials.score(with, &db, problems)) return false;
      if (db > best + kBetter) best = db, chosen = g;
    }
    if (same(chosen, before)) continue;
    ++changed;
    for (const int id : values) recipe_.grids[id] = recipe_.spare[id] = chosen;
  }
  if (changed > 0) chosen_ += ", " + std::to_string(changed) + " of " + std::to_string(sharing.size()) + " ranges refined";
  return true;
}

}  // namespace mote::quant
