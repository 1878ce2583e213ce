#include "mote/compiler/quant/grid.h"

#include <algorithm>
#include <cmath>

namespace mote::quant {

Grid grid_of(Range range, bool symmetric) {
  const double lo = std::min(range.lo, 0.0), hi = std::max(range.hi, 0.0);
  const double span = symmetric ? 2 * std::max(-lo, hi) : hi - lo;
  // Scales stay normal numbers, and so do products of two.
  const float scale = static_cast<float>(std::clamp(span / (symmetric ? 254 : 255), 1e-15, 1e15));
  if (span <= 0) return {1, 0};
  if (symmetric) return {scale, 0};
  return {scale, static_cast<int32_t>(std::clamp(std::nearbyint(-128 - lo / static_cast<double>(scale)), -128.0, 127.0))};
}

void Histogram::grow(double magnitude) {
  if (limit_ == 0) {
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    limit_ = std::ldexp(1.0, std::max(exponent, -100));
    bins_.assign(kBins, 0);
  }
  while (limit_ < magnitude) {
    std::vector<uint64_t> wider(kBins, 0);
    for (int i = 0; i < kBins; ++i) wider[static_cast<size_t>(kBins / 4 + i / 2)] += bins_[static_cast<size_t>(i)];
    bins_ = std::move(wider);
    limit_ *= 2;
  }
}

void Histogram::add(const float* x, size_t count) {
  float lo = 0, hi = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(x[i])) continue;
    lo = std::min(lo, x[i]);
    hi = std::max(hi, x[i]);
  }
  lo_ = std::min(lo_, static_cast<double>(lo));
  hi_ = std::max(hi_, static_cast<double>(hi));
  grow(std::max({static_cast<double>(hi), -static_cast<double>(lo), 1e-30}));
  const float factor = static_cast<float>(kBins / (2 * limit_)), middle = kBins / 2;
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(x[i])) {
      ++not_finite_;
      continue;
    }
    const int bin = static_cast<int>(x[i] * factor + middle);
    ++bins_[static_cast<size_t>(std::clamp(bin, 0, kBins - 1))];
  }
  total_ += count;
}

}  // namespace mote::quant
