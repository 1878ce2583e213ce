#pragma once

// Real numbers as 8-bit ones: value = (q - zero) * scale.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mote::quant {

struct Range {
  double lo = 0, hi = 0;
};

struct Grid {
  float scale = 1;
  int32_t zero = 0;
};

// The grid of -128..127 that covers a range and has a number for 0. `symmetric`: zero point 0, -127..127.
Grid grid_of(Range range, bool symmetric);

// A symmetric grid of -127..127 as one of -32767..32767.
inline Grid with_16_bits(const Grid& g) { return {g.scale * 127 / 32767, 0}; }

// Weights are -127..127: -128 would keep some kernels from their fastest path.
constexpr int kMaxWeight = 127;

// A histogram whose range doubles when a number lies outside: what it holds depends on the numbers and little on their order.
class Histogram {
 public:
  static constexpr int kBins = 4096;  // over [-limit, limit)

  void add(const float* x, size_t count);
  Range range() const { return {lo_, hi_}; }
  uint64_t count() const { return total_; }
  uint64_t not_finite() const { return not_finite_; }  // numbers left out
  double limit() const { return limit_; }
  const std::vector<uint64_t>& bins() const { return bins_; }
  double center(int bin) const { return (bin + 0.5) * 2 * limit_ / kBins - limit_; }

 private:
  void grow(double magnitude);

  std::vector<uint64_t> bins_;
  double limit_ = 0, lo_ = 0, hi_ = 0;
  uint64_t total_ = 0, not_finite_ = 0;
};

}  // namespace mote::quant
