#pragma once

// A layer as XNNPACK's operator.

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/xnnpack/layers.h"

namespace mote::bench {

// What a quantized layer has beside its numbers. Weights have a scale for each output and zero point 0.
struct Scales {
  float input, output;
  int32_t input_zero, output_zero, lo, hi;
  std::vector<float> weights;
};

class Peer {
 public:
  virtual ~Peer() = default;
  virtual void run() = 0;
};

// Operands are the caller's and stay where they are: x (1, size, size, channels), weights (outputs, kernel, kernel, channels / groups).
// Null where the library refuses.
std::unique_ptr<Peer> make_peer(const Layer& l, const float* x, const float* weights, const float* bias, float* y);
std::unique_ptr<Peer> make_peer(const Layer& l, const Scales& s, const int8_t* x, const int8_t* weights, const int32_t* bias, int8_t* y);

}  // namespace mote::bench
