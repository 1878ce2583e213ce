#include "mote/ops/quantize/quantize.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpQuantize, EveryTypeRoundsHalfToEven) {
  for (DType from : types_of(ops::quantize::Types{})) {
    for (DType to : {DType::s8, DType::u8, DType::s16, DType::u16, DType::s32}) {
      for (const Shape& shape : {Shape{}, Shape{0}, Shape{5}, Shape{2, 0, 3}, Shape{2, 3, 4}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
        const Array x = Array::random(from, shape, 3, -300, 300);
        const double zero = to == DType::u8 ? 100 : 7;
        const auto r = run(OpId::quantize, ops::quantize::Attrs{static_cast<uint32_t>(to), 0, 0, 0},
                           {x, Array::scalar(DType::f32, 0.5), Array::scalar(to, zero)});
        ASSERT_TRUE(r.ok()) << r.message();
        EXPECT_EQ(r.outputs[0].dtype(), to);
        expect_shape(r.outputs[0], shape);
        expect_oracle(r.outputs[0], [&](const Shape& i) { return saturated(std::nearbyint(x.at(i) / 0.5) + zero, to); });
      }
    }
  }
}

TEST(OpQuantize, TiesFollowTheRoundingAttribute) {
  const Array x = Array::of<float>({6}, {0.5, 1.5, 2.5, -0.5, -1.5, -2.5}), one = Array::scalar(DType::f32, 1);
  expect_values(run(OpId::quantize, ops::quantize::Attrs{}, {x, one}).outputs[0], {0, 2, 2, 0, -2, -2});
  expect_values(run(OpId::quantize, ops::quantize::Attrs{5, 0, 0, 1}, {x, one}).outputs[0], {1, 2, 3, -1, -2, -3});
}

TEST(OpQuantize, InfinitySaturatesAndNanGivesTheZeroPoint) {
  const Array scale = Array::scalar(DType::f32, 1), zero = Array::scalar(DType::u8, 9);
  for (DType type : types_of(ops::quantize::Types{})) {
    const auto r = run(OpId::quantize, ops::quantize::Attrs{static_cast<uint32_t>(DType::u8), 0, 0, 0},
                       {Array::from(type, {3}, {INFINITY, -INFINITY, NAN}), scale, zero});
    expect_values(r.outputs[0], {255, 0, 9});
  }
  const auto r = run(OpId::quantize, ops::quantize::Attrs{static_cast<uint32_t>(DType::s32), 0, 0, 0},
                     {Array::of<float>({3}, {1e20, -1e20, 5}), scale});
  expect_values(r.outputs[0], {2147483647, -2147483648.0, 5});
}

TEST(OpQuantize, ScalesRunAlongAnAxisOrInBlocks) {
  const Array x = Array::random(DType::f32, {2, 6, 3}, 5, -9, 9);
  const Array scale = Array::random(DType::f32, {6}, 6, 0.1, 1), zero = Array::random(DType::s8, {6}, 7, -9, 9);
  auto r = run(OpId::quantize, ops::quantize::Attrs{5, -2, 0, 0}, {x, scale, zero});
  expect_oracle(r.outputs[0], [&](const Shape& i) {
    const float q = static_cast<float>(x.at(i)) / static_cast<float>(scale.get(i[1]));
    return saturated(std::nearbyint(q) + zero.get(i[1]), DType::s8);
  });
  const Array blocks = Array::random(DType::f32, {2, 2, 3}, 8, 0.1, 1), zeros = Array::random(DType::s8, {2, 2, 3}, 9, -9, 9);
  r = run(OpId::quantize, ops::quantize::Attrs{5, 1, 4, 0}, {x, blocks, zeros});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_oracle(r.outputs[0], [&](const Shape& i) {
    const float q = static_cast<float>(x.at(i)) / static_cast<float>(blocks.at({i[0], i[1] / 4, i[2]}));
    return saturated(std::nearbyint(q) + zeros.at({i[0], i[1] / 4, i[2]}), DType::s8);
  });
}

TEST(OpQuantize, ComputesARangeOfRows) {
  const Array x = Array::random(DType::f32, {2, 4, 3}, 5, -9, 9), one = Array::scalar(DType::f32, 1);
  check_row_range(OpId::quantize, ops::quantize::Attrs{}, {x, one});
}

TEST(OpQuantize, RefusesWhatDoesNotFit) {
  const Array x = Array::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), one = Array::scalar(DType::f32, 1);
  const auto why = [](const ops::quantize::Attrs& a, const std::vector<Array>& in) { return run(OpId::quantize, a, in).status.why(); };
  EXPECT_EQ(why({99, 0, 0, 0}, {x, one}), Why::kDType);
  EXPECT_EQ(why({5, 0, 0, 2}, {x, one}), Why::kAttribute);
  EXPECT_EQ(why({5, 0, -1, 0}, {x, one}), Why::kAttribute);
  EXPECT_EQ(why({5, 2, 0, 0}, {x, one}), Why::kAxis);
  EXPECT_EQ(why({5, 0, 0, 0}, {x, real_vector({1, 1, 1})}), Why::kDimMismatch);
  EXPECT_EQ(why({5, 0, 0, 0}, {x, Array::of<float>({1, 1}, {1})}), Why::kRank);
  EXPECT_EQ(why({5, 0, 2, 0}, {x, real_vector({1, 1})}), Why::kRank);
  EXPECT_EQ(why({5, 0, 2, 0}, {x, Array::of<float>({2, 3}, {1, 1, 1, 1, 1, 1})}), Why::kDimMismatch);
  EXPECT_EQ(why({5, 0, 0, 0}, {x, Array::scalar(DType::f64, 1)}), Why::kDType);
  EXPECT_EQ(why({5, 0, 0, 0}, {x, one, Array::scalar(DType::u8, 1)}), Why::kDType);
  EXPECT_EQ(why({5, 0, 0, 0}, {x, one, Array::of<int8_t>({1}, {1})}), Why::kDimMismatch);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQuantize, AgreesWithTflite) {
  const auto r = run(OpId::quantize, ops::quantize::Attrs{static_cast<uint32_t>(DType::s8), 0, 0, 1},
                     {Array::of<float>({9}, {0.5, 1.5, -0.5, -1.5, 2.490000009536743, -2.509999990463257, 100.0, -100.0, 6.25}),
                      Array::of<float>({}, {1}), Array::of<int8_t>({}, {2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {3, 4, 1, 0, 4, -1, 102, -98, 8});
}

}  // namespace mote::optest
