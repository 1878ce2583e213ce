#pragma once

// For the tests of passes: texts before and after, and running a graph node by node with the portable kernels.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "mote/compiler/ir/evaluate.h"
#include "mote/compiler/passes/pass.h"

namespace mote::passes {

// What a method gives for inputs made from a seed, at the symbols' sizes of a sample. States start as they are written, and keep their
// contents from run to run of one Interpreter.
class Interpreter {
 public:
  explicit Interpreter(size_t sample = 0) : sample_(sample) {}
  // False when a kernel refused.
  bool run(const ir::Method& method, uint32_t seed, std::vector<ir::Operand>* results);

 private:
  ir::Operand value(const ir::Value* v);
  bool block(const ir::Block& b);
  bool node(const ir::Node& n);
  bool loop(const ir::Node& n);

  size_t sample_;
  std::map<const ir::Value*, ir::Operand> values_;
};

// Runs the named passes, in order, and checks that the graph then reads as `after` (from the first method on) and still computes the same,
// within `tolerance` of the largest result. A line of `after` that ends in a backslash goes on in the next one, without its blanks.
void expect_pass(const std::vector<std::string>& passes, const std::string& before, const std::string& after, double tolerance = 1e-5,
                 const PassOptions& options = {});

// Runs all passes; checks that the results stay the same. Gives the text.
std::string run_all(const std::string& before, double tolerance = 1e-4, const PassOptions& options = {});

}  // namespace mote::passes
