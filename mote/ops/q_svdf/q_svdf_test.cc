#include "mote/ops/q_svdf/q_svdf.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpQSvdf, EmptyAndExtremeValuesAreSafe) {
  const ops::q_svdf::Attrs a{1, 0, 0, 1 << 30, 40, 2147483647, -40};
  const Array w = full_range(DType::s8, {2, 3}, 1), t = full_range(DType::s16, {2, 4}, 2);
  EXPECT_TRUE(run(OpId::q_svdf, a, {Array(DType::s16, {0, 8}), Array(DType::s8, {0, 3}), w, t}, 2).ok());
  EXPECT_TRUE(run(OpId::q_svdf, a, {full_range(DType::s16, {2, 8}, 3), full_range(DType::s8, {2, 3}, 4), w, t}, 2).ok());
}

TEST(OpQSvdf, RefusesWhatDoesNotFit) {
  const Array s(DType::s16, {2, 8}), x(DType::s8, {2, 3}), w(DType::s8, {2, 3}), t(DType::s16, {2, 4});
  const auto why = [](const ops::q_svdf::Attrs& a, const std::vector<Array>& in) { return run(OpId::q_svdf, a, in, 2).status.why(); };
  ops::q_svdf::Attrs a;
  EXPECT_TRUE(run(OpId::q_svdf, a, {s, x, w, t}, 2).ok());
  EXPECT_EQ(why(a, {Array(DType::s16, {2, 7}), x, w, t}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {Array(DType::s16, {1, 8}), x, w, t}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {s, Array(DType::s8, {2, 4}), w, t}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {s, x, w, Array(DType::s16, {1, 4})}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {Array(DType::s16, {2, 0}), x, w, Array(DType::s16, {2, 0})}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {s, x, w, t, int_vector({1, 2, 3})}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {s, Array(DType::s8, {6}), w, t}), Why::kRank);
  EXPECT_EQ(why(a, {s, x, w, Array(DType::s8, {2, 4})}), Why::kDType);
  a.rank = 3;
  EXPECT_EQ(why(a, {s, x, w, t}), Why::kAttribute);
  a.rank = 1, a.input_zero = 128;
  EXPECT_EQ(why(a, {s, x, w, t}), Why::kAttribute);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQSvdf, AgreesWithTflite) {
  const ops::q_svdf::Attrs a{2, 7, -5, 1073741824, -1, 2111062400, -13};
  const Array feature = Array::of<int8_t>({4, 3}, {113, 32, 47, 101, 20, 70, 85, -70, -113, -51, -55, 95});
  const Array time = Array::of<int16_t>({4, 3}, {248, -297, 0, 193, -222, 179, -229, -19, 190, -118, -95, -133});
  const Array bias = Array::of<int32_t>({2}, {878, -981});
  Array state(DType::s16, {2, 12});
  const std::vector<double> frames[] = {
      {125, -15, -6, 1, 21, 13}, {2, 126, 78, 74, 51, 31}, {-41, 125, -9, -73, 88, -87}, {91, 28, -99, -117, -15, -119}};
  const std::vector<double> expected[] = {{52, 93, -4, -18}, {-128, -93, 44, 9}, {22, -103, -128, 46}, {127, 127, 127, 83}};
  for (int i = 0; i < 4; ++i) {
    const auto r = run(OpId::q_svdf, a, {state, Array::of<int8_t>({2, 3}, frames[i]), feature, time, bias}, 2);
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[1], expected[i]);
    state = r.outputs[0];
  }
  expect_values(state, {1645, -600,  1296,  1712, -902,  371,   -4195, -2633, 4412, 114,  -1391, -3877,
                        2527, -2717, -5160, 2332, -3260, -5446, -24,   -462,  1310, -889, -2326, -1109});
}

}  // namespace mote::optest
