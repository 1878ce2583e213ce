#pragma once

// Times of runs, counted in classes an eighth of an octave wide: p99 without keeping them.

#include <array>
#include <atomic>
#include <cstdint>

namespace mote::fleet::app {

class Latencies {
 public:
  void add(uint64_t microseconds) { counts_[class_of(microseconds)].fetch_add(1, std::memory_order_relaxed); }

  uint64_t runs() const {
    uint64_t sum = 0;
    for (const auto& c : counts_) sum += c.load(std::memory_order_relaxed);
    return sum;
  }
  // Upper end of the class that holds it; 0 before the first run.
  uint64_t p99_us() const {
    const uint64_t total = runs();
    uint64_t above = 0;
    for (size_t i = kClasses; i-- > 0;) {
      above += counts_[i].load(std::memory_order_relaxed);
      if (above > 0 && above * 100 > total) return upper_end(i);
    }
    return 0;
  }

 private:
  static constexpr size_t kClasses = 8 * 40;
  static size_t class_of(uint64_t v) {
    if (v < 8) return v;
    int octave = 0;
    while (v >> octave >= 16) ++octave;
    const size_t out = static_cast<size_t>(octave) * 8 + static_cast<size_t>(v >> octave);
    return out < kClasses ? out : kClasses - 1;
  }
  static uint64_t upper_end(size_t i) {
    if (i < 16) return i;
    const size_t octave = i / 8 - 1;
    return ((i - octave * 8 + 1) << octave) - 1;
  }
  std::array<std::atomic<uint64_t>, kClasses> counts_{};
};

}  // namespace mote::fleet::app
