#include "mote/ops/bitwise_or/bitwise_or.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpBitwiseOr, MatchesOracle) {
  check_binary(OpId::bitwise_or, NoAttrs{}, ops::bitwise_or::Types{},
               [](double a, double b) { return static_cast<double>(static_cast<int64_t>(a) | static_cast<int64_t>(b)); });
}

TEST(OpBitwiseOr, CombinesSignBits) {
  const auto r = run(OpId::bitwise_or, NoAttrs{}, {Array::of<int8_t>({3}, {-4, -1, -128}), Array::of<int8_t>({3}, {14, 0, -1})});
  expect_values(r.outputs[0], {-2, -1, -1});
}

TEST(OpBitwiseOr, RefusesOtherTypes) { check_binary_refusals(OpId::bitwise_or, NoAttrs{}, DType::s32, DType::u8, DType::f32); }

}  // namespace mote::optest
