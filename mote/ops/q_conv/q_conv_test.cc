#include "mote/ops/q_conv/q_conv.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

namespace q_conv_case {
namespace {

// The sum under the window of output position i, without bias.
double sum_of(const Array& x, const Array& w, const ops::q_conv::Attrs& a, const Shape& i, double xz, double wz) {
  double s = 0;
  const int cg = w.shape()[3], og = w.shape()[0] / a.groups;
  for (int h = 0; h < w.shape()[1]; ++h) {
    for (int v = 0; v < w.shape()[2]; ++v) {
      const int y = i[1] * a.strides[0] + h * a.dilations[0] - a.pads_begin[0],
                z = i[2] * a.strides[1] + v * a.dilations[1] - a.pads_begin[1];
      if (y < 0 || z < 0 || y >= x.shape()[1] || z >= x.shape()[2]) continue;
      for (int c = 0; c < cg; ++c) s += (x.at({i[0], y, z, i[3] / og * cg + c}) - xz) * (w.at({i[3], h, v, c}) - wz);
    }
  }
  return s;
}

}  // namespace
}  // namespace q_conv_case

TEST(OpQConv, EveryTypeGroupAndArithmetic) {
  const FixedFactor f = fixed_factor(0.0021);
  for (DType xt : types_of(ops::q_conv::Types{})) {
    for (DType wt : {DType::s8, DType::u8, DType::s4}) {
      for (int groups : {1, 2, 4}) {
        const Array x = full_range(xt, {2, 5, 4, 4}, 1), w = full_range(wt, {8, 3, 2, 4 / groups}, 2),
                    bias = Array::random(DType::s32, {8}, 3, -900, 900);
        ops::q_conv::Attrs a;
        a.strides[0] = 2;
        a.dilations[1] = 2;
        a.pads_begin[0] = a.pads_end[1] = 1;
        a.groups = groups;
        a.input_zero = some_zero(xt);
        a.weight_zero = wt == DType::s4 ? 0 : some_zero(wt);
        a.output_zero = some_zero(xt);
        const auto sum = [&](const Shape& i) { return q_conv_case::sum_of(x, w, a, i, a.input_zero, a.weight_zero) + bias.get(i[3]); };
        auto r = run(OpId::q_conv, a, {x, w, bias, real_vector({0.003})});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], {2, 2, 3, 8});
        expect_oracle(r.outputs[0],
                      [&](const Shape& i) { return saturated(std::nearbyint(static_cast<float>(sum(i)) * 0.003f) + a.output_zero, xt); });
        if (xt == DType::s16) continue;
        r = run(OpId::q_conv, a, {x, w, bias, int_vector({double(f.multiplier)}), int_vector({double(f.shift)})});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_oracle(r.outputs[0], [&](const Shape& i) { return saturated(tflite_scaled(sum(i), f) + a.output_zero, xt); });
      }
    }
  }
}

TEST(OpQConv, OneAndThreeDimensionsPackedWeightsAndPlainSums) {
  for (const bool three : {false, true}) {
    const Array x = full_range(DType::s8, three ? Shape{1, 2, 3, 2, 3} : Shape{1, 6, 3}, 1),
                w = full_range(DType::s8, three ? Shape{17, 2, 1, 2, 3} : Shape{17, 2, 3}, 2);
    ops::q_conv::Attrs a;
    a.to = static_cast<uint32_t>(DType::s32);
    const auto plain = run(OpId::q_conv, a, {x, w}), packed = run(OpId::q_conv, a, {x, w.packed(Layout::kPanel16k4)});
    ASSERT_TRUE(packed.ok()) << packed.message();
    EXPECT_EQ(plain.outputs[0].bytes(), packed.outputs[0].bytes());
    double s = 0;
    for (int k = 0; k < (three ? 0 : 6); ++k) s += x.get(k) * w.get(k);
    if (three) continue;
    EXPECT_EQ(plain.outputs[0].get(0), s);
  }
}

TEST(OpQConv, FloatResultsAndZeroPointsPerBatchAndChannel) {
  const Array x = full_range(DType::u8, {2, 3, 3, 2}, 1), w = full_range(DType::u8, {3, 2, 2, 2}, 2);
  ops::q_conv::Attrs a;
  a.to = static_cast<uint32_t>(DType::f32);
  a.pads_begin[0] = 1;
  const auto r = run(OpId::q_conv, a,
                     {x, w, real_vector({1, 2, 3}), real_vector({0.5}), Array::none(), int_vector({7, 200}),
                      Array::of<uint8_t>({3}, {1, 128, 255}), real_vector({0.1, 0.2})});
  ASSERT_TRUE(r.ok()) << r.message();
  const double wz[] = {1, 128, 255};
  expect_oracle(
      r.outputs[0],
      [&](const Shape& i) {
        return q_conv_case::sum_of(x, w, a, i, i[0] == 0 ? 7 : 200, wz[i[3]]) * 0.5 * (i[0] == 0 ? 0.1f : 0.2f) + i[3] + 1;
      },
      4);
}

TEST(OpQConv, ComputesARangeOfRows) {
  const Array x = full_range(DType::s8, {1, 6, 3, 2}, 1), w = full_range(DType::s8, {3, 3, 1, 2}, 2);
  ops::q_conv::Attrs a;
  a.to = static_cast<uint32_t>(DType::s32);
  check_row_range(OpId::q_conv, a, {x, w});
}

TEST(OpQConv, EmptyTensors) {
  ops::q_conv::Attrs a;
  a.to = static_cast<uint32_t>(DType::s32);
  EXPECT_TRUE(run(OpId::q_conv, a, {Array(DType::s8, {0, 3, 3, 2}), Array(DType::s8, {4, 2, 2, 2})}).ok());
  EXPECT_TRUE(run(OpId::q_conv, a, {Array(DType::s8, {1, 3, 3, 0}), Array(DType::s8, {4, 2, 2, 0})}).ok());
  EXPECT_TRUE(run(OpId::q_conv, a, {Array(DType::s8, {1, 3, 3, 2}), Array(DType::s8, {0, 2, 2, 2})}).ok());
}

TEST(OpQConv, RefusesWhatDoesNotFit) {
  const Array x = full_range(DType::s8, {1, 3, 3, 4}, 1), w = full_range(DType::s8, {3, 2, 2, 4}, 2);
  const auto why = [](const ops::q_conv::Attrs& a, const std::vector<Array>& in) { return run(OpId::q_conv, a, in).status.why(); };
  ops::q_conv::Attrs a;
  a.to = static_cast<uint32_t>(DType::s32);
  EXPECT_EQ(why(a, {full_range(DType::s8, {3, 4}, 1), w}), Why::kRank);
  EXPECT_EQ(why(a, {x, full_range(DType::s8, {3, 2, 4}, 1)}), Why::kRank);
  EXPECT_EQ(why(a, {x, full_range(DType::s8, {3, 2, 2, 3}, 1)}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {x, full_range(DType::s8, {3, 4, 2, 4}, 1)}), Why::kWindow);
  EXPECT_EQ(why(a, {x, full_range(DType::s16, {3, 2, 2, 4}, 1)}), Why::kDType);
  EXPECT_EQ(why(a, {x.packed(Layout::kPanel16k4), w}), Why::kLayout);
  a.groups = 3;
  EXPECT_EQ(why(a, {x, w}), Why::kGroups);
  a.groups = 1, a.strides[0] = 0;
  EXPECT_EQ(why(a, {x, w}), Why::kWindow);
  a.strides[0] = 1, a.weight_zero = 300;
  EXPECT_EQ(why(a, {x, w}), Why::kAttribute);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQConv, AgreesWithTfliteInt8) {
  ops::q_conv::Attrs a;
  a.strides[0] = a.strides[1] = 2;
  a.pads_end[1] = 1;
  a.groups = 1;
  a.input_zero = 3;
  a.weight_zero = 0;
  a.output_zero = -4;
  a.wide = 0;
  const auto r = run(OpId::q_conv, a,
                     {Array::of<int8_t>({1, 4, 3, 2}, {113, 32,   47, 101, 20,  70, 85,  -71, -114, -52, -56, 95,
                                                       105, -127, -1, 82,  -95, 76, -98, -9,  81,   -51, -41, -57}),
                      Array::of<int8_t>({3, 2, 2, 2}, {56, -63, 125, -14, -6, 1,   21, 14,  2,  126, 78,  75,
                                                       51, 31,  -41, 125, -9, -73, 88, -87, 91, 29,  -98, -116}),
                      Array::of<int32_t>({3}, {-221, -1858, -1434}), Array::of<int32_t>({3}, {1221679610, 1221679610, 1832519415}),
                      Array::of<int32_t>({3}, {-10, -9, -10})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-2, 10, 8, -6, 3, -12, 4, -35, -13, -10, -1, -14});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQConv, AgreesWithTfliteInt8Depthwise) {
  ops::q_conv::Attrs a;
  a.strides[0] = a.strides[1] = 2;
  a.pads_end[1] = 1;
  a.groups = 2;
  a.input_zero = 3;
  a.weight_zero = 0;
  a.output_zero = -4;
  a.wide = 0;
  const auto r =
      run(OpId::q_conv, a,
          {Array::of<int8_t>({1, 4, 3, 2},
                             {3, 120, -9, 78, 106, 82, 33, -16, 3, -60, -1, -31, -65, 126, -125, -104, -79, 120, 49, 97, -77, 56, -34, -3}),
           Array::of<int8_t>({4, 2, 2, 1}, {-127, -88, 97, 89, 30, 9, -80, 53, 84, -59, 2, 36, 42, 119, 112, -117}),
           Array::of<int32_t>({4}, {967, -106, -1634, -1022}), Array::of<int32_t>({4}, {1221679610, 1221679610, 1832519415, 1343847593}),
           Array::of<int32_t>({4}, {-10, -9, -10, -10})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-1, -7, -3, 7, -11, 0, 0, -5, 6, -16, 10, -7, 0, -4, 3, -2});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQConv, AgreesWithTfliteInt16With64BitSums) {
  ops::q_conv::Attrs a;
  a.strides[0] = a.strides[1] = 2;
  a.pads_end[1] = 1;
  a.groups = 1;
  a.input_zero = 0;
  a.weight_zero = 0;
  a.output_zero = 0;
  a.wide = 1;
  const auto r =
      run(OpId::q_conv, a,
          {Array::of<int16_t>({1, 4, 3, 2}, {2696,  14862, 509,    7402,   24336,  12191, -9093, 9387,  6434,  -25676, -28885, 10496,
                                             -7365, 6444,  -11598, -17980, -22925, -7761, 20731, -6489, -7901, 4940,   31375,  -7062}),
           Array::of<int8_t>({3, 2, 2, 2}, {23,  -15,  27,  -14, 35,   12,  45,  116, -89, 16,   -15, -36,
                                            -66, -114, -25, 83,  -103, -24, 119, 115, -73, -126, 44,  -124}),
           Array::of<int64_t>({3}, {-799, -12, 1497}), Array::of<int32_t>({3}, {1172812373, 1172812373, 1759218560}),
           Array::of<int32_t>({3}, {-13, -12, -13})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-210, -405, 323, -34, -168, -201, 36, 208, -450, 40, 87, 115});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQConv, AgreesWithTfliteInt16With32BitSums) {
  ops::q_conv::Attrs a;
  a.strides[0] = a.strides[1] = 2;
  a.pads_end[1] = 1;
  a.groups = 1;
  a.input_zero = 0;
  a.weight_zero = 0;
  a.output_zero = 0;
  a.wide = 0;
  const auto r = run(
      OpId::q_conv, a,
      {Array::of<int16_t>({1, 4, 3, 2}, {-26683, 10630,  2164, -24143, 22650, 22614, -1134,  29160, 7003,   26471,  30184, 4569,
                                         -14362, -23236, 4118, -20155, 16398, 28043, -16683, 3429,  -29546, -20936, -8050, 25169}),
       Array::of<int8_t>({3, 2, 2, 2},
                         {120, 36, 21, 18, -112, -32, 123, -23, -73, -66, 54, -118, 120, 96, 17, -8, 67, 12, -6, -45, -14, 64, -113, -121}),
       Array::of<int32_t>({3}, {882, -511, 1215}), Array::of<int32_t>({3}, {1172812373, 1172812373, 1759218560}),
       Array::of<int32_t>({3}, {-13, -12, -13})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-251, 904, -270, 0, 122, 166, -282, 423, 597, 205, -213, 316});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQConv, AgreesWithTfliteUint8) {
  ops::q_conv::Attrs a;
  a.strides[0] = a.strides[1] = 2;
  a.pads_end[1] = 1;
  a.groups = 1;
  a.input_zero = 120;
  a.weight_zero = 130;
  a.output_zero = 120;
  a.wide = 0;
  const auto r = run(OpId::q_conv, a,
                     {Array::of<uint8_t>({1, 4, 3, 2}, {7,   232, 31, 106, 247, 27, 168, 186, 109, 20,  134, 110,
                                                        223, 174, 88, 14,  151, 71, 175, 221, 90,  231, 132, 135}),
                      Array::of<uint8_t>({3, 2, 2, 2}, {195, 202, 232, 255, 38,  105, 238, 78,  1, 147, 192, 190,
                                                        207, 164, 35,  216, 107, 216, 208, 248, 3, 221, 160, 124}),
                      Array::of<int32_t>({3}, {1172, 1809, 52}), Array::of<int32_t>({1}, {1588183509}), Array::of<int32_t>({1}, {-10})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {112, 127, 123, 121, 109, 110, 105, 121, 111, 119, 119, 116});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQConv, AgreesWithTfliteUint8Depthwise) {
  ops::q_conv::Attrs a;
  a.strides[0] = a.strides[1] = 2;
  a.pads_end[1] = 1;
  a.groups = 2;
  a.input_zero = 120;
  a.weight_zero = 130;
  a.output_zero = 120;
  a.wide = 0;
  const auto r =
      run(OpId::q_conv, a,
          {Array::of<uint8_t>({1, 4, 3, 2},
                              {22, 185, 59, 57, 49, 50, 232, 92, 27, 45, 101, 88, 79, 242, 221, 146, 252, 87, 35, 69, 22, 243, 56, 113}),
           Array::of<uint8_t>({4, 2, 2, 1}, {51, 243, 196, 212, 250, 133, 190, 109, 40, 230, 147, 242, 131, 229, 148, 224}),
           Array::of<int32_t>({4}, {-503, -354, 858, 1691}), Array::of<int32_t>({1}, {1588183509}), Array::of<int32_t>({1}, {-10})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {120, 117, 105, 111, 123, 113, 125, 121, 120, 114, 124, 131, 109, 128, 123, 121});
}

// A residual gives what q_add gives on the two tensors, in place of the residual too.
TEST(OpQConv, ResidualIsAddedAsQAddDoes) {
  for (DType type : types_of(ops::q_conv::Types{})) {
    for (uint32_t mode : {0u, 1u}) {
      if (type == DType::s16 && mode == 0) continue;
      const Array x = full_range(type, {2, 5, 4, 3}, 1), w = full_range(DType::s8, {6, 3, 3, 3}, 2),
                  residual = full_range(type, {2, 5, 4, 6}, 3);
      ops::q_conv::Attrs a;
      a.pads_begin[0] = a.pads_begin[1] = a.pads_end[0] = a.pads_end[1] = 1;
      a.input_zero = a.output_zero = some_zero(type);
      const auto product = run(OpId::q_conv, a, {x, w, Array::none(), real_vector({0.004})});
      ASSERT_TRUE(product.ok()) << product.message();
      ops::QuantBinaryAttrs sum;
      sum.mode = mode;
      sum.a_zero = a.output_zero;
      sum.y_zero = 1;
      sum.left_shift = 20;
      sum.a_multiplier = 1518500250, sum.a_shift = -1;
      sum.b_multiplier = 1073741824, sum.b_shift = 0;
      sum.y_multiplier = 1431655765, sum.y_shift = -19;
      sum.a_scale = 0.5f, sum.b_scale = 0.25f, sum.y_scale = 0.375f;
      sum.clamp_lo = 0;
      const auto wanted = run(OpId::q_add, sum, {product.outputs[0], residual});
      ASSERT_TRUE(wanted.ok()) << wanted.message();
      ops::q_conv::set_sum_attrs(a, sum);
      const Array none = Array::none();
      const auto found = run(OpId::q_conv, a, {x, w, none, real_vector({0.004}), none, none, none, none, residual});
      ASSERT_TRUE(found.ok()) << found.message();
      expect_oracle(found.outputs[0], [&](const Shape& i) { return wanted.outputs[0].at(i); });
    }
  }
  const auto why = [](const std::vector<Array>& in) { return run(OpId::q_conv, ops::q_conv::Attrs{}, in).status.why(); };
  const Array x = full_range(DType::s8, {1, 2, 2, 3}, 1), w = full_range(DType::s8, {4, 1, 1, 3}, 2), none = Array::none();
  EXPECT_EQ(why({x, w, none, real_vector({1}), none, none, none, none, full_range(DType::s8, {1, 2, 2, 3}, 1)}), Why::kDimMismatch);
  EXPECT_EQ(why({x, w, none, real_vector({1}), none, none, none, none, full_range(DType::u8, {1, 2, 2, 4}, 1)}), Why::kDTypeMismatch);
}

// A residual that goes to the sums: everything is exact up to the one rounding at the end.
TEST(OpQConv, ResidualIsAddedToTheSums) {
  const Array none = Array::none();
  for (DType type : {DType::s8, DType::u8}) {
    for (const int shift : {0, 7}) {
      const Array x = full_range(type, {2, 5, 4, 3}, 1), w = full_range(DType::s8, {6, 3, 3, 3}, 2),
                  residual = full_range(type, {2, 5, 4, 6}, 3), factor = Array::random(DType::s32, {6}, 4, 1, 40000);
      ops::q_conv::Attrs a;
      a.pads_begin[0] = a.pads_begin[1] = a.pads_end[0] = a.pads_end[1] = 1;
      a.input_zero = a.output_zero = some_zero(type);
      a.clamp_lo = a.output_zero;
      a.sum_mode = static_cast<uint32_t>(ops::QuantMode::kSums);
      a.sum_b_zero = 5;
      a.sum_b_shift = -shift;
      const auto found = run(OpId::q_conv, a, {x, w, none, real_vector({0.004}), none, none, none, none, residual, factor});
      ASSERT_TRUE(found.ok()) << found.message();
      expect_oracle(found.outputs[0], [&](const Shape& i) {
        const double more = std::floor((residual.at(i) - 5) * factor.get(i[3]) / (1 << shift) + (shift > 0 ? 0.5 : 0));
        const auto sum = static_cast<float>(q_conv_case::sum_of(x, w, a, i, a.input_zero, 0) + more);
        return std::max<double>(a.clamp_lo, saturated(std::nearbyint(sum * 0.004f) + a.output_zero, type));
      });
    }
  }
  const Array x = full_range(DType::s8, {1, 2, 2, 3}, 1), w = full_range(DType::s8, {4, 1, 1, 3}, 2),
              r = full_range(DType::s8, {1, 2, 2, 4}, 1);
  const auto why = [&](const ops::q_conv::Attrs& a, const Array& factor) {
    return run(OpId::q_conv, a, {x, w, none, real_vector({1}), none, none, none, none, r, factor}).status.why();
  };
  ops::q_conv::Attrs a;
  EXPECT_EQ(why(a, int_vector({7})), Why::kInputCount);
  a.sum_mode = static_cast<uint32_t>(ops::QuantMode::kSums);
  EXPECT_EQ(why(a, none), Why::kInputCount);
  EXPECT_EQ(why(a, int_vector({7, 8})), Why::kDimMismatch);
  EXPECT_EQ(why(a, real_vector({7})), Why::kDType);
  a.sum_b_shift = -31;
  EXPECT_EQ(why(a, int_vector({7})), Why::kAttribute);
  a.sum_b_shift = 0, a.sum_b_zero = 128;
  EXPECT_EQ(why(a, int_vector({7})), Why::kAttribute);
}

}  // namespace mote::optest
