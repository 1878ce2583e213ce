// Keyword spotting on a microcontroller: every 20 ms of sound go in as the microphone gives them, scores of the keywords come out. Features
// (window, Fourier transform, bands, noise reduction) are part of the model's program, and so is what it keeps of the sound before.
// The build names the function of the model's scores (OUTPUT), their number (OUTPUT_COUNT) and the words (LABELS).

#include <cstring>

#include "console.h"
#include "keyword.h"

namespace {

alignas(keyword::kAlignment) uint8_t memory[keyword::arena_bytes];
constexpr const char* kLabels[] = {LABELS};
constexpr int kClasses = sizeof kLabels / sizeof *kLabels;
static_assert(OUTPUT_COUNT == kClasses, "a word for each of the model's classes");
constexpr int kRate = 16000, kCertain = 75;  // samples a second; per cent

uint32_t word(const uint8_t* p, int bytes) {
  uint32_t v = 0;
  for (int i = 0; i < bytes; ++i) v |= static_cast<uint32_t>(p[i]) << 8 * i;
  return v;
}

// Goes to the samples of a WAV file. False for all but one channel of 16 bits at the model's rate.
bool find_samples(int file) {
  uint8_t head[24];
  if (console_read(file, head, 12) != 12 || std::memcmp(head, "RIFF", 4) != 0 || std::memcmp(head + 8, "WAVE", 4) != 0) return false;
  bool known = false;
  while (console_read(file, head, 8) == 8) {
    uint32_t size = word(head + 4, 4);
    if (std::memcmp(head, "data", 4) == 0) return known;
    if (std::memcmp(head, "fmt ", 4) == 0 && size >= 16) {
      if (console_read(file, head, 16) != 16) return false;
      known = word(head, 2) == 1 && word(head + 2, 2) == 1 && word(head + 4, 4) == kRate && word(head + 14, 2) == 16;
      size -= 16;
    }
    for (size += size & 1; size > 0;) {
      const uint32_t some = size < sizeof head ? size : sizeof head;
      if (console_read(file, head, some) != some) return false;
      size -= some;
    }
  }
  return false;
}

int percent(int8_t score) { return (score + 128) * 100 / 255; }

void report(int ms, int best, int score) {
  console_number(ms);
  console_text(" ms  ");
  console_text(kLabels[best]);
  console_text("  ");
  console_number(score);
  console_text(" %\n");
}

}  // namespace

int main() {
  const int file = console_open(console_argument());
  if (file < 0 || !find_samples(file)) {
    console_text("expected a WAV file with one channel of 16 bits at 16000 samples a second\n");
    return 2;
  }
  keyword::init(memory);
  int said = -1;
  constexpr uint32_t kStep = keyword::samples_count * sizeof(int16_t);
  for (int steps = 1; console_read(file, keyword::samples(memory), kStep) == kStep; ++steps) {
    if (keyword::run(memory) != 0) return 1;
    const int8_t* scores = OUTPUT(memory);
    int best = 0;
    for (int i = 1; i < kClasses; ++i) best = scores[i] > scores[best] ? i : best;
    if (best == said || percent(scores[best]) < kCertain) continue;
    said = best;
    report(steps * static_cast<int>(keyword::samples_count) * 1000 / kRate, best, percent(scores[best]));
  }
  return said < 0 ? 1 : 0;
}
