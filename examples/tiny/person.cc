// Person detection on a microcontroller: an image of the camera goes in, "person" or "no person" comes out. The image is a BMP file here,
// made as large as the model wants it and grey.

#include <cstring>

#include "console.h"
#include "person.h"

namespace {

alignas(person::kAlignment) uint8_t memory[person::arena_bytes];
constexpr int kSize = 96;
static_assert(person::input_count == kSize * kSize, "one grey value for each pixel");

uint32_t word(const uint8_t* p, int bytes) {
  uint32_t v = 0;
  for (int i = 0; i < bytes; ++i) v |= static_cast<uint32_t>(p[i]) << 8 * i;
  return v;
}

struct Bitmap {
  int32_t width, height, bytes, row;  // bytes of a pixel: 1 (grey) or 3
  bool upside_down;
};

bool skip(int file, uint32_t count) {
  uint8_t some[64];
  while (count > 0) {
    const uint32_t n = count < sizeof some ? count : sizeof some;
    if (console_read(file, some, n) != n) return false;
    count -= n;
  }
  return true;
}

bool find_pixels(int file, Bitmap* b) {
  uint8_t head[54];
  if (console_read(file, head, sizeof head) != sizeof head || head[0] != 'B' || head[1] != 'M') return false;
  const auto height = static_cast<int32_t>(word(head + 22, 4));
  *b = {static_cast<int32_t>(word(head + 18, 4)), height < 0 ? -height : height, static_cast<int32_t>(word(head + 28, 2)) / 8, 0,
        height > 0};
  b->row = (b->width * b->bytes + 3) / 4 * 4;
  const uint32_t at = word(head + 10, 4);
  return b->width > 0 && b->width <= 640 && b->height > 0 && b->height <= 4096 && (b->bytes == 1 || b->bytes == 3) && at >= sizeof head &&
         word(head + 30, 4) == 0 && skip(file, at - sizeof head);
}

int grey(const uint8_t* pixel, int bytes) { return bytes == 1 ? pixel[0] : (29 * pixel[0] + 150 * pixel[1] + 77 * pixel[2]) >> 8; }

// Black is -128, white 127. The test images of TensorFlow Lite Micro hold these bytes already (SIGNED_PIXELS).
#if defined(SIGNED_PIXELS)
constexpr int kBlack = 0;
#else
constexpr int kBlack = 128;
#endif

// Takes of each row and column the nearest.
bool load(int file, int8_t* to) {
  static uint8_t row[640 * 3 + 4];
  Bitmap b;
  if (!find_pixels(file, &b)) return false;
  for (int32_t y = 0; y < b.height; ++y) {
    if (console_read(file, row, static_cast<uint32_t>(b.row)) != static_cast<uint32_t>(b.row)) return false;
    const int32_t from_top = b.upside_down ? b.height - 1 - y : y;
    for (int32_t r = (from_top * kSize + b.height - 1) / b.height; r < kSize && r * b.height / kSize == from_top; ++r)
      for (int32_t c = 0; c < kSize; ++c)
        to[r * kSize + c] = static_cast<int8_t>(grey(row + c * b.width / kSize * b.bytes, b.bytes) - kBlack);
  }
  return true;
}

}  // namespace

int main() {
  const int file = console_open(console_argument());
  if (file < 0 || !load(file, person::input(memory))) {
    console_text("expected a BMP file of 8 or 24 bits, not packed, at most 640 pixels wide\n");
    return 2;
  }
  if (person::run(memory) != 0) return 1;
  const int8_t* scores = person::MobilenetV1_Predictions_Reshape_1(memory);
  console_text(scores[1] > scores[0] ? "person  " : "no person  ");
  console_number((scores[1] > scores[0] ? scores[1] + 128 : scores[0] + 128) * 100 / 255);
  console_text(" %\n");
  return 0;
}
