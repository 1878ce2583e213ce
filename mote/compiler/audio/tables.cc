#include "mote/compiler/audio/tables.h"

#include <algorithm>
#include <cmath>

namespace mote::audio {
namespace {

constexpr double kPi = 3.14159265358979323846, kLn2 = 0.69314718055994530942;

double mel(double hertz) { return 1127 * std::log1p(hertz / 700); }

int32_t fixed(double v, int bits) { return static_cast<int32_t>(std::lround(std::ldexp(v, bits))); }

// factor as multiplier / 2^shift, with a multiplier of 24 bits.
void split(double factor, int32_t* multiplier, int32_t* shift) {
  int exponent;
  (void)std::frexp(factor, &exponent);
  *shift = std::clamp(23 - exponent, 1, 62);
  *multiplier = static_cast<int32_t>(std::clamp(std::round(std::ldexp(factor, *shift)), -2147483647.0, 2147483647.0));
}

int32_t on_grid(const Grid& g, double v, int32_t otherwise) {
  const double q = std::round(v / g.scale) + g.zero;
  return std::fabs(q) < 1e9 ? static_cast<int32_t>(q) : otherwise;
}

// What 1 in audio_mel's or audio_pcan's output stands for.
double unit(const FrontEnd& f) { return f.gain ? std::ldexp(1.0, -6) : std::ldexp(f.fft_size(), -27); }

Grid holding(double most) { return {DType::s16, most / 32767, 0}; }

}  // namespace

std::vector<int16_t> window_table(const FrontEnd& f) {
  std::vector<int16_t> table;
  const double turn = 2 * kPi / (f.phase == Phase::kSymmetric ? f.window - 1 : f.window), first = f.phase == Phase::kCentred ? 0.5 : 0;
  for (int32_t i = 0; i < f.window; ++i) {
    const double c = std::cos(turn * (i + first));
    const double w = f.shape == Shape::kHann ? 0.5 - 0.5 * c : f.shape == Shape::kHamming ? 0.54 - 0.46 * c : 1;
    table.push_back(static_cast<int16_t>(std::min<long>(32767, std::lround(w * 32768))));
  }
  return table;
}

std::vector<int32_t> cosine_table(int32_t size) {
  std::vector<int32_t> table;
  for (int32_t i = 0; i <= size / 4; ++i)
    table.push_back(static_cast<int32_t>(std::min(2147483647LL, std::llround(2147483648.0 * std::cos(2 * kPi * i / size)))));
  table.back() = 0;
  return table;
}

BandTable band_table(const FrontEnd& f) {
  BandTable t;
  const int32_t size = f.fft_size();
  const double low = mel(f.low), step = (mel(f.high) - low) / (f.bands + 1);
  for (int32_t n = 0; n < f.bands; ++n) {
    int32_t first = 0;
    std::vector<uint16_t> weights;
    // Frequency 0 is no sound.
    for (int32_t k = 1; k <= size / 2; ++k) {
      const double at = (mel(static_cast<double>(f.rate) * k / size) - low) / step - n;  // 0 to 2 under the triangle
      const int32_t w = fixed(std::max(0.0, std::min(at, 2 - at)), 12);
      if (w == 0 && weights.empty()) continue;
      if (weights.empty()) first = k;
      weights.push_back(static_cast<uint16_t>(w));
    }
    while (!weights.empty() && weights.back() == 0) weights.pop_back();
    t.bands.insert(t.bands.end(), {first, static_cast<int32_t>(weights.size())});
    t.weights.insert(t.weights.end(), weights.begin(), weights.end());
  }
  return t;
}

std::vector<int16_t> dct_table(const FrontEnd& f, int* bits) {
  std::vector<double> real;
  double most = 0;
  for (int32_t k = 0; k < f.cepstra; ++k)
    for (int32_t n = 0; n < f.bands; ++n) {
      const double norm = f.orthogonal && k == 0 ? std::sqrt(1.0 / f.bands) : std::sqrt(2.0 / f.bands);
      real.push_back(norm * std::cos(kPi * k * (n + 0.5) / f.bands));
      most = std::max(most, std::fabs(real.back()));
    }
  *bits = static_cast<int>(std::floor(std::log2(32767 / most)));
  std::vector<int16_t> table;
  for (const double v : real) table.push_back(static_cast<int16_t>(fixed(v, *bits)));
  return table;
}

ops::audio_pcan::Attrs pcan_attrs(const FrontEnd& f) {
  ops::audio_pcan::Attrs a;
  a.even_smoothing = static_cast<uint32_t>(fixed(f.even_smoothing, 14));
  a.odd_smoothing = static_cast<uint32_t>(fixed(f.odd_smoothing, 14));
  a.least = static_cast<uint32_t>(fixed(f.least, 14));
  if (!f.gain) return a;
  const double size_bits = std::log2(f.fft_size());
  a.strength = static_cast<uint32_t>(fixed(f.strength, 15));
  a.offset = static_cast<uint32_t>(std::min(4294967295LL, std::llround(f.offset * 65536 / f.fft_size())));
  a.bias = fixed(size_bits - f.strength * (size_bits - 16), 16);
  return a;
}

ops::audio_log::Attrs log_attrs(const FrontEnd& f, const Grid& grid) {
  ops::audio_log::Attrs a;
  a.to = static_cast<uint32_t>(grid.dtype);
  a.zero = grid.zero;
  // Gain control says itself what is silence.
  a.add = static_cast<uint32_t>(std::clamp(std::llround(f.floor / unit(f)), f.gain ? 0LL : 1LL, 4294967295LL));
  split(f.factor * kLn2 / grid.scale / 65536, &a.multiplier, &a.shift);
  a.bias = fixed(std::clamp(std::log2(unit(f)) + f.bias / (f.factor * kLn2), -30000.0, 30000.0), 16);
  if (f.cepstra == 0 || f.clip_low > -1e29) a.clamp_lo = on_grid(grid, f.clip_low, a.clamp_lo);
  if (f.cepstra == 0 || f.clip_high < 1e29) a.clamp_hi = on_grid(grid, f.clip_high, a.clamp_hi);
  return a;
}

ops::audio_dct::Attrs dct_attrs(const Grid& logs, int bits, const Grid& grid) {
  ops::audio_dct::Attrs a;
  a.to = static_cast<uint32_t>(grid.dtype);
  a.zero = grid.zero;
  split(std::ldexp(logs.scale, -bits) / grid.scale, &a.multiplier, &a.shift);
  return a;
}

Grid log_grid(const FrontEnd& f) {
  const double low = std::log(unit(f)), high = low + 32 * kLn2;
  return holding(std::max(std::fabs(f.factor * low + f.bias), std::fabs(f.factor * high + f.bias)));
}

Grid feature_grid(const FrontEnd& f) {
  const Grid logs = log_grid(f);
  if (f.cepstra == 0) return logs;
  return holding(logs.scale * 32767 * std::sqrt(2.0 * f.bands));
}

}  // namespace mote::audio
