#pragma once

// A TOSA file, read in place: names, sizes and ranges are checked before anything uses them. Host code.
// Names and constants point into the file's bytes, which the Model keeps alive.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mote/compiler/frontends/frontend.h"
#include "tosa_generated.h"

namespace mote::frontends::tosa {

using flatbuffers::Vector;

struct Tensor {
  std::string_view name;
  fb::DType source_type = fb::DType::UNKNOWN;
  DType dtype = DType::kNone;  // kNone: a type that Mote has no tensors of. INT48 is s64, INT4 is s8
  ir::Dims dims;               // kDimUnknown where open
  bool ranked = true;
  std::string_view variable;  // the name of the variable that it declares, reads or writes
  ir::Bytes data;             // constants: the bytes of the file, packed for INT4 and INT48

  bool is_open() const;
};

// A value of type shape: a list of sizes.
struct Shape {
  std::string_view name;
  std::vector<int64_t> values;
  bool known = false;
};

using Names = std::vector<std::string_view>;

struct Operator {
  const fb::TosaOperator* table = nullptr;
  fb::Op code = fb::Op::UNKNOWN;
  Names inputs, outputs;
};

// A region of one basic block: the main graph, a branch, a condition, a loop's body.
struct Region {
  std::string_view name;
  std::vector<Tensor> tensors;
  std::vector<Shape> shapes;
  std::map<std::string_view, size_t> tensor_of, shape_of;  // by name
  std::vector<Operator> operators;
  Names inputs, outputs;

  const Tensor* tensor(std::string_view name) const;
};

struct Model {
  Source source;
  const fb::TosaGraph* table = nullptr;
  std::vector<Region> regions;  // the first one is the program

  int region(std::string_view name) const;  // -1: none
};

bool is_model(const Source& source);
// False with what is wrong when the file is not a sound graph. Operators are not judged here.
bool read_model(const Source& source, Model* out, ir::Problems* problems);

std::string_view text_of(const flatbuffers::String* s);
std::string operator_name(fb::Op code);
// "INT8 (1, 8, 8, 3)", for messages.
std::string describe(const Tensor& t);
// Bytes of `count` elements as the file packs them.
uint64_t packed_bytes(fb::DType type, uint64_t count);

}  // namespace mote::frontends::tosa
