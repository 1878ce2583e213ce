// A streaming program on a board or on the host: reads samples from a file of 16-bit numbers, prints the bytes of the output after every
// run. The build names the program (stream) and its output (OUTPUT, OUTPUT_BYTES).

#include "console.h"
#include "stream.h"

namespace {

alignas(stream::kAlignment) uint8_t memory[stream::arena_bytes];

void print(const uint8_t* bytes, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const char text[3] = {"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15], 0};
    console_text(text);
  }
  console_text("\n");
}

}  // namespace

int main() {
  const int file = console_open(console_argument());
  if (file < 0) return 2;
  stream::init(memory);
  constexpr uint32_t kStep = stream::samples_count * sizeof(int16_t);
  while (console_read(file, stream::samples(memory), kStep) == kStep) {
    if (stream::run(memory) != 0) return 1;
    print(reinterpret_cast<const uint8_t*>(OUTPUT(memory)), OUTPUT_BYTES);
  }
  return 0;
}
