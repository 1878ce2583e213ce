#include "mote/ops/q_concat/q_concat.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpQConcat, EveryTypeAxisAndMode) {
  for (DType type : types_of(ops::q_concat::Types{})) {
    for (int axis = -3; axis < 3; ++axis) {
      for (const uint32_t mode : {0u, 1u}) {
        Shape s[3] = {{2, 3, 4}, {2, 3, 4}, {2, 3, 4}};
        const size_t at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
        s[1][at] = 1, s[2][at] = 0;
        const Array x[3] = {full_range(type, s[0], 1), full_range(type, s[1], 2), full_range(type, s[2], 3)};
        const double scale[3] = {0.5, 0.7, 1};
        const int32_t zero = some_zero(type);
        const auto r = run(OpId::q_concat, ops::q_concat::Attrs{axis, 0.5f, zero, mode},
                           {real_vector({0.5, 0.7, 1}), int_vector({double(zero), 3, 0}), x[0], x[1], x[2]});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_oracle(r.outputs[0], [&](Shape i) {
          const int part = i[at] < s[0][at] ? 0 : 1;
          if (part == 0) return x[0].at(i);
          i[at] -= s[0][at];
          const float v = static_cast<float>(x[1].at(i) - 3) * static_cast<float>(scale[1]) / 0.5f;
          return saturated((mode == 0 ? std::nearbyint(v) : std::round(v)) + zero, type);
        });
      }
    }
  }
}

TEST(OpQConcat, SpecialScalesAreSafe) {
  const Array x = full_range(DType::s8, {2}, 1);
  EXPECT_TRUE(
      run(OpId::q_concat, ops::q_concat::Attrs{0, 0, 0, 0}, {real_vector({NAN, INFINITY}), int_vector({0, -2147483648.0}), x, x}).ok());
}

TEST(OpQConcat, RefusesWhatDoesNotFit) {
  const Array x = full_range(DType::s8, {2, 3}, 1), s = real_vector({1, 1}), z = int_vector({0, 0});
  const auto why = [](const ops::q_concat::Attrs& a, const std::vector<Array>& in) { return run(OpId::q_concat, a, in).status.why(); };
  EXPECT_EQ(why({}, {real_vector({1}), z, x, x}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {z, z, x, x}), Why::kDType);
  EXPECT_EQ(why({}, {s, z, x, full_range(DType::u8, {2, 3}, 1)}), Why::kDTypeMismatch);
  EXPECT_EQ(why({}, {s, z, x, full_range(DType::s8, {2, 4}, 1)}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {s, z, x, full_range(DType::s8, {2}, 1)}), Why::kRank);
  EXPECT_EQ(why({}, {s, z, Array(DType::s8, {}), Array(DType::s8, {})}), Why::kRank);
  EXPECT_EQ(why({2, 1, 0, 0}, {s, z, x, x}), Why::kAxis);
  EXPECT_EQ(why({0, 1, 0, 2}, {s, z, x, x}), Why::kAttribute);
  EXPECT_EQ(why({0, 1, 128, 0}, {s, z, x, x}), Why::kAttribute);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQConcat, AgreesWithTfliteUint8) {
  const auto r = run(OpId::q_concat, ops::q_concat::Attrs{1, 0.09f, 100, 1},
                     {Array::of<float>({2}, {0.1f, 0.07f}), Array::of<int32_t>({2}, {5, 128}),
                      Array::of<uint8_t>({2, 2}, {55, 242, 33, 156}), Array::of<uint8_t>({2, 3}, {118, 57, 91, 104, 150, 187})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {156, 255, 92, 45, 71, 131, 255, 81, 117, 146});
}

TEST(OpQConcat, RankEight) {
  const Array s = real_vector({0.5, 0.7}), z = int_vector({1, 3}), x = full_range(DType::s8, {2, 3}, 1),
              y = full_range(DType::s8, {2, 4}, 2);
  expect_same_elements(OpId::q_concat, ops::q_concat::Attrs{1, 0.6f, 2, 0}, {s, z, x, y}, ops::q_concat::Attrs{-2, 0.6f, 2, 0},
                       {s, z, x.reshaped({1, 2, 1, 1, 1, 1, 3, 1}), y.reshaped({1, 2, 1, 1, 1, 1, 4, 1})});
}

}  // namespace mote::optest
