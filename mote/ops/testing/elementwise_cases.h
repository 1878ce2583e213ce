#pragma once

// Cases that every element-wise operator must pass: each type, scalars, empty and rank-8 tensors, views, special values, broadcasting.

#include "mote/ops/testing/harness.h"

namespace mote::optest {

struct ElementwiseOptions {
  double lo = -4, hi = 4;    // range of random inputs (operand 0)
  double lo2 = -4, hi2 = 4;  // operand 1
  double scale = 1;          // widens the tolerance
  bool specials = true;      // NaN and infinities for float types; the oracle must say what they give
  bool in_place = true;      // false where input and output differ in width
};

void check_unary_bytes(OpId op, const void* attrs, size_t attrs_bytes, const std::vector<DType>& types,
                       const std::function<double(double)>& oracle, const ElementwiseOptions& options);
void check_binary_bytes(OpId op, const void* attrs, size_t attrs_bytes, const std::vector<DType>& types,
                        const std::function<double(double, double)>& oracle, const ElementwiseOptions& options);

template <class A, class List>
void check_unary(OpId op, const A& attrs, List types, const std::function<double(double)>& oracle, const ElementwiseOptions& options = {}) {
  check_unary_bytes(op, &attrs, attrs_size<A>, types_of(types), oracle, options);
}
template <class A, class List>
void check_binary(OpId op, const A& attrs, List types, const std::function<double(double, double)>& oracle,
                  const ElementwiseOptions& options = {}) {
  check_binary_bytes(op, &attrs, attrs_size<A>, types_of(types), oracle, options);
}

}  // namespace mote::optest
