// What plain code can do: the bounds of the portable kernels.

#include <cstring>

#include "mote/tools/measure.h"

namespace mote::tools {
namespace {

uint64_t fma_f32(uint32_t rounds, float* sink) noexcept {
  constexpr int kSums = 16;
  float sum[kSums];
  for (int i = 0; i < kSums; ++i) sum[i] = sink[0] + static_cast<float>(i);
  const float a = sink[1], b = sink[2];
  for (uint32_t r = 0; r < rounds; ++r)
    for (float& s : sum) s = s * a + b;
  for (float s : sum) sink[0] += s;
  return uint64_t{rounds} * kSums * 2;
}

uint64_t dot_s8(uint32_t rounds, float* sink) noexcept {
  constexpr int kLength = 64;
  volatile int8_t seed = static_cast<int8_t>(sink[1] * 8);
  int8_t x[kLength], w[kLength];
  for (int i = 0; i < kLength; ++i) x[i] = w[i] = static_cast<int8_t>(seed + i % 7);
  int32_t sum = 0;
  for (uint32_t r = 0; r < rounds; ++r) {
    x[r % kLength] = static_cast<int8_t>(sum);  // or one product would serve every round
    for (int i = 0; i < kLength; ++i) sum += x[i] * w[i];
    sum &= 0xffffff;
  }
  sink[0] += static_cast<float>(sum & 1);
  return uint64_t{rounds} * kLength * 2;
}

void read(const uint8_t* from, uint64_t bytes, float* sink) noexcept {
  uint64_t any[8] = {};
  for (uint64_t i = 0; i < bytes; i += sizeof any) {
    uint64_t words[8];
    std::memcpy(words, from + i, sizeof words);
    for (int k = 0; k < 8; ++k) any[k] |= words[k];
  }
  for (uint64_t a : any) sink[0] += static_cast<float>(a & 1);
}

void write(uint8_t* to, uint64_t bytes) noexcept { std::memset(to, 1, bytes); }

void copy(const uint8_t* from, uint8_t* to, uint64_t bytes) noexcept { std::memcpy(to, from, bytes); }

}  // namespace

kernels::Probes portable_probes() { return {&fma_f32, &dot_s8, &read, &write, &copy}; }

}  // namespace mote::tools
