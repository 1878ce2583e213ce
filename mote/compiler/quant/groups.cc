#include "mote/compiler/quant/groups.h"

#include <algorithm>
#include <cmath>

#include "mote/compiler/quant/rounding.h"
#include "mote/core/half.h"

namespace mote::quant {
namespace {

constexpr int kLo = -8, kHi = 7;

struct Fit {
  float scale = 1;
  int zero = 0;
  double error = INFINITY;
};

int code_of(float w, const Fit& f) {
  return static_cast<int>(
      std::clamp(std::nearbyint(w / f.scale) + static_cast<float>(f.zero), static_cast<float>(kLo), static_cast<float>(kHi)));
}

void judge(const float* w, int64_t n, Fit* f) {
  f->error = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double e = static_cast<double>(w[i] - f->scale * static_cast<float>(code_of(w[i], *f) - f->zero));
    f->error += e * e;
  }
}

class Search {
 public:
  Search(const float* w, int64_t n, const GroupOptions& options, bool half) : w_(w), n_(n), options_(options), half_(half) {}

  Fit run() {
    float lo = 0, hi = 0;
    for (int64_t i = 0; i < n_; ++i) {
      if (!std::isfinite(w_[i])) continue;
      lo = std::min(lo, w_[i]);
      hi = std::max(hi, w_[i]);
    }
    if (lo == hi) return {1, 0, 0};
    return options_.zero_points ? shifted(lo, hi) : centred(hi > -lo ? hi : lo);
  }

 private:
  void consider(float scale, int zero) {
    Fit f{half_ ? static_cast<float>(f16(scale)) : scale, zero};
    if (f.scale == 0 || !std::isfinite(f.scale)) return;
    judge(w_, n_, &f);
    if (f.error < best_.error) best_ = f;
  }
  // The largest weight may take code -8, which has no positive counterpart: a positive one needs a negative scale.
  Fit centred(float largest) {
    if (!options_.best_scales) consider(std::fabs(largest) / 7, 0);
    for (int i = 0; options_.best_scales && i <= 16; ++i) {
      const float steps = 5.5f + 0.25f * static_cast<float>(i);
      consider(largest / steps, 0);
      consider(-largest / steps, 0);
    }
    return best_;
  }
  Fit shifted(float lo, float hi) {
    for (int i = 0; i <= (options_.best_scales ? 12 : 0); ++i) {
      const float part = 1 - 0.025f * static_cast<float>(i), scale = (hi - lo) * part / 15;
      const int zero = static_cast<int>(std::clamp(std::nearbyint(static_cast<float>(kLo) - lo * part / scale), -8.0f, 7.0f));
      consider(scale, zero);
    }
    return best_;
  }

  const float* w_;
  int64_t n_;
  const GroupOptions& options_;
  bool half_;
  Fit best_;
};

// Scales of f16 keep all their bits within these bounds.
bool fits_half(const WeightRows& w) {
  float largest = 0;
  for (const float v : w.values) largest = std::max(largest, std::fabs(v));
  return std::isfinite(largest) && largest < 1e4f && largest > 1e-2f;
}

}  // namespace

GroupWeights group_weights(const WeightRows& w, const GroupOptions& options) {
  GroupWeights out;
  out.rows = w.rows, out.columns = w.columns, out.size = std::min(options.size, std::max<int64_t>(1, w.columns));
  out.half = fits_half(w);
  out.codes.resize(w.values.size());
  for (int64_t r = 0; r < w.rows; ++r)
    for (int64_t at = 0; at < w.columns; at += out.size) {
      const int64_t n = std::min(out.size, w.columns - at), first = r * w.columns + at;
      const Fit f = Search(w.values.data() + first, n, options, out.half).run();
      for (int64_t i = first; i < first + n; ++i)
        out.codes[static_cast<size_t>(i)] = static_cast<int8_t>(code_of(w.values[static_cast<size_t>(i)], f));
      out.scales.push_back(f.scale);
      if (options.zero_points) out.zeros.push_back(static_cast<int8_t>(f.zero));
    }
  return out;
}

void round_groups(const WeightRows& w, const InputMoments& moments, GroupWeights* q) {
  const auto n = static_cast<size_t>(w.columns);
  std::vector<float> scales(n), zeros(n, 0);
  round_rows(moments, Means::kCount, w.rows, [&](int64_t r) {
    for (size_t c = 0; c < n; ++c) {
      const size_t g = static_cast<size_t>(r * q->groups()) + c / static_cast<size_t>(q->size);
      scales[c] = q->scales[g];
      if (!q->zeros.empty()) zeros[c] = static_cast<float>(q->zeros[g]);
    }
    const size_t at = static_cast<size_t>(r) * n;
    return RowCodes{w.values.data() + at, scales.data(), zeros.data(), kLo, kHi, q->codes.data() + at};
  });
}

std::vector<uint8_t> nibbles_of(const std::vector<int8_t>& codes) {
  std::vector<uint8_t> out((codes.size() + 1) / 2);
  for (size_t i = 0; i < codes.size(); ++i) out[i / 2] = static_cast<uint8_t>(out[i / 2] | (codes[i] & 15) << (i % 2 * 4));
  return out;
}

}  // namespace mote::quant
