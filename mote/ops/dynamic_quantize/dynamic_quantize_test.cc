#include "mote/ops/dynamic_quantize/dynamic_quantize.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpDynamicQuantize, OnnxMode) {
  // The example of the ONNX specification.
  auto r = run(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{}, {Array::of<float>({6}, {0, 2, -3, -2.5, 1.34, 0.5})}, 3);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {153, 255, 0, 26, 221, 179});
  expect_values(r.outputs[1], {0.019607844});
  expect_values(r.outputs[2], {153});
  expect_shape(r.outputs[1], {});
  r = run(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{}, {Array::of<float>({2, 1}, {0, 0})}, 3);
  expect_values(r.outputs[0], {0, 0});
  expect_values(r.outputs[1], {1});
  for (const Shape& shape : {Shape{}, Shape{0, 2}, Shape{2, 3, 4}}) {
    const Array x = Array::random(DType::f32, shape, 4, 1, 7);
    r = run(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{}, {x}, 3);
    ASSERT_TRUE(r.ok()) << r.message();
    expect_oracle(r.outputs[0], [&](const Shape& i) {
      return saturated(std::nearbyint(static_cast<float>(x.at(i)) / static_cast<float>(r.outputs[1].get(0))) + r.outputs[2].get(0),
                       DType::u8);
    });
  }
}

TEST(OpDynamicQuantize, RowsHaveTheirOwnScale) {
  const Array x = Array::random(DType::f32, {2, 3, 4}, 4, -5, 9);
  for (const uint32_t mode : {1u, 2u}) {
    for (const int axis : {0, 1, -1}) {
      const auto r = run(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{mode, axis}, {x}, 3);
      ASSERT_TRUE(r.ok()) << r.message();
      const int rows = axis == 0 ? 1 : axis == 1 ? 2 : 6;
      expect_shape(r.outputs[1], {rows});
      expect_shape(r.outputs[2], {rows});
      for (int64_t i = 0; i < 24; ++i) {
        const int64_t row = i / (24 / rows);
        const double scale = r.outputs[1].get(row), zero = r.outputs[2].get(row);
        EXPECT_TRUE(mode != 1 || zero == 0);
        EXPECT_LE(std::fabs((r.outputs[0].get(i) - zero) * scale - x.get(i)), scale * 0.51) << mode << " " << i;
        EXPECT_GE(r.outputs[0].get(i), mode == 1 ? -127 : -128);
      }
    }
  }
}

TEST(OpDynamicQuantize, SpecialValuesAreSafe) {
  for (const uint32_t mode : {0u, 1u, 2u}) {
    EXPECT_TRUE(
        run(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{mode, 0}, {Array::of<float>({4}, {NAN, INFINITY, -INFINITY, 1})}, 3).ok());
    EXPECT_TRUE(run(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{mode, 0}, {Array::of<float>({2}, {1e-45, -1e-45})}, 3).ok());
    const auto r = run(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{mode, 0}, {Array::of<float>({2}, {0, 0})}, 3);
    expect_values(r.outputs[0], {0, 0});
    expect_values(r.outputs[1], {1});
  }
}

TEST(OpDynamicQuantize, RefusesBadAttributes) {
  const Array x = Array::of<float>({2}, {1, 2});
  EXPECT_EQ(run(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{3, 0}, {x}, 3).status.why(), Why::kAttribute);
  EXPECT_EQ(run(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{1, 1}, {x}, 3).status.why(), Why::kAxis);
  EXPECT_EQ(run(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{}, {Array::of<double>({1}, {1})}, 3).status.why(), Why::kDType);
}

TEST(OpDynamicQuantize, SymmetricRowsAsInTflite) {
  const auto r =
      run(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{1, 1},
          {Array::of<float>({2, 5}, {1.5149729251861572, -1.2465931177139282, 0.8617230653762817, 0.4939320683479309, 0.8736191391944885,
                                     1.8790082931518555, 1.4844454526901245, -1.145176887512207, -1.688671588897705, 0.8168890476226807})},
          3);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {127, -105, 72, 41, 73, 127, 100, -77, -114, 55});
  expect_values(r.outputs[1], {0.0119289206340909, 0.014795340597629547}, 0);
  expect_values(r.outputs[2], {0, 0});
}

TEST(OpDynamicQuantize, AsymmetricRowsAsInTflite) {
  const auto r = run(
      OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{2, 1},
      {Array::of<float>({2, 5}, {-0.16665485501289368, -0.9717087149620056, -1.6434813737869263, 0.5056810975074768, -0.06139862909913063,
                                 0.4065285325050354, -0.9892949461936951, -0.658058762550354, -0.9990430474281311, -0.8866418600082397})},
      3);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {47, -48, -128, 127, 60, 127, -126, -66, -128, -108});
  expect_values(r.outputs[1], {0.008428088389337063, 0.005512045230716467}, 0);
  expect_values(r.outputs[2], {67, 53});
}

TEST(OpDynamicQuantize, RankEight) {
  const Array x = Array::random(DType::f32, {2, 3, 4}, 1);
  RunOptions all;
  all.outputs = 3;
  expect_same_elements(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{2, 1}, {x}, ops::dynamic_quantize::Attrs{2, 3},
                       {x.reshaped({1, 2, 1, 3, 1, 4, 1, 1})}, all, all);
}

}  // namespace mote::optest
