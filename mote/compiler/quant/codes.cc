#include "mote/compiler/quant/codes.h"

#include <algorithm>
#include <cmath>

#include "mote/compiler/quant/grid.h"

namespace mote::quant {
namespace {

int8_t code_of(float w, float scale) {
  return static_cast<int8_t>(std::clamp(std::nearbyint(w / scale), -static_cast<float>(kMaxWeight), static_cast<float>(kMaxWeight)));
}

// Reduces both by the same amount; an odd rest is taken from the code that is further above its weight.
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

// The smallest scale that saturates no weight.
float full_scale(const WeightRows& w, int64_t row) {
  const float* v = w.values.data() + row * w.columns;
  float largest = 0;
  for (int64_t i = 0; i < w.columns; ++i) largest = std::max(largest, std::fabs(v[i]));
  for (int64_t i = 0; w.pairs && i + 1 < w.columns; i += 2)
    if ((v[i] > 0) == (v[i + 1] > 0)) largest = std::max(largest, std::fabs(v[i] + v[i + 1]) * kMaxWeight / (kMostPair - 1));
  return std::isfinite(largest) && largest > 1e-20f ? largest / kMaxWeight : 1e-12f;
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

// The grid of at most kMaxWeight steps that all weights of a row lie on; 0 where there is none.
float exact_scale(const WeightRows& w, int64_t row, int8_t* codes) {
  constexpr float kClose = 1e-3f;  // of a step: weights were rounded to f32, perhaps times a factor
  const float* v = w.values.data() + row * w.columns;
  float least = 0, largest = 0;
  for (int64_t i = 0; i < w.columns; ++i) {
    const float m = std::fabs(v[i]);
    if (!std::isfinite(m)) return 0;
    largest = std::max(largest, m);
    if (m > 0 && (least == 0 || m < least)) least = m;
  }
  for (int steps = 1; steps <= kMaxWeight && least > 1e-12f; ++steps) {
    const float scale = least / static_cast<float>(steps);
    if (largest / scale > kMaxWeight + 0.5f) return 0;
    double dot = 0, square = 0;
    int64_t i = 0;
    for (; i < w.columns; ++i) {
      const float q = v[i] / scale, c = std::nearbyint(q);
      if (std::fabs(q - c) > kClose) break;
      codes[i] = static_cast<int8_t>(c);
      dot += static_cast<double>(v[i]) * static_cast<double>(c);
      square += static_cast<double>(c) * static_cast<double>(c);
    }
    if (i == w.columns) return static_cast<float>(dot / square);
  }
  return 0;
}

bool pairs_fit(const WeightRows& w, const int8_t* codes) {
  for (int64_t i = 0; w.pairs && i + 1 < w.columns; i += 2)
    if (!pair_fits(codes[i], codes[i + 1])) return false;
  return true;
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
    if (const float exact = exact_scale(w, r, codes.data()); exact > 0 && pairs_fit(w, codes.data())) {
      scales.push_back(exact);
      continue;
    }
    const float largest = full_scale(w, r);
    float best = largest;
    double least = row_error(w, r, largest, codes.data());
    for (int i = 1; i < kCandidates; ++i) {
      const float s = largest * (1 - 0.5f * static_cast<float>(i) / kCandidates);
      const double e = row_error(w, r, s, codes.data());
      if (e < least) least = e, best = s;
    }
    scales.push_back(best);
  }
  return with_scales(w, std::move(scales));
}

bool exact_weights(const WeightRows& w, QuantWeights* out) {
  out->codes.assign(w.values.size(), 0);
  out->scales.clear();
  for (int64_t r = 0; r < w.rows; ++r) {
    const float* v = w.values.data() + r * w.columns;
    const bool zeros = std::all_of(v, v + w.columns, [](float x) { return x == 0; });
    out->scales.push_back(zeros ? 1.0f : exact_scale(w, r, out->codes.data() + r * w.columns));
    if (!(out->scales.back() > 0)) return false;
  }
  return true;
}

void fit_bias(const WeightRows& w, const std::vector<double>& bias, float input_scale, QuantWeights* q) {
  constexpr double kMost = 1 << 30;  // half of what fits: the accumulator needs room too
  for (size_t r = 0; r < q->scales.size() && r < bias.size(); ++r) {
    const double least = std::fabs(bias[r]) / (static_cast<double>(input_scale) * kMost);
    if (static_cast<double>(q->scales[r]) >= least) continue;
    q->scales[r] = static_cast<float>(least * 1.0001);
    const auto row = static_cast<int64_t>(r);
    round_row(w, row, q->scales[r], q->codes.data() + row * w.columns);
  }
}

}  // namespace mote::quant
