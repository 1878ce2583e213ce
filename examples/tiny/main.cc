// Anomaly detection on a microcontroller: an autoencoder reads a window of sound features and tries to repeat it; what it cannot repeat
// is unusual. Plain start-up code, no operating system; the console is the debugger's (semihosting).

#include "anomaly.h"
#include "tests/baremetal/semihosting.h"

namespace {

alignas(anomaly::kAlignment) uint8_t memory[anomaly::arena_bytes];
static_assert(anomaly::arena_bytes <= 1536, "the budget of this board");

// A machine that hums as it always does, or rattles: features of the model's range.
int8_t feature(int i, bool rattles) { return static_cast<int8_t>(60 + i % 128 / 8 + (rattles ? (i * 37 % 101) - 50 : 0)); }

// The mean squared difference between a window and what the model makes of it.
uint32_t score(bool rattles) {
  int8_t* in = anomaly::input_1(memory);
  for (int i = 0; i < static_cast<int>(anomaly::input_1_count); ++i) in[i] = feature(i, rattles);
  if (anomaly::run(memory) != 0) return ~0u;
  const int8_t* out = anomaly::Identity(memory);
  uint32_t sum = 0;
  for (int i = 0; i < static_cast<int>(anomaly::Identity_count); ++i) {
    const int d = out[i] - feature(i, rattles);
    sum += static_cast<uint32_t>(d * d);
  }
  return sum / anomaly::Identity_count;
}

}  // namespace

extern "C" int board_main();
int board_main() {
  const uint32_t usual = score(false), unusual = score(true);
  mote::board::print("usual sound    ");
  mote::board::print(usual);
  mote::board::print("\nunusual sound  ");
  mote::board::print(unusual);
  mote::board::print(unusual > usual ? "\nanomaly found\n" : "\nno difference\n");
  return unusual > usual ? 0 : 1;
}
