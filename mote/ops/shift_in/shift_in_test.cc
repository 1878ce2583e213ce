#include "mote/ops/shift_in/shift_in.h"

#include "mote/ops/testing/harness.h"

namespace mote::optest {
namespace {

RunOptions in_place() {
  RunOptions o;
  o.in_place = true;
  return o;
}

}  // namespace

TEST(OpShiftIn, KeepsTheLastRowsOfBoth) {
  for (const DType type : types_of(AllTypes{})) {
    const Array state = Array::from(type, {4, 2}, {1, 0, 1, 1, 0, 1, 1, 1}), x = Array::from(type, {1, 2}, {0, 0});
    const auto r = run(OpId::shift_in, ops::shift_in::Attrs{}, {state, x}, in_place());
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {1, 1, 0, 1, 1, 1, 0, 0});
  }
}

TEST(OpShiftIn, TakesAnyNumberOfRows) {
  const Array state = Array::of<int16_t>({5}, {1, 2, 3, 4, 5});
  const auto shifted = [&](const std::vector<double>& x) {
    return run(OpId::shift_in, ops::shift_in::Attrs{}, {state, Array::of<int16_t>({static_cast<int32_t>(x.size())}, x)}, in_place())
        .outputs[0];
  };
  expect_values(shifted({}), {1, 2, 3, 4, 5});
  expect_values(shifted({6, 7}), {3, 4, 5, 6, 7});
  expect_values(shifted({6, 7, 8, 9, 10}), {6, 7, 8, 9, 10});
}

TEST(OpShiftIn, AlongAnyAxis) {
  const Array state = Array::of<int8_t>({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
              x = Array::of<int8_t>({2, 1, 2}, {20, 21, 22, 23});
  for (const int32_t axis : {1, -2}) {
    const auto r = run(OpId::shift_in, ops::shift_in::Attrs{axis}, {state, x}, in_place());
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {3, 4, 5, 6, 20, 21, 9, 10, 11, 12, 22, 23});
  }
  const auto r = run(OpId::shift_in, ops::shift_in::Attrs{2}, {state, Array::of<int8_t>({2, 3, 1}, {20, 21, 22, 23, 24, 25})}, in_place());
  expect_values(r.outputs[0], {2, 20, 4, 21, 6, 22, 8, 23, 10, 24, 12, 25});
}

TEST(OpShiftIn, EmptyAndHighRanks) {
  EXPECT_TRUE(run(OpId::shift_in, ops::shift_in::Attrs{}, {Array(DType::f32, {0, 3}), Array(DType::f32, {0, 3})}).ok());
  const Array state = Array::of<float>({2, 1, 1, 2, 1, 1, 1, 2}, {1, 2, 3, 4, NAN, INFINITY, 7, 8});
  const Array x = Array::of<float>({1, 1, 1, 2, 1, 1, 1, 2}, {9, 10, 11, 12});
  const auto r = run(OpId::shift_in, ops::shift_in::Attrs{}, {state, x}, in_place());
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, INFINITY, 7, 8, 9, 10, 11, 12});
}

TEST(OpShiftIn, RefusesWhatDoesNotFit) {
  const Array state(DType::s8, {3, 2});
  const auto why = [&](const Array& x) { return run(OpId::shift_in, ops::shift_in::Attrs{}, {state, x}).status.why(); };
  EXPECT_EQ(why(Array(DType::s8, {4, 2})), Why::kDimMismatch);
  EXPECT_EQ(why(Array(DType::s8, {1, 3})), Why::kDimMismatch);
  EXPECT_EQ(why(Array(DType::s8, {2})), Why::kRank);
  EXPECT_EQ(why(Array(DType::u8, {1, 2})), Why::kDTypeMismatch);
  EXPECT_EQ(run(OpId::shift_in, ops::shift_in::Attrs{2}, {state, Array(DType::s8, {1, 2})}).status.why(), Why::kAxis);
  EXPECT_EQ(run(OpId::shift_in, ops::shift_in::Attrs{}, {Array(DType::s8, {}), Array(DType::s8, {})}).status.why(), Why::kRank);
}

}  // namespace mote::optest
