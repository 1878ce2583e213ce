#include "mote/ops/bitwise_and/bitwise_and.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpBitwiseAnd, MatchesOracle) {
  check_binary(OpId::bitwise_and, NoAttrs{}, ops::bitwise_and::Types{},
               [](double a, double b) { return static_cast<double>(static_cast<int64_t>(a) & static_cast<int64_t>(b)); });
}

TEST(OpBitwiseAnd, CombinesSignBits) {
  const auto r = run(OpId::bitwise_and, NoAttrs{}, {Array::of<int8_t>({3}, {-4, -1, -128}), Array::of<int8_t>({3}, {14, 0, -1})});
  expect_values(r.outputs[0], {0x0c, 0, -128});
}

TEST(OpBitwiseAnd, RefusesOtherTypes) { check_binary_refusals(OpId::bitwise_and, NoAttrs{}, DType::s32, DType::u8, DType::f32); }

}  // namespace mote::optest
