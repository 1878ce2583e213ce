#include "mote/ops/logical_xor/logical_xor.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpLogicalXor, MatchesOracle) {
  check_binary(OpId::logical_xor, NoAttrs{}, ops::logical_xor::Types{}, [](double a, double b) { return a + b - 2 * a * b; });
}

TEST(OpLogicalXor, RefusesOtherTypes) { check_binary_refusals(OpId::logical_xor, NoAttrs{}, DType::boolean, DType::kNone, DType::u8); }

}  // namespace mote::optest
