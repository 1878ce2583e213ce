#include "mote/ops/bitwise_xor/bitwise_xor.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpBitwiseXor, MatchesOracle) {
  check_binary(OpId::bitwise_xor, NoAttrs{}, ops::bitwise_xor::Types{},
               [](double a, double b) { return static_cast<double>(static_cast<int64_t>(a) ^ static_cast<int64_t>(b)); });
}

TEST(OpBitwiseXor, CombinesSignBits) {
  const auto r = run(OpId::bitwise_xor, NoAttrs{}, {Array::of<int8_t>({3}, {-4, -1, -128}), Array::of<int8_t>({3}, {14, 0, -1})});
  expect_values(r.outputs[0], {-14, -1, 127});
}

TEST(OpBitwiseXor, RefusesOtherTypes) { check_binary_refusals(OpId::bitwise_xor, NoAttrs{}, DType::s32, DType::u8, DType::f32); }

}  // namespace mote::optest
