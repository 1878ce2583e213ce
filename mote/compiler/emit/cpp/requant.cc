#include "mote/compiler/emit/cpp/requant.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace mote::emit {
namespace {

constexpr int64_t kFar = int64_t{1} << 40;

// What is added to `add` before the last shift: never falls when the sum grows.
int64_t grown(int32_t sum, int left, int32_t multiplier) {
  const int32_t x = cortexm::high_mul(static_cast<int32_t>(static_cast<uint32_t>(sum) << left), multiplier);
  return int64_t{x} + (x >> 31);
}

// The least sum whose result is at least v; there is one.
int32_t threshold(const Wanted& w, int32_t v) {
  int64_t lo = w.least, hi = w.most;
  while (lo < hi) {
    const int64_t mid = lo + (hi - lo) / 2;
    if (w.of(static_cast<int32_t>(mid)) >= v) hi = mid;
    else lo = mid + 1;
  }
  return static_cast<int32_t>(lo);
}

// The first sums of all results but the least one.
std::vector<int32_t> thresholds_of(const Wanted& w) {
  std::vector<int32_t> all;
  const int32_t first = w.of(static_cast<int32_t>(w.least)), last = w.of(static_cast<int32_t>(w.most));
  for (int32_t v = first + 1; v <= last; ++v) all.push_back(threshold(w, v));
  return all;
}

// Each result v sets bounds for `add`: the first sum that gives v must reach v << shift, the one before it must not.
bool find_add(const Wanted& w, const std::vector<int32_t>& thresholds, int left, int32_t multiplier, int shift, int32_t* add) {
  const int32_t first = w.of(static_cast<int32_t>(w.least)), last = w.of(static_cast<int32_t>(w.most));
  int64_t lower = -kFar, upper = kFar;
  const auto reach = [&](int32_t sum, int64_t v) { lower = std::max(lower, v * (int64_t{1} << shift) - grown(sum, left, multiplier)); };
  const auto miss = [&](int32_t sum, int64_t v) { upper = std::min(upper, v * (int64_t{1} << shift) - grown(sum, left, multiplier) - 1); };
  if (first > w.lo) reach(static_cast<int32_t>(w.least), first);
  if (last < w.hi) miss(static_cast<int32_t>(w.most), int64_t{last} + 1);
  for (int32_t v = first + 1; v <= last; ++v) {
    const int32_t t = thresholds[static_cast<size_t>(v - first - 1)];
    reach(t, v);
    miss(t - 1, v);
    if (lower > upper) return false;
  }
  const int64_t usual = (shift > 0 ? int64_t{1} << (shift - 1) : 0) + w.zero * (int64_t{1} << shift);
  const int64_t chosen = std::clamp(usual, lower, upper);
  const int64_t ends[2] = {grown(static_cast<int32_t>(w.least), left, multiplier) + chosen,
                           grown(static_cast<int32_t>(w.most), left, multiplier) + chosen};
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  if (lower > upper || chosen < kLeast || chosen > kMost || ends[0] < kLeast || ends[1] > kMost) return false;
  *add = static_cast<int32_t>(chosen);
  return true;
}

}  // namespace

int most_left(int64_t least, int64_t most) {
  const int64_t far = std::max(-least, most);
  int left = -1;
  while (left < 24 && far < (int64_t{1} << 31) >> (left + 1)) ++left;
  return left;
}

bool says_nothing(const Wanted& w) {
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  return w.least >= kLeast && w.most <= kMost && w.of(static_cast<int32_t>(w.least)) == w.of(static_cast<int32_t>(w.most));
}

bool find_requant(const Wanted& w, int left, cortexm::Channel* out) {
  if (says_nothing(w)) {
    out->multiplier = out->shift = 0;
    out->add = w.of(static_cast<int32_t>(w.least));
    return true;
  }
  if (!(w.multiplier > 0) || left < 0 || left > most_left(w.least, w.most)) return false;
  int exponent;
  (void)std::frexp(w.multiplier, &exponent);
  const int usual = left - 1 - exponent;  // with a multiplier of 31 bits
  if (usual < 0) return false;
  const std::vector<int32_t> thresholds = thresholds_of(w);
  // Small factors: what is added would not fit 32 bits, and the multiplier need not be that exact.
  for (int shift = std::min(usual, 31); shift >= std::min(usual, 16); --shift) {
    const int64_t nearest = std::llround(std::ldexp(w.multiplier, shift + 32 - left));
    std::vector<int64_t> offs = {0, -1, 1, -2, 2, -3, 3};
    // Sums that lie almost in the middle between two results want a factor that is a little smaller, or larger.
    for (int k = 24; k >= 12; --k) offs.insert(offs.end(), {-(nearest >> k), nearest >> k});
    for (const int64_t off : offs) {
      const int64_t multiplier = nearest + off;
      if (multiplier < 1 || multiplier > std::numeric_limits<int32_t>::max()) continue;
      out->multiplier = static_cast<int32_t>(multiplier);
      out->shift = shift;
      if (find_add(w, thresholds, left, out->multiplier, shift, &out->add)) return true;
    }
  }
  return false;
}

}  // namespace mote::emit
