#include "mote/compiler/quant/samples.h"

#include <algorithm>
#include <cmath>

namespace mote::quant {
namespace {

constexpr size_t kTooFew = 16, kEnough = 100;

// True for independent uniform or normal numbers: neighbours along the last two axes are uncorrelated, and the fourth moment is that of the
// distribution. Sensor data are neither.
bool looks_random(const driver::Array& a) {
  const std::vector<double> x = driver::to_doubles(a);
  if (x.size() < 64) return false;
  double mean = 0, second = 0, fourth = 0;
  for (const double v : x) mean += v;
  mean /= static_cast<double>(x.size());
  for (const double v : x) {
    const double d = (v - mean) * (v - mean);
    second += d;
    fourth += d * d;
  }
  if (!(second > 0)) return false;
  const auto n = static_cast<double>(x.size());
  const double kurtosis = fourth / n / (second / n * second / n), slack = 12 / std::sqrt(n) + 0.03;
  if (std::fabs(kurtosis - 1.8) > slack && std::fabs(kurtosis - 3) > 2 * slack) return false;
  // A distance for each axis: neighbours along it.
  size_t distance = 1;
  for (size_t axis = a.dims.size(); axis-- > 0;) {
    if (distance * 4 <= x.size() && a.dims[axis] > 1) {
      double sum = 0;
      for (size_t i = distance; i < x.size(); ++i) sum += (x[i] - mean) * (x[i - distance] - mean);
      if (std::fabs(sum / second) > 4 / std::sqrt(n)) return false;
    }
    distance *= static_cast<size_t>(std::max<int64_t>(1, a.dims[axis]));
  }
  return true;
}

}  // namespace

void DataCheck::add(const std::vector<driver::Array>& inputs) {
  std::string digests;
  bool noise = false, real = false;
  for (const driver::Array& a : inputs) {
    digests += driver::sha256_hex({a.data.data(), a.data.size()});
    if (a.dtype != DType::f32) continue;
    real = true;
    noise |= looks_random(a);
  }
  ++count_;
  noise_ += noise ? 1 : 0;
  real_ += real ? 1 : 0;
  digests_ += digests;
  seen_.push_back(driver::sha256_hex({reinterpret_cast<const uint8_t*>(digests.data()), digests.size()}));
}

std::vector<std::string> DataCheck::warnings() const {
  std::vector<std::string> all;
  const auto number = [](size_t v) { return std::to_string(v); };
  if (count_ < kTooFew)
    all.push_back(number(count_) + " calibration samples are few: ranges may be too narrow; " + number(kEnough) + " or more are better");
  std::vector<std::string> distinct = seen_;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() < seen_.size()) all.push_back(number(seen_.size() - distinct.size()) + " calibration samples repeat others");
  if (real_ > 0 && noise_ * 2 > real_)
    all.push_back("the calibration data looks random (" + number(noise_) + " of " + number(count_) +
                  " samples): ranges found on noise say nothing of real inputs");
  return all;
}

std::string DataCheck::fingerprint() const {
  return driver::sha256_hex({reinterpret_cast<const uint8_t*>(digests_.data()), digests_.size()});
}

}  // namespace mote::quant
