#pragma once

// Arithmetic read as formulas, so that one pattern fits the many ways exporters write it.

#include "mote/compiler/passes/rewrite.h"

namespace mote::passes {

// c * f0 * f1 * ...: what multiplications, divisions by numbers, squares and whole powers of a float tensor come to.
struct Product {
  double c = 1;
  std::vector<Value*> factors;

  bool is(double wanted) const;                      // c, within rounding
  bool has(double wanted, const Value* only) const;  // c * only
  // The factor beside x when there are exactly these two; null otherwise.
  Value* beside(const Value* x) const;
};
// Looks through nodes that only serve this one. `v` itself may have other uses.
Product product_of(Value* v);

// a + c with a number c, written as add or sub; in any order.
struct Shifted {
  Value* x = nullptr;
  double c = 0;
};
std::optional<Shifted> shifted(const Value* v);

bool near(double a, double b);

// The operand of a node of this kind that makes v; null when v is made by another.
inline Value* operand_of(const Value* v, OpId id) {
  const Node* n = made_by(v, id);
  return n != nullptr && reads_no_state(*n) ? n->inputs[0] : nullptr;
}

// Names of what a pattern took up, from the nodes between a result and its inputs, in the order they stood.
std::string names_between(const Node& last, const std::vector<const Value*>& inputs);

}  // namespace mote::passes
