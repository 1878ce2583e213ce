#pragma once

// The graph as text, one line for each node:
//   %12: f32[1,56,56,64] = conv(%11, @w, @b) {strides=[2,2], pads_begin=[1,1]} "/features/0/Conv"
// Values are numbered in the order they are printed, so equal graphs have equal texts. Constants (@name) and states ($name) stand in
// front of the methods, constants of few elements in their operand: f32[2]{0.5, 1}. `?8` is a dynamic size with its bound, `_` an absent
// operand. Attributes with their default values are left out. print(parse(print(g))) == print(g) when bytes are printed.

#include <string>

#include "mote/compiler/ir/graph.h"

namespace mote::ir {

struct TextOptions {
  size_t inline_elements = 8;  // constants of at most this many elements stand in their operand
  bool bytes = true;           // false: `<1024 bytes 0123456789abcdef>`, size and digest; such a text cannot be parsed
};
std::string print(const Graph& graph, const TextOptions& options = {});
// One node, without its blocks' contents; values have their ids as numbers. For messages.
std::string print(const Node& node);
std::string print(const Type& type);

// Fills `graph`, which is empty before. Types of results may be left out; where given they must be what infer() finds. A constant's
// bytes are given as `hex"..."`, as elements in braces, or as `seed 7`: reproducible small pseudo-random numbers, for tests.
// False with *error, which has the line.
bool parse(const std::string& text, Graph& graph, std::string* error);

// The operator's name, or that of a control node; "?" for an unknown one.
std::string op_name(uint16_t op);

}  // namespace mote::ir
