#pragma once

// What the importers of several families share.

#include <initializer_list>

#include "mote/compiler/frontends/onnx/decompose.h"

namespace mote::frontends::onnx {

// Adds a family's lines; `domain` is put in front of their names ("com.microsoft").
void add_lines(OpTable& table, std::initializer_list<OpImporter> lines, const std::string& domain = "");

// An operator without attributes: all inputs as they are, one output.
template <OpId id, int inputs>
void import_plain(NodeContext& c) {
  std::vector<Value*> in;
  for (int i = 0; i < inputs; ++i) in.push_back(c.in(i));
  c.out(0, c.b.op(id, in));
}

// An axis counted from 0; false after fail() when there is none.
bool to_axis(NodeContext& c, int64_t axis, int rank, int* out);
bool to_axes(NodeContext& c, const std::vector<int64_t>& axes, int rank, std::vector<int>* out);

// Copies into an attribute's list of 8, clamped to 32 bits; false after fail() when there are more.
bool to_list(NodeContext& c, const std::vector<int64_t>& from, int32_t (&to)[8]);
int32_t to_s32(int64_t v);

// Integers of an input when they are known; also when there are none of them.
bool known_list(const Value* v, std::vector<int64_t>* out);

// x with a shape that another value holds; 0 means 0.
Value* reshape_by(NodeContext& c, Value* x, Value* shape);
// Some sizes of x as a vector of s64.
Value* sizes_of(NodeContext& c, Value* x, const std::vector<int64_t>& axes);

// An attribute for import_as.
::onnx::AttributeProto make_attr(const std::string& name, int64_t value);
::onnx::AttributeProto make_attr(const std::string& name, float value);
::onnx::AttributeProto make_attr(const std::string& name, const std::string& value);

// What the importer of an operator of ONNX itself (its newest form) makes of these inputs and of this node's attributes, of which
// `changed` go first. As many values as it gives, of those outputs that this node's names at the same place are read. Empty after an error.
std::vector<Value*> import_as(NodeContext& c, const std::string& op, const std::vector<Value*>& inputs,
                              const std::vector<::onnx::AttributeProto>& changed = {});
// The first of them.
Value* import_one_as(NodeContext& c, const std::string& op, const std::vector<Value*>& inputs,
                     const std::vector<::onnx::AttributeProto>& changed = {});

// Two operands, broadcast.
inline Value* binary(NodeContext& c, OpId id, Value* a, Value* b) { return a == nullptr || b == nullptr ? nullptr : c.b.op(id, {a, b}); }

}  // namespace mote::frontends::onnx
