// Keyword spotting under Zephyr: replace next_samples() by your microphone's driver (dmic_read() of the DMIC interface, for instance).

#include <cstdio>

#include "keyword.h"

namespace {

alignas(keyword::kAlignment) uint8_t memory[keyword::arena_bytes];

// A tone that rises, in place of a microphone: 16-bit samples, 16000 a second.
void next_samples(int16_t* to, unsigned count) {
  static uint32_t phase, step = 0x0c000000;
  for (unsigned i = 0; i < count; ++i) {
    phase += step += 0xc00;
    const auto t = static_cast<int32_t>(phase) >> 17;                // a saw of 15 bits
    to[i] = static_cast<int16_t>((t < 0 ? -t : t) * 2 - 16384) / 4;  // a triangle
  }
}

}  // namespace

int main() {
  keyword::init(memory);
  for (int step = 0; step < 50; ++step) {
    next_samples(keyword::samples(memory), keyword::samples_count);
    if (keyword::run(memory) != 0) return 1;
  }
  const int8_t* scores = keyword::scores(memory);
  for (unsigned i = 0; i < keyword::scores_count; ++i) std::printf("class %u: %d\n", i, scores[i]);
  return 0;
}
