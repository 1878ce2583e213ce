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

// Sets every input of a method: from the first golden example where there is one (indices make sense there), made up otherwise.
void fill_inputs(Session& session, uint32_t method);

// How far an output is from what was expected.
struct Comparison {
  driver::Difference difference;
  double allowed = 0;  // tolerance * largest expected magnitude
  bool passed = false;
};
Comparison compare(const NpyArray& found, const GoldenTensor& expected);

}  // namespace mote::tools
