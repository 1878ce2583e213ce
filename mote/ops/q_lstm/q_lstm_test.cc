#include "mote/ops/q_lstm/q_lstm.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

namespace q_lstm_case {
namespace {

std::vector<Array> operands(int batch, int time, int in, int cells, uint32_t seed) {
  return {full_range(DType::s8, {batch, time, in}, seed),
          full_range(DType::s8, {batch, cells}, seed + 1),
          full_range(DType::s16, {batch, cells}, seed + 2),
          full_range(DType::s8, {4, cells, in}, seed + 3),
          full_range(DType::s8, {4, cells, cells}, seed + 4),
          Array::random(DType::s32, {4, cells}, seed + 5, -900, 900),
          Array::random(DType::s32, {4, cells}, seed + 6, -900, 900)};
}

}  // namespace
}  // namespace q_lstm_case

// One step of one cell against the real functions.
TEST(OpQLstm, OneStepIsCloseToTheRealCell) {
  const FixedFactor gate = fixed_factor(0.25), hidden = fixed_factor(std::ldexp(1.0, -30) * 128);
  ops::q_lstm::Attrs a;
  for (int g = 0; g < 4; ++g)
    a.input_multiplier[g] = a.recurrent_multiplier[g] = gate.multiplier, a.input_shift[g] = a.recurrent_shift[g] = gate.shift;
  a.hidden_multiplier = hidden.multiplier, a.hidden_shift = hidden.shift;
  const std::vector<Array> in = q_lstm_case::operands(2, 1, 3, 4, 9);
  const auto r = run(OpId::q_lstm, a, in, 3);
  ASSERT_TRUE(r.ok()) << r.message();
  for_each_index({2, 4}, [&](const Shape& i) {
    double z[4];
    for (int g = 0; g < 4; ++g) {
      double sum = in[5].at({g, i[1]}) + in[6].at({g, i[1]});
      for (int k = 0; k < 3; ++k) sum += in[0].at({i[0], 0, k}) * in[3].at({g, i[1], k});
      for (int k = 0; k < 4; ++k) sum += in[1].at({i[0], k}) * in[4].at({g, i[1], k});
      z[g] = std::fmin(std::fmax(sum * 0.25, -32768), 32767) / 4096;
    }
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    const double cell = std::fmin(std::fmax(sigmoid(z[1]) * in[2].at(i) / 2048 + sigmoid(z[0]) * std::tanh(z[2]), -16), 16);
    EXPECT_NEAR(r.outputs[2].at(i) / 2048, cell, 5e-3);
    EXPECT_NEAR(r.outputs[1].at(i) / 128, std::fmin(sigmoid(z[3]) * std::tanh(cell), 127.0 / 128), 8e-3);
    EXPECT_EQ(r.outputs[0].at({i[0], 0, i[1]}), r.outputs[1].at(i));
  });
}

TEST(OpQLstm, TimeMajorGivesTheSame) {
  ops::q_lstm::Attrs a;
  const FixedFactor gate = fixed_factor(0.25);
  for (int g = 0; g < 4; ++g)
    a.input_multiplier[g] = a.recurrent_multiplier[g] = gate.multiplier, a.input_shift[g] = a.recurrent_shift[g] = gate.shift;
  a.hidden_multiplier = 1 << 30, a.hidden_shift = -22, a.cell_clip = 3000;
  std::vector<Array> in = q_lstm_case::operands(2, 3, 3, 4, 9);
  const auto r = run(OpId::q_lstm, a, in, 3);
  Array x(DType::s8, {3, 2, 3});
  for_each_index({2, 3, 3}, [&](const Shape& i) { x.set(x.flat_index({i[1], i[0], i[2]}), in[0].at(i)); });
  in[0] = x;
  a.time_major = 1;
  const auto s = run(OpId::q_lstm, a, in, 3);
  ASSERT_TRUE(s.ok()) << s.message();
  for_each_index({2, 3, 4}, [&](const Shape& i) { EXPECT_EQ(r.outputs[0].at(i), s.outputs[0].at({i[1], i[0], i[2]})); });
}

TEST(OpQLstm, EmptyAndExtremeValuesAreSafe) {
  ops::q_lstm::Attrs a;
  EXPECT_TRUE(run(OpId::q_lstm, a, q_lstm_case::operands(0, 2, 3, 4, 1), 3).ok());
  EXPECT_TRUE(run(OpId::q_lstm, a, q_lstm_case::operands(2, 0, 3, 4, 1), 3).ok());
  for (int e = -15; e <= -9; ++e) {
    for (int g = 0; g < 4; ++g)
      a.input_multiplier[g] = 2147483647, a.input_shift[g] = 60, a.recurrent_multiplier[g] = -2147483647 - 1, a.recurrent_shift[g] = 30;
    a.cell_exponent = e, a.hidden_multiplier = -2147483647 - 1, a.hidden_shift = 99;
    EXPECT_TRUE(run(OpId::q_lstm, a, q_lstm_case::operands(2, 2, 3, 4, 1), 3).ok());
  }
}

TEST(OpQLstm, RefusesWhatDoesNotFit) {
  const std::vector<Array> in = q_lstm_case::operands(2, 3, 3, 4, 1);
  const auto why = [&](const ops::q_lstm::Attrs& a, int i, const Array& other) {
    std::vector<Array> changed = in;
    if (i >= 0) changed[static_cast<size_t>(i)] = other;
    return run(OpId::q_lstm, a, changed, 3).status.why();
  };
  ops::q_lstm::Attrs a;
  EXPECT_EQ(why(a, 0, Array(DType::s8, {2, 3})), Why::kRank);
  EXPECT_EQ(why(a, 1, Array(DType::s8, {2, 3, 4})), Why::kRank);
  EXPECT_EQ(why(a, 1, Array(DType::s8, {3, 4})), Why::kDimMismatch);
  EXPECT_EQ(why(a, 1, Array(DType::s8, {2, 5})), Why::kDimMismatch);
  EXPECT_EQ(why(a, 2, Array(DType::s8, {2, 4})), Why::kDType);
  EXPECT_EQ(why(a, 2, Array(DType::s16, {8})), Why::kRank);
  EXPECT_EQ(why(a, 3, Array(DType::s8, {3, 4, 3})), Why::kDimMismatch);
  EXPECT_EQ(why(a, 4, Array(DType::s8, {4, 4, 3})), Why::kDimMismatch);
  EXPECT_EQ(why(a, 5, Array(DType::s32, {4, 3})), Why::kDimMismatch);
  EXPECT_EQ(why(a, 6, Array(DType::s16, {4, 4})), Why::kDType);
  for (int32_t ops::q_lstm::Attrs::*field : {&ops::q_lstm::Attrs::cell_exponent, &ops::q_lstm::Attrs::output_zero}) {
    a = {};
    a.*field = 200;
    EXPECT_EQ(why(a, -1, {}), Why::kAttribute);
  }
  a = {}, a.cell_clip = -1;
  EXPECT_EQ(why(a, -1, {}), Why::kAttribute);
  a = {}, a.coupled = 2;
  EXPECT_EQ(why(a, -1, {}), Why::kAttribute);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQLstm, AgreesWithTflite) {
  const ops::q_lstm::Attrs a{0,
                             0,
                             {1319413888, 1979120896, 1649267456, 1187472512},
                             {2, 1, 2, 2},
                             {1688849920, 1548112384, 1196268800, 1337006208},
                             {-1, 0, 0, 0},
                             -11,
                             20480,
                             2097151872,
                             -23,
                             -3,
                             0,
                             0,
                             0,
                             0};
  Array hidden = Array::of<int8_t>({2, 4}, {-3, -3, -3, -3, -3, -3, -3, -3}), cell(DType::s16, {2, 4});
  const std::vector<double> expected[] = {
      {-3, -88, -3, -7, -5, -3, -3, -81, 73, -80, 15, 7, -3, 0, -51, 19, -3, -3, -56, 32, -3, -3, -3, 11},
      {-3, -120, -2, -8, 13, -3, -3, -83, 86, -83, 17, -6, -3, -18, -50, 22, -3, -3, -54, 48, -3, -3, -3, 19}};
  for (int i = 0; i < 2; ++i) {
    std::vector<Array> inputs = {
        Array::of<int8_t>({2, 3, 3}, {-74, -67, 54, -119, 120, 96, 17, -9, 66, 12, -6, -46, -14, 64, -114, -122, 56, -33}),
        hidden,
        cell,
        Array::of<int8_t>({4, 4, 3}, {-91,  4,   120, -9, 79,  106, 82, 33,  -15,  4,    -60, -1,   -31, -64, 126, -124,
                                      -103, -78, 120, 49, 97,  -76, 56, -33, -3,   -127, 30,  84,   42,  -88, 9,   -59,
                                      119,  97,  -80, 2,  112, 89,  53, 36,  -117, 62,   -7,  -104, -65, 10,  58,  2}),
        Array::of<int8_t>({4, 4, 4},
                          {29,   95,  47,  -35, 37,   25, -100, -112, 41, -29, 25,  -45, -70,  -89, -30, 81,   -25, -31, 19,  122, -27,  23,
                           -15,  27,  -14, 35,  12,   45, 116,  -89,  16, -15, -36, -66, -114, -25, 83,  -103, -24, 119, 115, -73, -126, 44,
                           -124, -51, -1,  95,  -104, 41, 8,    -94,  88, 88,  -4,  113, 27,   103, 117, 18,   -56, -90, 16,  -78}),
        Array::of<int32_t>({4, 4}, {1337, 1688, -2028, 599, -2860, -392, -2067, 2570, 3318, 660, 156, 323, -3907, -647, 3780, -884}),
        Array::of<int32_t>({4, 4}, {408, -450, -24, -324, 255, 24, 234, 84, -723, 225, -120, -243, -447, 855, 795, -624})};
    const auto r = run(OpId::q_lstm, a, inputs, 3);
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], expected[i]);
    hidden = r.outputs[1];
    cell = r.outputs[2];
  }
  expect_values(hidden, {86, -83, 17, -6, -3, -3, -3, 19});
  expect_values(cell, {3183, -2105, 671, -80, -2013, -2572, -5, 827});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQLstm, AgreesWithTfliteCoupled) {
  const ops::q_lstm::Attrs a{0,
                             1,
                             {1319413888, 1979120896, 1649267456, 1187472512},
                             {2, 1, 2, 2},
                             {1688849920, 1548112384, 1196268800, 1337006208},
                             {-1, 0, 0, 0},
                             -11,
                             20480,
                             2097151872,
                             -23,
                             -3,
                             0,
                             0,
                             0,
                             0};
  Array hidden = Array::of<int8_t>({2, 4}, {-3, -3, -3, -3, -3, -3, -3, -3}), cell(DType::s16, {2, 4});
  const std::vector<double> expected[] = {
      {-3, -95, 78, 21, -5, -95, -61, -2, -3, -98, 89, 16, 57, -3, -3, -4, 18, -3, -3, -8, -94, -3, -4, -6},
      {-4, -95, 84, 7, -6, -95, -69, -2, -3, -98, 89, 16, 71, -3, -4, -8, 17, -3, -3, -12, -94, -3, -4, -9}};
  for (int i = 0; i < 2; ++i) {
    std::vector<Array> inputs = {
        Array::of<int8_t>({2, 3, 3}, {-23, 34, -105, -81, 60, -113, 45, -23, -128, 67, 51, 80, 101, 58, 87, -100, 107, 105}),
        hidden,
        cell,
        Array::of<int8_t>({3, 4, 3}, {-49, -126, 19,   65, 62,  79,  37,  -93, 89,  -21, 89,   80,  120, -124, 93,  33,  -4, 75,
                                      115, 3,    -105, 58, -69, -70, -78, -77, 105, -35, -100, -82, -27, -39,  -48, 114, 93, 19}),
        Array::of<int8_t>({3, 4, 4}, {68,  62,  20, 21,  84, -19, 114, 96,   -32, -23, 55,  108, -103, -110, -64, -18,
                                      -86, 5,   11, 115, 63, -63, 73,  78,   46,  45,  -48, 55,  -93,  33,   107, 120,
                                      -51, -43, 30, -26, 59, -76, -84, -115, -8,  -73, -51, 106, 80,   87,   24,  -99}),
        Array::of<int32_t>({3, 4}, {-1181, -462, -428, 216, -1191, -1680, -2315, 3174, 1780, 880, -1024, -361}),
        Array::of<int32_t>({3, 4}, {513, 825, 324, -885, 135, 453, 294, 501, -270, -648, -78, 276})};
    const auto r = run(OpId::q_lstm, a, inputs, 3);
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], expected[i]);
    hidden = r.outputs[1];
    cell = r.outputs[2];
  }
  expect_values(hidden, {-3, -98, 89, 16, -94, -3, -4, -9});
  expect_values(cell, {-2046, -2048, 1978, 2048, -1902, 114, -2005, -147});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQLstm, AgreesWithTfliteProjection) {
  const ops::q_lstm::Attrs a{0,
                             0,
                             {1319413888, 1979120896, 1649267456, 1187472512},
                             {2, 1, 2, 2},
                             {1688849920, 1548112384, 1196268800, 1337006208},
                             {-1, 0, 0, 0},
                             -11,
                             20480,
                             1198372480,
                             -22,
                             -4,
                             1322849920,
                             -6,
                             0,
                             -3};
  Array hidden = Array::of<int8_t>({2, 2}, {-3, -3, -3, -3}), cell(DType::s16, {2, 4});
  const std::vector<double> expected[] = {{-8, -4, 20, -60, 26, -16, -3, -7, -17, 26, -15, -6},
                                          {64, -33, 29, -66, 27, -16, -77, 14, -13, 22, -9, -9}};
  for (int i = 0; i < 2; ++i) {
    std::vector<Array> inputs = {
        Array::of<int8_t>({2, 3, 3}, {34, 113, 101, -31, -87, -64, 97, -12, 126, 40, 24, -103, 23, -31, 87, -94, -79, 41}),
        hidden,
        cell,
        Array::of<int8_t>({4, 4, 3}, {120, 17,  -65, -118, -50,  23,   -100, -85, -98, 45,  -105, -122, -11, -48,  18,  112,
                                      91,  10,  36,  79,   -16,  40,   -72,  28,  -67, -79, 67,   19,   -31, -117, -67, 77,
                                      -8,  117, 102, 90,   -123, -115, 20,   -41, 87,  -46, -88,  -99,  -51, 32,   -95, 76}),
        Array::of<int8_t>({4, 4, 2}, {-50, -48, 42,  93, -16, 76,   -50, -95, 84,   68, 64,  98, 0,  -77, 22,  19,
                                      -29, 35,  -60, 28, 75,  -103, -12, 41,  -114, 34, 105, 83, 47, 77,  -35, -44}),
        Array::of<int32_t>({4, 4}, {-2859, 2058, 301, 3114, 1, 1293, -2666, -2011, -524, -2195, -59, -640, 2060, -1712, -825, 317}),
        Array::of<int32_t>({4, 4}, {-294, 405, 180, -435, 456, 486, -231, 123, 18, -96, -84, 87, -240, 564, 372, -237})};
    inputs.push_back(Array::of<int8_t>({2, 4}, {46, 84, 6, -31, -49, -33, 42, 10}));
    inputs.push_back(Array::of<int32_t>({2}, {216, -405}));
    const auto r = run(OpId::q_lstm, a, inputs, 3);
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], expected[i]);
    hidden = r.outputs[1];
    cell = r.outputs[2];
  }
  expect_values(hidden, {27, -16, -9, -9});
  expect_values(cell, {1140, 2001, -944, -1944, -1185, -2050, -1071, -2455});
}

}  // namespace mote::optest
