#include "mote/ops/dequantize/dequantize.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpDequantize, EveryTypeAndShape) {
  for (DType from : types_of(ops::dequantize::Types{})) {
    for (DType to : {DType::f32, DType::f16, DType::bf16}) {
      for (const Shape& shape : {Shape{}, Shape{0}, Shape{5}, Shape{2, 0, 3}, Shape{2, 3, 5}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
        const double lo = from == DType::s4   ? -8
                          : from == DType::s8 ? -128
                                              : -1000,
                     hi = from == DType::s4   ? 7
                          : from == DType::u4 ? 15
                          : from == DType::s8 ? 127
                                              : 255;
        const Array x = Array::random(from, shape, 3, lo, hi);
        const auto r = run(OpId::dequantize, ops::dequantize::Attrs{static_cast<uint32_t>(to), 0, 0},
                           {x, Array::scalar(DType::f32, 0.25), Array::scalar(from, 3)});
        ASSERT_TRUE(r.ok()) << r.message();
        EXPECT_EQ(r.outputs[0].dtype(), to);
        expect_oracle(r.outputs[0], [&](const Shape& i) { return (x.at(i) - 3) * 0.25; });
      }
    }
  }
}

TEST(OpDequantize, ScalesRunAlongAnAxisOrInBlocks) {
  for (DType from : {DType::s8, DType::s4, DType::u4}) {
    const Array x = Array::random(from, {2, 6, 3}, 5, -8, 7);
    const Array scale = Array::random(DType::f32, {6}, 6, 0.1, 1), zero = Array::random(from, {6}, 7, -4, 4);
    auto r = run(OpId::dequantize, ops::dequantize::Attrs{1, 1, 0}, {x, scale, zero});
    expect_oracle(r.outputs[0], [&](const Shape& i) { return (x.at(i) - zero.get(i[1])) * scale.get(i[1]); });
    const Array blocks = Array::random(DType::f32, {2, 2, 3}, 8, 0.1, 1), zeros = Array::random(from, {2, 2, 3}, 9, -4, 4);
    r = run(OpId::dequantize, ops::dequantize::Attrs{1, 1, 4}, {x, blocks, zeros});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_oracle(r.outputs[0], [&](const Shape& i) {
      return (x.at(i) - zeros.at({i[0], i[1] / 4, i[2]})) * blocks.at({i[0], i[1] / 4, i[2]});
    });
  }
}

TEST(OpDequantize, TakesExtremeIntegersAndNoZeroPoint) {
  const auto r =
      run(OpId::dequantize, ops::dequantize::Attrs{}, {Array::of<int32_t>({2}, {-2147483648.0, 2147483647}), Array::scalar(DType::f32, 2)});
  expect_values(r.outputs[0], {-4294967296.0, 4294967296.0});
  const auto s = run(OpId::dequantize, ops::dequantize::Attrs{},
                     {Array::of<int32_t>({1}, {-2147483648.0}), Array::scalar(DType::f32, 1), Array::scalar(DType::s32, 2147483647)});
  expect_values(s.outputs[0], {-4294967295.0});
}

TEST(OpDequantize, RefusesWhatDoesNotFit) {
  const Array x = Array::of<int8_t>({2, 3}, {1, 2, 3, 4, 5, 6}), one = Array::scalar(DType::f32, 1);
  const auto why = [](const ops::dequantize::Attrs& a, const std::vector<Array>& in) { return run(OpId::dequantize, a, in).status.why(); };
  EXPECT_EQ(why({5, 0, 0}, {x, one}), Why::kDType);
  EXPECT_EQ(why({1, 0, -1}, {x, one}), Why::kAttribute);
  EXPECT_EQ(why({1, 2, 0}, {x, one}), Why::kAxis);
  EXPECT_EQ(why({1, 0, 0}, {x, real_vector({1, 1, 1})}), Why::kDimMismatch);
  EXPECT_EQ(why({1, 0, 0}, {x, one, Array::scalar(DType::u8, 1)}), Why::kDType);
  EXPECT_EQ(why({1, 0, 0}, {x, one, Array::of<int8_t>({1}, {1})}), Why::kDimMismatch);
  EXPECT_EQ(why({1, 0, 0}, {one, one}), Why::kDType);
}

}  // namespace mote::optest
