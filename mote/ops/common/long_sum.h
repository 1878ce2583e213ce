#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace mote::ops {

// A sum of any number of terms. Floats carry the rounding error of every addition along (Neumaier's variant of Kahan's sum), so that the
// result is off by about one unit in the last place, however many terms there are. Integers wrap at 64 bits.
template <class C, bool = std::is_floating_point_v<C>>
class LongSum {
 public:
  void add(C v) noexcept {
    const C sum = sum_ + v;
    lost_ += std::fabs(sum_) >= std::fabs(v) ? (sum_ - sum) + v : (v - sum) + sum_;
    sum_ = sum;
  }
  void add_magnitude(C v) noexcept { add(std::fabs(v)); }
  void add_square(C v) noexcept { add(v * v); }
  // Infinities and NaN make the error meaningless, while the plain sum says what they give.
  C value() const noexcept { return std::isfinite(lost_) ? sum_ + lost_ : sum_; }

 private:
  C sum_ = 0;
  C lost_ = 0;
};

template <class C>
class LongSum<C, false> {
 public:
  using Wide = std::conditional_t<std::is_signed_v<C>, int64_t, uint64_t>;
  void add(C v) noexcept { bits_ += static_cast<uint64_t>(v); }
  void add_magnitude(C v) noexcept { bits_ += v < C(0) ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v); }
  void add_square(C v) noexcept { bits_ += static_cast<uint64_t>(v) * static_cast<uint64_t>(v); }
  Wide value() const noexcept { return static_cast<Wide>(bits_); }

 private:
  uint64_t bits_ = 0;
};

}  // namespace mote::ops
