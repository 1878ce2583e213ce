// Anomaly detection on a microcontroller: an autoencoder reads a window of sound features and tries to repeat it; what it cannot repeat
// is unusual. The features are made up: a machine that hums as it always does, or rattles.

#include "anomaly.h"
#include "console.h"

namespace {

alignas(anomaly::kAlignment) uint8_t memory[anomaly::arena_bytes];
static_assert(anomaly::arena_bytes <= 1536, "the budget of this board");

int8_t feature(int i, bool rattles) { return static_cast<int8_t>(60 + i % 128 / 8 + (rattles ? (i * 37 % 101) - 50 : 0)); }

// The mean squared difference between a window and what the model makes of it; less than 0 when it fails.
int32_t score(bool rattles) {
  int8_t* in = anomaly::input_1(memory);
  for (int i = 0; i < static_cast<int>(anomaly::input_1_count); ++i) in[i] = feature(i, rattles);
  if (anomaly::run(memory) != 0) return -1;
  const int8_t* out = anomaly::Identity(memory);
  int32_t sum = 0;
  for (int i = 0; i < static_cast<int>(anomaly::Identity_count); ++i) {
    const int d = out[i] - feature(i, rattles);
    sum += d * d;
  }
  return sum / static_cast<int32_t>(anomaly::Identity_count);
}

}  // namespace

int main() {
  const int32_t usual = score(false), unusual = score(true);
  console_text("usual sound    ");
  console_number(usual);
  console_text("\nunusual sound  ");
  console_number(unusual);
  const bool found = usual >= 0 && unusual > usual;
  console_text(found ? "\nanomaly found\n" : "\nno difference\n");
  return found ? 0 : 1;
}
