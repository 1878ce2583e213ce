// Runs digits.mote from C++ with mote.hpp alone: what an application does.
//   run_digits digits.mote PIXELS.f32     PIXELS: 64 f32 values, 0 to 16

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "mote/api/mote.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: run_digits digits.mote PIXELS.f32\n");
    return 2;
  }
  auto model = mote::Model::load(argv[1]);
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().message.c_str());
    return 1;
  }
  std::vector<float> image(64), probabilities(10);
  std::ifstream file(argv[2], std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(image.data()), static_cast<std::streamsize>(image.size() * sizeof(float)))) {
    std::fprintf(stderr, "%s: expected 64 values of 4 bytes\n", argv[2]);
    return 1;
  }
  if (const mote::Error error = model->run({mote::input_view(image)}, {mote::output_view(probabilities)})) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 1;
  }
  const auto best = std::max_element(probabilities.begin(), probabilities.end());
  std::printf("a %d, probability %.3f\n", static_cast<int>(best - probabilities.begin()), static_cast<double>(*best));
  return 0;
}
