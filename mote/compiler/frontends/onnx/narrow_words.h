#pragma once

// What importers write for values of narrow types (narrow.h): lookups for floats, integer arithmetic for integers. Nothing of it needs an
// operator of its own, and every result is exact. All functions pass null on after an error.

#include "mote/compiler/frontends/onnx/decompose.h"
#include "mote/compiler/frontends/onnx/narrow.h"

namespace mote::frontends::onnx {

// A constant of the model as codes of one byte. A large one stays in the program as the file has it, several codes to a byte, and nodes
// in front of its users spread it.
Value* spread_codes(Words& w, Value* constant, const NarrowType& type);

// The numbers that codes stand for: f32 of floats, the codes themselves of integers.
Value* numbers_of(Words& w, Value* codes, const NarrowType& type);
// Codes of numbers of any type. Integers wrap, as between the wider integer types.
Value* codes_of(Words& w, Value* numbers, const NarrowType& type, const EncodeRule& rule);
// Codes of one type of floats as those of another.
Value* recode(Words& w, Value* codes, const NarrowType& from, const NarrowType& to, const EncodeRule& rule);

// The narrow type of operand i; null where it has a DType of its own.
const NarrowType* narrow_operand(const NodeContext& c, int i);
// What the node's attributes saturate and round_mode say. False after fail().
bool read_rule(NodeContext& c, EncodeRule* out);

// Before the importer of `key` runs: spreads constants of 4 bits that it wants as codes, and refuses what cannot be done with codes.
// *carried: the type that the outputs of an operator which only moves elements have, or 0.
void prepare_narrow(NodeContext& c, const std::string& key, int* carried);

// Cast to a narrow type, or to `type` where `narrow` is null.
void cast_narrow(NodeContext& c, const NarrowType* narrow, DType type);

}  // namespace mote::frontends::onnx
