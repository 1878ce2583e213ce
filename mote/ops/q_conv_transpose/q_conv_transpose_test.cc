#include "mote/ops/q_conv_transpose/q_conv_transpose.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

namespace q_conv_transpose_case {
namespace {

// Scatters every input over the output.
std::vector<double> sums_of(const Array& x, const Array& w, const ops::q_conv_transpose::Attrs& a, const Array& y) {
  std::vector<double> sums(static_cast<size_t>(y.count()));
  const int cg = w.shape()[3], og = w.shape()[0] / a.groups;
  for_each_index(x.shape(), [&](const Shape& i) {
    for_each_index({og, w.shape()[1], w.shape()[2]}, [&](const Shape& k) {
      const int h = i[1] * a.strides[0] + k[1] * a.dilations[0] - a.pads_begin[0],
                v = i[2] * a.strides[1] + k[2] * a.dilations[1] - a.pads_begin[1];
      if (h < 0 || v < 0 || h >= y.shape()[1] || v >= y.shape()[2]) return;
      const int o = i[3] / cg * og + k[0];
      sums[static_cast<size_t>(y.flat_index({i[0], h, v, o}))] +=
          (x.at(i) - a.input_zero) * (w.at({o, k[1], k[2], i[3] % cg}) - a.weight_zero);
    });
  });
  return sums;
}

}  // namespace
}  // namespace q_conv_transpose_case

TEST(OpQConvTranspose, EveryTypeAndGroup) {
  for (DType xt : types_of(ops::q_conv_transpose::Types{})) {
    for (int groups : {1, 2}) {
      const Array x = full_range(xt, {2, 3, 2, 4}, 1), w = full_range(DType::s8, {6, 3, 2, 4 / groups}, 2);
      ops::q_conv_transpose::Attrs a;
      a.strides[0] = 2, a.strides[1] = 3, a.dilations[1] = 2, a.pads_begin[0] = 1, a.pads_end[1] = 1, a.output_padding[0] = 1;
      a.groups = groups;
      a.input_zero = some_zero(xt);
      a.weight_zero = 3;
      a.to = static_cast<uint32_t>(DType::s32);
      const auto r = run(OpId::q_conv_transpose, a, {x, w});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], {2, 7, 5, 6});
      expect_values(r.outputs[0], q_conv_transpose_case::sums_of(x, w, a, r.outputs[0]));
    }
  }
}

TEST(OpQConvTranspose, EmptyRowsAndRefusals) {
  ops::q_conv_transpose::Attrs a;
  a.to = static_cast<uint32_t>(DType::s32);
  const Array x = full_range(DType::s8, {1, 3, 2, 2}, 1), w = full_range(DType::s8, {3, 2, 2, 2}, 2);
  EXPECT_TRUE(run(OpId::q_conv_transpose, a, {Array(DType::s8, {0, 3, 3, 2}), w}).ok());
  check_row_range(OpId::q_conv_transpose, a, {x, w});
  a.output_padding[0] = -1;
  EXPECT_EQ(run(OpId::q_conv_transpose, a, {x, w}).status.why(), Why::kWindow);
  a.output_padding[0] = 0, a.groups = 0;
  EXPECT_EQ(run(OpId::q_conv_transpose, a, {x, w}).status.why(), Why::kGroups);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQConvTranspose, AgreesWithTfliteInt8) {
  ops::q_conv_transpose::Attrs a;
  a.strides[0] = a.strides[1] = 2;
  a.pads_end[0] = a.pads_end[1] = 1;
  a.input_zero = 4, a.output_zero = -6, a.wide = 0;
  const auto r =
      run(OpId::q_conv_transpose, a,
          {Array::of<int8_t>({1, 2, 3, 2}, {-3, -82, -86, 8, 30, 97, 81, 20, -94, 83, 11, 87}),
           Array::of<int8_t>({2, 3, 3, 2}, {60,  -47, -25,  -22, -59, 69, -33, 50, 11, -23, 48,  -83, 15,   -90, -100, 84, 81,  45,
                                            108, 27,  -102, -30, -64, 56, -83, 26, 89, -81, 105, 52,  -116, 9,   -43,  51, -78, -2}),
           Array::of<int32_t>({2}, {-30, -2}), Array::of<int32_t>({2}, {1221679610, 1221679610}), Array::of<int32_t>({2}, {-10, -9})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-4, -9, -5,  -2,  -12, -22, -5, 4, -4,  7,  -8, -12, -8, -8,  -5, 1, 0,  -3, -7, -15, -6,  -16, -7, -12,
                               0,  4,  -11, -20, -17, -7,  0,  7, -10, 15, -4, -6,  -7, -13, -6, 0, -1, 15, -8, -23, -10, -11, -7, -13});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQConvTranspose, AgreesWithTfliteInt16) {
  ops::q_conv_transpose::Attrs a;
  a.strides[0] = a.strides[1] = 2;
  a.pads_end[0] = a.pads_end[1] = 1;
  a.input_zero = 0, a.output_zero = 0, a.wide = 1;
  const auto r =
      run(OpId::q_conv_transpose, a,
          {Array::of<int16_t>({1, 2, 3, 2}, {27629, 28987, -28170, 18784, -21544, -22488, -851, 31169, 1575, 5643, 16089, -1480}),
           Array::of<int8_t>({2, 3, 3, 2}, {-16,  50, -92, 97, -37, 23, 123, 67, 64, 80,  -98, -15, 79,  -61, -48, 96,  72,  -64,
                                            -124, -4, 95,  12, -86, -4, -11, 27, 41, -65, 2,   -2,  -85, 0,   -92, -78, -55, 120}),
           Array::of<int64_t>({2}, {-448, 358}), Array::of<int32_t>({2}, {1466015421, 1466015421}), Array::of<int32_t>({2}, {-9, -8})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0],
                {1342,  -9444, 359,   7928,  1379,  2470,  5884,  -6534, 926,  13625, -266, -6177,  7120,  1278,  5449, -2003,
                 -7132, 2173,  -401,  -6335, -2238, -1237, -4238, 1543,  2648, -6313, 6077, -12025, -2976, 10892, 4743, 3585,
                 -5095, 9301,  -3665, 13993, 2644,  2270,  3252,  -5495, 250,  190,   736,  -805,   2187,  -599,  1214, 2017});
}

// The same sums over one, two and three spatial dimensions.
TEST(OpQConvTranspose, EverySpatialRank) {
  const Array x = full_range(DType::s8, {2, 5, 3}, 1), w = full_range(DType::s8, {4, 3, 3}, 2);
  ops::q_conv_transpose::Attrs line, plane, space;
  for (ops::q_conv_transpose::Attrs* a : {&line, &plane, &space}) a->to = static_cast<uint32_t>(DType::s32), a->input_zero = -5;
  line.strides[0] = plane.strides[0] = space.strides[1] = 2;
  line.pads_begin[0] = plane.pads_begin[0] = space.pads_begin[1] = 1;
  expect_same_elements(OpId::q_conv_transpose, plane, {x.reshaped({2, 5, 1, 3}), w.reshaped({4, 3, 1, 3})}, line, {x, w});
  expect_same_elements(OpId::q_conv_transpose, plane, {x.reshaped({2, 5, 1, 3}), w.reshaped({4, 3, 1, 3})}, space,
                       {x.reshaped({2, 1, 5, 1, 3}), w.reshaped({4, 1, 3, 1, 3})});
}

}  // namespace mote::optest
