#include "mote/compiler/quant/rounding.h"

#include <algorithm>
#include <cmath>

namespace mote::quant {
namespace {

constexpr int kSweeps = 8;
// Of the mean variance, added to every variance: the data shows only some of the directions there are.
constexpr float kDamping = 0.01f;

// One channel: moves codes by one where that makes e' C e smaller, e = w - scale * code.
void descend(const float* w, float scale, const std::vector<float>& c, size_t n, int8_t* codes) {
  std::vector<float> e(n), gradient(n, 0);
  for (size_t i = 0; i < n; ++i) e[i] = w[i] - scale * static_cast<float>(codes[i]);
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < n; ++k) gradient[k] += c[i * n + k] * e[i];
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool moved = false;
    for (size_t i = 0; i < n; ++i) {
      const int step = gradient[i] > 0 ? 1 : -1, code = codes[i] + step;
      const float after = e[i] - scale * static_cast<float>(step);
      // Only to a neighbour of the real weight: the moments are an estimate.
      if (std::abs(code) > kMostWeight || std::fabs(after) > scale) continue;
      const float change = scale * (scale * c[i * n + i] - 2 * static_cast<float>(step) * gradient[i]);
      if (change >= 0) continue;
      codes[i] = static_cast<int8_t>(code);
      e[i] = after;
      const float* line = c.data() + i * n;
      const float d = scale * static_cast<float>(step);
      for (size_t k = 0; k < n; ++k) gradient[k] -= d * line[k];
      moved = true;
    }
    if (!moved) return;
  }
}

}  // namespace

void round_for_output(const WeightRows& w, const InputMoments& moments, QuantWeights* q) {
  const auto n = static_cast<size_t>(w.columns);
  const int64_t per_group = w.rows / moments.groups();
  for (int64_t g = 0; g < moments.groups(); ++g) {
    std::vector<float> c = moments.covariance(g);
    float trace = 0;
    for (size_t i = 0; i < n; ++i) trace += c[i * n + i];
    for (size_t i = 0; i < n; ++i) c[i * n + i] += kDamping * trace / static_cast<float>(n);
    for (int64_t r = g * per_group; r < (g + 1) * per_group; ++r) {
      const size_t at = static_cast<size_t>(r) * n;
      descend(w.values.data() + at, q->scales[static_cast<size_t>(r)], c, n, q->codes.data() + at);
    }
  }
}

std::vector<double> mean_shift(const WeightRows& w, const InputMoments& moments, const QuantWeights& q) {
  std::vector<double> shift;
  const auto n = static_cast<size_t>(w.columns);
  const int64_t per_group = std::max<int64_t>(1, w.rows / moments.groups());
  std::vector<float> mean;
  for (int64_t r = 0; r < w.rows; ++r) {
    if (r % per_group == 0) mean = moments.mean(r / per_group);
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
      const size_t at = static_cast<size_t>(r) * n + i;
      const double e = static_cast<double>(w.values[at]) - static_cast<double>(q.scales[static_cast<size_t>(r)]) * q.codes[at];
      sum += e * static_cast<double>(mean[i]);
    }
    shift.push_back(sum);
  }
  return shift;
}

}  // namespace mote::quant
