#pragma once

// Examples that travel with a program: inputs, and the outputs an unoptimised compilation of the same model gives for them.

#include <map>
#include <string>
#include <vector>

#include "mote/compiler/driver/values.h"
#include "mote/compiler/emit/writer.h"
#include "mote/compiler/ir/graph.h"
#include "mote/kernels/select.h"

namespace mote::driver {

// One example as the user gave it: arrays by the name of an input or output, or what file_name_of() makes of it. "" is the only input.
// Outputs that are not given are computed.
using GivenExample = std::map<std::string, Array>;

struct GoldenOptions {
  int count = 1;                    // examples made of fixed pseudo-random inputs, for each method; 0: none
  std::vector<GivenExample> given;  // of the first method, instead of those
  // Most that one run may take; an example that needs more is left out.
  uint64_t time_ms = 120000;
  uint64_t memory_bytes = uint64_t{4} << 30;
  uint64_t work = uint64_t{2} << 30;  // multiply-adds, and as many bytes moved; 0: any number
  // Larger programs, and the unoptimised ones beside them, run with fast kernels in place of the portable ones, which would take most of
  // the time; without fast kernels nothing runs beside them. 0: all run portable kernels.
  uint64_t check_macs = 50000000;
  // Those fast kernels: a set that every machine of an architecture has, so that the file does not depend on which one compiles. Null:
  // CompileOptions::select.
  kernels::SelectFn select = nullptr;
  bool reference = true;  // false: the model is no reference for the program's numbers (quantizing); examples hold the program's own
  // Multiply-adds that the portable kernels take at most to compare the fast ones with them, instruction by instruction. 0: none.
  uint64_t kernel_work = 100000000;
};

// Of one method, complete.
struct Example {
  uint32_t method = 0;
  std::vector<Array> inputs, outputs;
  std::vector<float> tolerances;  // of the outputs
};

// One output of one example, beside what it was held against.
struct Comparison {
  enum class Against : uint8_t { kNothing, kUnoptimised, kGiven };  // the same model without optimisation; what the user gave (--golden)
  uint32_t method = 0;
  size_t example = 0;  // of all examples
  std::string output;
  Against against = Against::kNothing;
  Difference difference;
  double tolerance = 0;  // what the example in the file allows
};

// What the inputs and outputs of a graph's methods are, kept when passes have changed the graph.
struct Signature {
  struct Io {
    std::string name;
    DType dtype;
    std::vector<std::vector<int64_t>> dims;  // for each sample of the symbols; the first has every symbol at its maximum
    std::string source_name = {};            // the name in the model's file, where that is another (TFLite)
  };
  struct Method {
    std::vector<Io> inputs, outputs;
  };
  std::vector<Method> methods;
};
Signature signature_of(const ir::Graph& graph);

// Inputs in place of given ones: their names and sizes are checked. False with *error.
bool resolve_given(const Signature& signature, const GivenExample& given, Example* out, std::string* error);

// Made-up inputs of a method at the sizes of one sample.
std::vector<Array> make_inputs(const Signature::Method& method, size_t sample, uint64_t seed);

// Adds examples to the records of a program, in a segment of their own.
void add_examples(const std::vector<Example>& examples, emit::ProgramRecords* records);

}  // namespace mote::driver
