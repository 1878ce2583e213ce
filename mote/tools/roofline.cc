#include "mote/tools/roofline.h"

#include <algorithm>

namespace mote::tools {
namespace {

// amount / rate with rates in units per ns; what is not known takes no time.
double us(double amount, double rate) { return rate > 0 ? amount / rate / 1e3 : 0; }

// As many bytes as are both read and written go at the rate of a copy, the rest at that of reading or writing.
double moving_us(uint64_t read, uint64_t written, const target::Bandwidth& b) {
  const uint64_t both = std::min(read, written);
  return us(2 * static_cast<double>(both), b.copy) + us(static_cast<double>(read - both), b.read) +
         us(static_cast<double>(written - both), b.write);
}

}  // namespace

const char* Bound::limit() const {
  if (us() <= 0) return "-";
  return compute_us >= memory_us ? "compute" : target::level_name(level);
}

Roofline::Roofline(const target::Target& target, uint32_t threads, uint64_t footprint_bytes)
    : target_(target), rates_(target::rates_of(target, threads)), footprint_parts_(target::spread(target, footprint_bytes, threads)) {}

Bound Roofline::of(const program::Cost& cost, uint64_t calls) const {
  Bound b;
  b.compute_us = us(2 * static_cast<double>(cost.products), cost.integer ? rates_.int8_gops : rates_.f32_gflops);
  const Parts own = target::spread(target_, cost.bytes() / std::max<uint64_t>(1, calls), rates_.threads);
  double most = 0;
  for (size_t i = 0; i < target::kLevelCount; ++i) {
    const double level_us = own[i] * moving_us(cost.read_bytes, cost.written_bytes, target::bandwidth_of(rates_, i)) +
                            footprint_parts_[i] * us(static_cast<double>(cost.constant_bytes), target::bandwidth_of(rates_, i).read);
    b.memory_us += level_us;
    if (level_us > most) b.level = static_cast<target::Level>(i);
    most = std::max(most, level_us);
  }
  return b;
}

}  // namespace mote::tools
