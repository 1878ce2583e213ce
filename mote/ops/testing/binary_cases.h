#pragma once

// For tests: what every binary operator refuses.

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

// `other` is another type that the operator takes (kNone: there is none), `refused` one that it does not.
template <class A>
void check_binary_refusals(OpId op, const A& attrs, DType taken, DType other, DType refused) {
  const Array x(taken, {2});
  auto why = [&](const Array& a, const Array& b) { return run(op, attrs, {a, b}).status.why(); };
  EXPECT_EQ(why(x, Array(refused, {2})), Why::kDType);
  EXPECT_EQ(why(Array(refused, {2}), x), Why::kDType);
  EXPECT_EQ(why(x, Array::none()), Why::kInputMissing);
  if (other == DType::kNone) return;
  EXPECT_EQ(why(x, Array(other, {2})), Why::kDTypeMismatch);
}

}  // namespace mote::optest
