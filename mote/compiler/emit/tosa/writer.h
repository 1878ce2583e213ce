#pragma once

// Words for writing TOSA: operators and constants into one basic block, values of the graph by name.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "mote/compiler/emit/tosa/emit_tosa.h"
#include "tosa_generated.h"

namespace mote::emit::tosa {

namespace fb = frontends::tosa::fb;
using ir::Dims;
using ir::Node;
using ir::Value;

// A tensor of the file.
struct Operand {
  std::string name;
  fb::DType type = fb::DType::UNKNOWN;
  Dims dims;
};

// INT8 for s8 and u8: TOSA keeps unsigned elements with the bits of signed ones. UNKNOWN where it has no such type.
fb::DType type_of(DType t);
inline bool is_float(fb::DType t) { return t == fb::DType::FP32 || t == fb::DType::FP16 || t == fb::DType::BF16; }
inline bool is_unsigned(DType t) { return t == DType::u8 || t == DType::u16 || t == DType::u32; }

class Writer {
 public:
  flatbuffers::FlatBufferBuilder b;

  // The tensor of a value; constants are written when they are first used. UNKNOWN after an error.
  Operand of(const Value* v);
  // The same with leading dimensions of size 1 up to `rank`.
  Operand of(const Value* v, int rank);
  void bind(const Value* v, const Operand& x) { values_[v] = x; }

  Operand op(fb::Op code, fb::Attribute kind, flatbuffers::Offset<void> attribute, const std::vector<Operand>& in, fb::DType type,
             const Dims& dims);
  // An operator whose attributes have no fields.
  Operand op(fb::Op code, const std::vector<Operand>& in, fb::DType type, const Dims& dims);
  Operand reshape(const Operand& x, const Dims& dims);
  Operand cast(const Operand& x, fb::DType to);
  Operand binary(fb::Op code, const Operand& x, const Operand& y);  // of one rank
  Operand transpose(const Operand& x, const std::vector<int>& perm);
  Operand shape(const std::vector<int64_t>& sizes);
  Operand bytes(fb::DType type, const Dims& dims, const void* data, size_t size);
  // Numbers of any type but INT4.
  Operand numbers(fb::DType type, const Dims& dims, const std::vector<double>& values);
  Operand number(fb::DType type, double value, int rank = 0) { return numbers(type, Dims(static_cast<size_t>(rank), 1), {value}); }
  Operand zero(fb::DType type, double value = 0) { return numbers(type, {1}, {value}); }
  Operand clamp(const Operand& x, double lo, double hi);

  void input(const Value* v, const std::string& name);
  void output(const Value* v, const std::string& name);

  // What is wrong with the node that is being written.
  void fail(const std::string& why) { error_ = error_.empty() ? why : error_; }
  std::string take_error() { return std::move(error_); }
  bool ok() const { return error_.empty(); }

  std::vector<uint8_t> finish();

 private:
  std::string fresh(const char* stem) { return std::string(stem) + std::to_string(next_++); }
  void declare(const Operand& x, const std::vector<uint8_t>* data);

  std::vector<flatbuffers::Offset<fb::TosaTensor>> tensors_;
  std::vector<flatbuffers::Offset<fb::TosaShape>> shapes_;
  std::vector<flatbuffers::Offset<fb::TosaOperator>> ops_;
  std::vector<std::string> inputs_, outputs_;
  std::map<const Value*, Operand> values_;
  std::string error_;
  int next_ = 0;
};

// Operators by family; false: not theirs.
bool lower_elementwise(Writer& w, const Node& n);
bool lower_moves(Writer& w, const Node& n);
bool lower_products(Writer& w, const Node& n);

}  // namespace mote::emit::tosa
