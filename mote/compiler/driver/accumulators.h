#pragma once

// How far the accumulators of integer products can go, proved from the constants of a program: weights, biases, zero points.

#include <string>
#include <vector>

#include "mote/format/reader.h"

namespace mote::driver {

// Of an instruction that adds up products of integers.
struct Accumulator {
  uint32_t instruction = 0;
  std::string op;         // "q_conv"
  uint32_t channels = 0;  // output channels, each of which has a sum of its own
  uint32_t products = 0;  // that one sum adds up, at most
  uint32_t width = 32;    // bits of the accumulator
  // The largest magnitude that any sum can reach with any input, bias and residual included; what is in `not_counted` aside.
  uint64_t bound = 0;
  uint32_t bits = 0;  // that hold numbers from -bound to bound
  // Where weights are computed while running the widest numbers of their type are taken for them.
  bool weights_known = true;
  std::string not_counted;  // operands that only running tells ("bias")
  bool fits() const { return bits <= width && not_counted.empty(); }
};

// Those of a program that is verified. `file`: its bytes; `external`: the constants that lie in another file, where they are known.
std::vector<Accumulator> accumulators(const ProgramTable& table, ConstBytes file, ConstBytes external);

}  // namespace mote::driver
