#pragma once

// Scores quantization choices: the quantized model beside the float one, on a few samples.

#include "mote/compiler/quant/quantize.h"

namespace mote::quant {

class Trials {
 public:
  // Runs the float model over the first samples: `usual_count`, or up to `max_count` that together take no more than `macs`; and no more
  // than have outputs of 64 MB. The quantizer is borrowed.
  bool start(const Quantizer& quantizer, Samples& samples, size_t usual_count, size_t max_count, double macs, ir::Problems* problems);

  // The ratio of signal to error, dB, of the worst output of a recipe; infinite without an error, not below 0.
  bool score(const Recipe& recipe, double* worst_db, ir::Problems* problems) const;

 private:
  const Quantizer* quantizer_ = nullptr;
  std::vector<std::vector<driver::Array>> inputs_;
  std::vector<std::vector<std::vector<double>>> expected_;  // by sample and output
};

}  // namespace mote::quant
