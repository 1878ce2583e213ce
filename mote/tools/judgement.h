#pragma once

// When `mote validate` takes an output as right.

#include <string>

#include "mote/compiler/driver/values.h"

namespace mote::tools {

// When a value counts as right: element type and sizes are those expected, NaN and infinities are in the same places, and one of these
// holds.
struct Judgement {
  double tolerance =
      1e-4;             // floats: the largest error is within this part of the largest expected magnitude; 0, and integers: the same bits
  double floor = 5e-7;  // floats: or every error is, absolute. Outputs that are next to nothing, such as probabilities of things that
                        // are not there, have no more right digits than 1 has
  double least_db = 0;  // or the signal to error ratio is at least this; 0: that does not count
  std::string text() const;  // "largest error within 1.00e-04 of the largest value, or 5.00e-07; or SQNR of 30.0 dB"
};
constexpr double kQuantizedDb = 30;
// Evidence of quantizing that is computed again: another machine's float kernels round otherwise, which moves what is close to the edge of
// a step.
constexpr double kEvidenceTolerance = 0.02;

// What --tolerance and --sqnr ask for, below 0 where they are not given. `quantized`: the model is a quantized one whose integers other
// runtimes emulate with floats, where least_db is kQuantizedDb. A tolerance stands alone: neither floor nor that ratio then help.
Judgement judgement_of(double tolerance, double sqnr_db, bool quantized);

bool agrees(const driver::Array& found, const driver::Array& expected, const Judgement& judgement);

// All of that for --help, from the numbers that judge.
std::string how_it_judges();

}  // namespace mote::tools
