#pragma once

#include <cstddef>
#include <cstdint>

namespace mote::fuzz {

// A source of choices: first the bytes of a fuzz input, then a generator seeded by them. The same bytes give the same choices,
// and a fuzzer that changes a byte changes one choice.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 2 + 1) { raw(); }
  Dice(const uint8_t* data, size_t size) : data_(data), left_(size), state_(digest(data, size)) { raw(); }

  // A number that depends on every byte.
  static uint64_t digest(const uint8_t* data, size_t size) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; ++i) h = (h ^ data[i]) * 0x100000001b3u;
    return h;
  }

  // 0 .. n-1; 0 when n is 0.
  uint32_t below(uint32_t n) { return n < 2 ? 0 : (n <= 256 ? byte() : word()) % n; }
  int32_t between(int32_t low, int32_t high) { return low + static_cast<int32_t>(below(static_cast<uint32_t>(high - low) + 1)); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  uint8_t byte() {
    if (left_ == 0) return static_cast<uint8_t>(raw() >> 24);
    --left_;
    return *data_++;
  }
  uint32_t word() {
    return left_ == 0
               ? raw()
               : static_cast<uint32_t>(byte()) << 24 | static_cast<uint32_t>(byte()) << 16 | static_cast<uint32_t>(byte()) << 8 | byte();
  }
  // Bits that are not worth a fuzzer's attention: always from the generator.
  uint32_t raw() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const uint64_t x = state_ ^ state_ >> 29;
    return static_cast<uint32_t>(x * 0xbf58476d1ce4e5b9u >> 32);
  }

 private:
  const uint8_t* data_ = nullptr;
  size_t left_ = 0;
  uint64_t state_;
};

}  // namespace mote::fuzz
