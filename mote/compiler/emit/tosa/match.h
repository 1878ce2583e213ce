#pragma once

// Groups of nodes that are one operator in TOSA: arithmetic in 64 bits, which TOSA has only inside of operators, as the TOSA front end
// writes it, and tables of 8 bits.

#include "mote/compiler/emit/tosa/writer.h"

namespace mote::emit::tosa {

// The values that the group behind `root` reads; empty: root is no such group.
std::vector<const Value*> matched_operands(const Node& root);
// Writes it. Only where matched_operands() has some.
void lower_matched(Writer& w, const Node& root);

// products.cc: sums of 48 bits of a q_conv or q_conv_transpose over INT16, with this bias.
Operand wide_sums(Writer& w, const Node& product, const Value* bias);
// The same of a matrix product of INT16.
Operand wide_product(Writer& w, const Node& product, const Value* x, const Value* y);

}  // namespace mote::emit::tosa
