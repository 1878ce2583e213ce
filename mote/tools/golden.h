#pragma once

// Golden examples of a program: inputs with the outputs they must give.

#include <map>
#include <utility>

#include "mote/tools/session.h"

namespace mote::tools {

struct GoldenTensor {
  uint32_t index = 0;
  float tolerance = 0;
  NpyArray array;
};
struct GoldenExample {
  uint32_t method = 0, example = 0;
  std::vector<GoldenTensor> inputs, outputs;
};

// In the order of the file. Throws Failure when the data is not there.
std::vector<GoldenExample> golden_examples(const Session& session);

// How far an output is from what was expected.
struct Comparison {
  double largest_error = 0;     // of any element
  double largest_expected = 0;  // magnitude
  double allowed = 0;           // tolerance * largest_expected
  bool same_type = true;
  bool passed = false;
};
Comparison compare(const NpyArray& found, const GoldenTensor& expected);

}  // namespace mote::tools
