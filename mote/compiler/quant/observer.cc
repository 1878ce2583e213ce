#include "mote/compiler/quant/observer.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace mote::quant {
namespace {

constexpr int kSteps = 48;         // candidates for each end of a range
constexpr double kMinPart = 0.15;  // smallest part of each end of the range that is tried

Range percentile_range(const Histogram& h, double percent) {
  const double out = static_cast<double>(h.count()) * (1 - percent / 100) / 2;
  const std::vector<uint64_t>& bins = h.bins();
  const double width = 2 * h.limit() / Histogram::kBins;
  double below = 0, above = 0;
  int first = 0, last = Histogram::kBins - 1;
  while (first < last && below + static_cast<double>(bins[static_cast<size_t>(first)]) <= out)
    below += static_cast<double>(bins[static_cast<size_t>(first++)]);
  while (last > first && above + static_cast<double>(bins[static_cast<size_t>(last)]) <= out)
    above += static_cast<double>(bins[static_cast<size_t>(last--)]);
  return {std::max(h.range().lo, h.center(first) - width / 2), std::min(h.range().hi, h.center(last) + width / 2)};
}

// Kullback-Leibler divergence of the quantized distribution from the observed one. Saturated values count at the ends of the grid in the
// observed one; the quantized one spreads only values inside the grid, evenly over each step.
double divergence(const Histogram& h, const Grid& g) {
  const double scale = static_cast<double>(g.scale);
  const auto raw = [&](int bin) { return std::nearbyint(h.center(bin) / scale) + g.zero + 128; };
  const std::vector<uint64_t>& bins = h.bins();
  std::vector<double> seen(Histogram::kBins, 0);
  double mass[256] = {}, places[256] = {}, inside = 0, below = 0, above = 0;
  int first = -1, last = -1;
  for (int i = 0; i < Histogram::kBins; ++i) {
    const double n = static_cast<double>(bins[static_cast<size_t>(i)]), code = raw(i);
    if (code < 0) below += n;
    else if (code > 255) above += n;
    if (code < 0 || code > 255) continue;
    if (first < 0) first = i;
    last = i;
    if (n == 0) continue;
    seen[static_cast<size_t>(i)] = n;
    mass[static_cast<int>(code)] += n;
    places[static_cast<int>(code)] += 1;
    inside += n;
  }
  if (inside <= 0) return INFINITY;
  seen[static_cast<size_t>(first)] += below;
  seen[static_cast<size_t>(last)] += above;
  const double total = static_cast<double>(h.count() - h.not_finite());
  double sum = 0;
  for (int i = first; i <= last; ++i) {
    const double p = seen[static_cast<size_t>(i)];
    if (p == 0) continue;
    const int code = static_cast<int>(raw(i));
    const double q = places[code] > 0 ? mass[code] / places[code] : 0.5;
    sum += p / total * std::log(p / total / (q / inside));
  }
  return sum;
}

// The range with the least cost: the upper end is moved first, then the lower one.
Range search(const Histogram& h, bool symmetric, const std::function<double(const Grid&)>& cost) {
  const Range all = h.range();
  Range best = all;
  double least = cost(grid_of(all, symmetric));
  const auto try_range = [&](Range r) {
    const double c = cost(grid_of(r, symmetric));
    if (c < least) least = c, best = r;
  };
  const auto part = [](int i) { return 1 - (1 - kMinPart) * i / kSteps; };
  if (symmetric) {
    for (int i = 1; i <= kSteps; ++i) try_range({all.lo * part(i), all.hi * part(i)});
    return best;
  }
  for (int i = 1; i <= kSteps && all.hi > 0; ++i) try_range({all.lo, all.hi * part(i)});
  const double hi = best.hi;
  for (int i = 1; i <= kSteps && all.lo < 0; ++i) try_range({all.lo * part(i), hi});
  return best;
}

}  // namespace

bool observer_named(const std::string& name, Observer* out) {
  for (size_t i = 0; i < std::size(kObserverNames); ++i) {
    if (name != kObserverNames[i]) continue;
    *out = static_cast<Observer>(i);
    return true;
  }
  return false;
}

double grid_error(const Histogram& h, const Grid& g) {
  double sum = 0;
  const double scale = static_cast<double>(g.scale), width = 2 * h.limit() / Histogram::kBins;
  const std::vector<uint64_t>& bins = h.bins();
  for (int i = 0; i < Histogram::kBins; ++i) {
    if (bins[static_cast<size_t>(i)] == 0) continue;
    const double x = h.center(i), q = std::clamp(std::nearbyint(x / scale) + g.zero, -128.0, 127.0);
    const double e = (q - g.zero) * scale - x;
    // Values are spread evenly inside a bin, which matters where quantization steps are finer than bins.
    const bool inside = q > -128 && q < 127;
    sum += static_cast<double>(bins[static_cast<size_t>(i)]) * (inside && scale < 4 * width ? scale * scale / 12 : e * e);
  }
  return h.count() > 0 ? sum / static_cast<double>(h.count()) : 0;
}

void TensorStats::add(const float* x, size_t count) {
  float lo = 0, hi = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(x[i])) continue;
    lo = std::min(lo, x[i]);
    hi = std::max(hi, x[i]);
  }
  const double part = samples_ == 0 ? 1 : 0.1;
  average_.lo += part * (static_cast<double>(lo) - average_.lo);
  average_.hi += part * (static_cast<double>(hi) - average_.hi);
  ++samples_;
  histogram_.add(x, count);
}

Range TensorStats::range(Observer observer, double percentile, bool symmetric) const {
  if (histogram_.count() == 0) return {};
  switch (observer) {
    case Observer::kAuto:
    case Observer::kMinMax: return histogram_.range();
    case Observer::kMovingAverage: return average_;
    case Observer::kPercentile: return percentile_range(histogram_, percentile);
    case Observer::kMse: return search(histogram_, symmetric, [&](const Grid& g) { return grid_error(histogram_, g); });
    case Observer::kEntropy: return search(histogram_, symmetric, [&](const Grid& g) { return divergence(histogram_, g); });
  }
  return {};
}

}  // namespace mote::quant
