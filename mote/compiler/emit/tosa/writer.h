#pragma once

// Words for writing TOSA: operators and constants into one basic block, values of the graph by name.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
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
inline bool narrow(fb::DType t) { return t == fb::DType::INT8 || t == fb::DType::INT16; }
inline bool is_unsigned(DType t) { return t == DType::u8 || t == DType::u16 || t == DType::u32; }

class Writer {
 public:
  flatbuffers::FlatBufferBuilder b;

  // The tensor of a value; constants are written when they are first used. UNKNOWN after an error.
  Operand of(const Value* v);
  // The same with leading dimensions of size 1 up to `rank`.
  Operand of(const Value* v, int rank);
  void bind(const Value* v, const Operand& x) { now_.values[v] = x; }

  // The same with signed elements: for u8 an INT8 tensor that holds each element less 128. What is bound so becomes u8 again where of()
  // asks for it.
  Operand signed_of(const Value* v);
  Operand signed_of(const Value* v, int rank);
  void bind_signed(const Value* v, const Operand& x);
  bool is_signed_bound(const Value* v) const { return now_.twins.count(v) != 0 && now_.values.count(v) == 0; }

  Operand op(fb::Op code, fb::Attribute kind, flatbuffers::Offset<void> attribute, const std::vector<Operand>& in, fb::DType type,
             const Dims& dims);
  std::vector<Operand> op_of_many(fb::Op code, fb::Attribute kind, flatbuffers::Offset<void> attribute, const std::vector<Operand>& in,
                                  std::vector<Operand> out);  // out: types and sizes
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
  void reserve(const std::string& name) { reserved_.insert(name); }  // the names of inputs and outputs, before anything is written

  // A region of its own: what is written until close_region() goes there and sees none of the values outside. Returns its name.
  std::string open_region(const char* stem);
  void close_region();
  Operand region_input(const Operand& like);
  void region_output(const Operand& x);

  // What is wrong with the node that is being written.
  void fail(const std::string& why) { error_ = error_.empty() ? why : error_; }
  std::string take_error() { return std::move(error_); }
  bool ok() const { return error_.empty(); }
  // The node that is being written rounds some sums in another way than Mote does, by one step of its output.
  void note_rounding() { rounds_ = true; }
  bool take_rounding() { return std::exchange(rounds_, false); }

  std::vector<uint8_t> finish();

 private:
  std::string fresh(const char* stem);
  void declare(const Operand& x, const std::vector<uint8_t>* data);
  Operand padded(const Operand& x, int rank);
  Operand turned(const Operand& x, bool to_signed);

  struct Region {
    std::string name;
    std::vector<flatbuffers::Offset<fb::TosaTensor>> tensors;
    std::vector<flatbuffers::Offset<fb::TosaShape>> shapes;
    std::vector<flatbuffers::Offset<fb::TosaOperator>> ops;
    std::vector<std::string> inputs, outputs;
    std::map<const Value*, Operand> values, twins;  // twins: with signed elements
  };
  flatbuffers::Offset<fb::TosaRegion> finish_region();

  Region now_{"main", {}, {}, {}, {}, {}, {}, {}};
  std::vector<Region> outer_;
  std::vector<flatbuffers::Offset<fb::TosaRegion>> regions_;
  std::set<std::string> reserved_;
  std::string error_;
  bool rounds_ = false;
  int next_ = 0;
};

// Operators by family; false: not theirs.
bool lower_elementwise(Writer& w, const Node& n);
bool lower_moves(Writer& w, const Node& n);
bool lower_products(Writer& w, const Node& n);
bool lower_quantized(Writer& w, const Node& n);
bool lower_q_softmax(Writer& w, const Node& n);
bool lower_pools(Writer& w, const Node& n);
bool lower_functions(Writer& w, const Node& n);
bool lower_reductions(Writer& w, const Node& n);
bool lower_resize(Writer& w, const Node& n);
bool lower_transforms(Writer& w, const Node& n);

}  // namespace mote::emit::tosa
