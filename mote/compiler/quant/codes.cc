#include "mote/compiler/quant/codes.h"

#include <algorithm>
#include <cmath>

#include "mote/compiler/quant/grid.h"

namespace mote::quant {
namespace {

int8_t code_of(float w, float scale) {
  return static_cast<int8_t>(std::clamp(std::nearbyint(w / scale), -static_cast<float>(kMostWeight), static_cast<float>(kMostWeight)));
}

// Takes the same from both, one more from that which is the further above its weight.
void cut_pair(const float* weights, float scale, int8_t* codes) {
  if (pair_fits(codes[0], codes[1])) return;
  const int sign = codes[0] > 0 ? 1 : -1, excess = sign * (codes[0] + codes[1]) - kMostPair;
  const auto above = [&](int i) { return static_cast<float>(sign) * (static_cast<float>(codes[i]) - weights[i] / scale); };
  const int more = above(0) > above(1) ? 0 : 1;
  for (int i = 0; i < 2; ++i) codes[i] = static_cast<int8_t>(codes[i] - sign * (excess / 2 + (i == more ? excess % 2 : 0)));
}

void round_row(const WeightRows& w, int64_t row, float scale, int8_t* codes) {
  const float* weights = w.values.data() + row * w.columns;
  for (int64_t i = 0; i < w.columns; ++i) codes[i] = code_of(weights[i], scale);
  for (int64_t i = 0; w.pairs && i + 1 < w.columns; i += 2) cut_pair(weights + i, scale, codes + i);
}

// The least scale that cuts nothing off.
float full_scale(const WeightRows& w, int64_t row) {
  const float* v = w.values.data() + row * w.columns;
  float most = 0;
  for (int64_t i = 0; i < w.columns; ++i) most = std::max(most, std::fabs(v[i]));
  for (int64_t i = 0; w.pairs && i + 1 < w.columns; i += 2)
    if ((v[i] > 0) == (v[i + 1] > 0)) most = std::max(most, std::fabs(v[i] + v[i + 1]) * kMostWeight / (kMostPair - 1));
  return std::isfinite(most) && most > 1e-20f ? most / kMostWeight : 1e-12f;
}

double row_error(const WeightRows& w, int64_t row, float scale, int8_t* codes) {
  round_row(w, row, scale, codes);
  const float* weights = w.values.data() + row * w.columns;
  double sum = 0;
  for (int64_t i = 0; i < w.columns; ++i) {
    const double e = static_cast<double>(weights[i] - static_cast<float>(codes[i]) * scale);
    sum += e * e;
  }
  return sum;
}

QuantWeights with_scales(const WeightRows& w, std::vector<float> scales) {
  QuantWeights q;
  q.codes.resize(w.values.size());
  for (int64_t r = 0; r < w.rows; ++r) round_row(w, r, scales[static_cast<size_t>(r)], q.codes.data() + r * w.columns);
  q.scales = std::move(scales);
  return q;
}

}  // namespace

QuantWeights nearest_weights(const WeightRows& w) {
  std::vector<float> scales;
  for (int64_t r = 0; r < w.rows; ++r) scales.push_back(full_scale(w, r));
  return with_scales(w, std::move(scales));
}

QuantWeights best_scaled_weights(const WeightRows& w) {
  constexpr int kCandidates = 40;
  std::vector<float> scales;
  std::vector<int8_t> codes(static_cast<size_t>(w.columns));
  for (int64_t r = 0; r < w.rows; ++r) {
    const float most = full_scale(w, r);
    float best = most;
    double least = row_error(w, r, most, codes.data());
    for (int i = 1; i < kCandidates; ++i) {
      const float s = most * (1 - 0.5f * static_cast<float>(i) / kCandidates);
      const double e = row_error(w, r, s, codes.data());
      if (e < least) least = e, best = s;
    }
    scales.push_back(best);
  }
  return with_scales(w, std::move(scales));
}

void fit_bias(const WeightRows& w, const std::vector<double>& bias, float input_scale, QuantWeights* q) {
  constexpr double kMost = 1 << 30;  // half of what fits: sums must have room too
  for (size_t r = 0; r < q->scales.size() && r < bias.size(); ++r) {
    const double least = std::fabs(bias[r]) / (static_cast<double>(input_scale) * kMost);
    if (static_cast<double>(q->scales[r]) >= least) continue;
    q->scales[r] = static_cast<float>(least * 1.0001);
    const auto row = static_cast<int64_t>(r);
    round_row(w, row, q->scales[r], q->codes.data() + row * w.columns);
  }
}

}  // namespace mote::quant
