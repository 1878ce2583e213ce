#include "mote/compiler/quant/rounding.h"

#include <algorithm>
#include <cmath>

namespace mote::quant {
namespace {

constexpr int kSweeps = 8;
// Regularization: part of the mean variance added to every variance, since few samples span few directions.
constexpr float kDamping = 0.01f;

std::vector<float> damped_moments(const InputMoments& moments, int64_t group, Means means) {
  std::vector<float> c = moments.covariance(group);
  const auto n = static_cast<size_t>(moments.columns());
  if (means == Means::kCount) {
    const std::vector<float> m = moments.mean(group);
    for (size_t i = 0; i < n; ++i)
      for (size_t k = 0; k < n; ++k) c[i * n + k] += m[i] * m[k];
  }
  float trace = 0;
  for (size_t i = 0; i < n; ++i) trace += c[i * n + i];
  for (size_t i = 0; i < n; ++i) c[i * n + i] += kDamping * trace / static_cast<float>(n);
  return c;
}

// Coordinate descent: moves codes by one where that reduces e' C e, with e the rounding errors of a row and C the covariance of its inputs.
void descend(const RowCodes& row, const std::vector<float>& c, size_t n) {
  std::vector<float> e(n), gradient(n, 0);
  for (size_t i = 0; i < n; ++i) e[i] = row.weights[i] - row.scales[i] * (static_cast<float>(row.codes[i]) - row.zeros[i]);
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < n; ++k) gradient[k] += c[i * n + k] * e[i];
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool moved = false;
    for (size_t i = 0; i < n; ++i) {
      const float scale = row.scales[i];
      const int step = (gradient[i] > 0) == (scale > 0) ? 1 : -1, code = row.codes[i] + step;
      const float d = scale * static_cast<float>(step), after = e[i] - d;
      // Only to the two codes around the real weight: the moments are an estimate.
      if (code < row.lo || code > row.hi || std::fabs(after) > std::fabs(scale)) continue;
      if (row.pairs && (i ^ 1) < n && !pair_fits(code, row.codes[i ^ 1])) continue;
      if (d * (d * c[i * n + i] - 2 * gradient[i]) >= 0) continue;
      row.codes[i] = static_cast<int8_t>(code);
      e[i] = after;
      const float* line = c.data() + i * n;
      for (size_t k = 0; k < n; ++k) gradient[k] -= d * line[k];
      moved = true;
    }
    if (!moved) return;
  }
}

}  // namespace

void round_rows(const InputMoments& moments, Means means, int64_t rows, const std::function<RowCodes(int64_t row)>& row_of) {
  const int64_t per_group = std::max<int64_t>(1, rows / moments.groups());
  for (int64_t g = 0; g < moments.groups(); ++g) {
    const std::vector<float> c = damped_moments(moments, g, means);
    for (int64_t r = g * per_group; r < (g + 1) * per_group; ++r) descend(row_of(r), c, static_cast<size_t>(moments.columns()));
  }
}

void round_for_output(const WeightRows& w, const InputMoments& moments, Means means, QuantWeights* q) {
  const auto n = static_cast<size_t>(w.columns);
  std::vector<float> scales(n);
  const std::vector<float> zeros(n, 0);
  round_rows(moments, means, w.rows, [&](int64_t r) {
    std::fill(scales.begin(), scales.end(), q->scales[static_cast<size_t>(r)]);
    const size_t at = static_cast<size_t>(r) * n;
    return RowCodes{w.values.data() + at, scales.data(), zeros.data(), -kMaxWeight, kMaxWeight, q->codes.data() + at, w.pairs};
  });
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
