// The firmware: images come from a file of the debugger's host, 8-bit pixels as the model takes them, one after the other; for each a line
// with its scores goes out (the output has the name of the layer that gives it).

#include "console.h"
#include "digits.h"

namespace {

alignas(digits::kAlignment) uint8_t memory[digits::arena_bytes];

}  // namespace

int main() {
  const int file = console_open(console_argument());
  if (file < 0) {
    console_text("expected a file of images: make run ARG=images.bin\n");
    return 2;
  }
  while (console_read(file, digits::image(memory), digits::image_count) == digits::image_count) {
    if (digits::run(memory) != 0) return 1;
    console_text("scores");
    for (unsigned i = 0; i < digits::output_count; ++i) {
      console_text(" ");
      console_number(digits::output(memory)[i]);
    }
    console_text("\n");
  }
  return 0;
}
