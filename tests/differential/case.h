#pragma once

// A random model with everything that running it needs.

#include <string>
#include <vector>

#include "mote/compiler/driver/values.h"
#include "onnx.pb.h"

namespace mote::differential {

using Type = ::onnx::TensorProto::DataType;
using Dims = std::vector<int>;

// A named open dimension of the inputs.
struct Symbol {
  std::string name;
  int least = 1, most = 1;
};

struct Input {
  std::string name;
  Type type;
  float most;                // magnitude of the values it is given
  std::vector<Dims> shapes;  // one for each of Case::sizes
};

// How the compiler is asked.
struct Ways {
  bool exact = false, winograd = true, io_in_arena = false, in_place = true, overlap_rows = false;
  int strips = 0;     // schedule::Strips
  bool wide = false;  // --target avx512 in place of the generic one
};

struct Case {
  ::onnx::ModelProto model;
  std::vector<Symbol> symbols;
  std::vector<Dims> sizes;  // of the symbols, that the model can be run with; static models have one, empty
  std::vector<Input> inputs;
  Ways ways;
  uint64_t data_seed = 0;
  std::vector<uint32_t> choices;  // that it was drawn with
  std::vector<size_t> marks;      // where its steps begin in them
};

// Draws a case. The same seed gives the same case on every machine.
Case draw_case(uint64_t seed);
// From recorded choices, changed or not.
Case draw_case(std::vector<uint32_t> choices);

// Values of the inputs at one of its sizes.
std::vector<driver::Array> make_inputs(const Case& c, size_t size);

// "Conv DequantizeLinear Relu": its operators, sorted, each once.
std::string operators_of(const ::onnx::ModelProto& model);

}  // namespace mote::differential
