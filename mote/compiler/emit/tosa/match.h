#pragma once

// Groups of nodes that are one operator in TOSA: arithmetic in 64 bits, which TOSA has only inside of operators, as the TOSA front end
// writes it, and tables of 8 bits.

#include "mote/compiler/emit/tosa/writer.h"

namespace mote::emit::tosa {

// The values that the group behind `root` reads; empty: root is no such group.
std::vector<const Value*> matched_operands(const Node& root);
// Writes it. Only where matched_operands() has some.
void lower_matched(Writer& w, const Node& root);

// A convolution of INT16 into sums of 48 bits, as the front end writes it: a q_conv, a q_conv_transpose whose result is padded, or a conv
// of doubles where there are too many products for 32 bits.
struct WideSums {
  const Node* product = nullptr;
  const Value *x = nullptr, *weights = nullptr, *bias = nullptr;
  double x_zero = 0, w_zero = 0;
  std::vector<int32_t> before{0, 0, 0}, behind{0, 0, 0};  // added to each spatial dimension of the result
  const Node* pad = nullptr;
};
// products.cc.
Operand wide_sums(Writer& w, const WideSums& s);
// The same of a matrix product of INT16.
Operand wide_product(Writer& w, const Node& product, const Value* x, const Value* y);

// transforms.cc: the first of two Fourier transforms that are one of images; null where `second` is no such one. The whole of it.
const Node* inner_transform(const Node& second);
Operand image_transform(Writer& w, const Node& first);

}  // namespace mote::emit::tosa
