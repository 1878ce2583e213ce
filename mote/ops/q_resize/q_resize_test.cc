#include "mote/ops/q_resize/q_resize.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpQResize, BilinearIsCloseToTheRealOne) {
  for (DType type : types_of(ops::q_resize::Types{})) {
    const Array x = full_range(type, {2, 3, 4, 2}, 1);
    for (const uint32_t align : {0u, 1u}) {
      const auto r = run(OpId::q_resize, ops::q_resize::Attrs{5, 9, 1, align, 1 - align}, {x});
      ASSERT_TRUE(r.ok()) << r.message();
      const auto source = [&](int at, int in, int out) {
        const double p = align ? at * (in - 1.0) / (out - 1) : (at + 0.5) * in / out - 0.5;
        return std::fmin(std::fmax(p, 0), in - 1);
      };
      for_each_index({2, 5, 9, 2}, [&](const Shape& i) {
        const double v = source(i[1], 3, 5), u = source(i[2], 4, 9), fv = v - std::floor(v), fu = u - std::floor(u);
        const auto at = [&](double h, double w) { return x.at({i[0], static_cast<int>(h), static_cast<int>(w), i[3]}); };
        const double top = at(std::floor(v), std::floor(u)) * (1 - fu) + at(std::floor(v), std::ceil(u)) * fu;
        const double low = at(std::ceil(v), std::floor(u)) * (1 - fu) + at(std::ceil(v), std::ceil(u)) * fu;
        EXPECT_NEAR(r.outputs[0].at(i), top * (1 - fv) + low * fv, type == DType::s16 ? 600 : 2.6);
      });
    }
  }
}

TEST(OpQResize, EmptyAndRefusals) {
  EXPECT_TRUE(run(OpId::q_resize, ops::q_resize::Attrs{2, 2, 1, 0, 0}, {Array(DType::s8, {0, 2, 2, 1})}).ok());
  const Array x(DType::s8, {1, 2, 2, 1});
  const auto why = [](const ops::q_resize::Attrs& a, const Array& in) { return run(OpId::q_resize, a, {in}).status.why(); };
  EXPECT_EQ(why({0, 2, 1, 0, 0}, x), Why::kAttribute);
  EXPECT_EQ(why({2, 1 << 21, 1, 0, 0}, x), Why::kAttribute);
  EXPECT_EQ(why({2, 2, 2, 0, 0}, x), Why::kAttribute);
  EXPECT_EQ(why({2, 2, 1, 1, 1}, x), Why::kAttribute);
  EXPECT_EQ(why({2, 2, 1, 0, 0}, Array(DType::s8, {2, 2, 1})), Why::kRank);
  EXPECT_EQ(why({2, 2, 1, 0, 0}, Array(DType::s8, {1, 0, 2, 1})), Why::kWindow);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQResize, AgreesWithTfliteBilinearInt8) {
  {
    const auto r = run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 1, 0, 0},
                       {Array::of<int8_t>({1, 2, 3, 2}, {-120, 124, 0, 87, -97, -86, -83, 17, 92, 27, -5, 113})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {-120, 124, -48, 102, -19, 53,  -77, -51, -97, -86, -95, 53, -1, 49, 42,
                                 47,   -16, 47,  -36, 47,  -83, 17,  22,  23,  73,  44,  15, 96, -5, 113});
  }
  {
    const auto r = run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 1, 1, 0},
                       {Array::of<int8_t>({1, 2, 3, 2}, {-81, -86, 43, 90, -60, -62, 6, 71, -56, 82, 4, 52})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {-81, -86, -19, 2,   43, 90, -9, 14,  -60, -62, -38, -8,  -22, 39, -7,
                                 86,  -17, 41,  -28, -5, 6,  71, -25, 77,  -56, 82,  -26, 67,  4,  52});
  }
  {
    const auto r = run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 1, 0, 1},
                       {Array::of<int8_t>({1, 2, 3, 2}, {32, -5, 9, 126, -27, 113, 74, -82, 95, -30, -83, -64})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {32, -5,  23, 47,  9,  126, -13, 118, -27, 113, 53,  -44, 53,  -7,  52,
                                 48, -12, 34, -55, 25, 74,  -82, 82,  -61, 95,  -30, -12, -50, -83, -64});
  }
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQResize, AgreesWithTfliteNearestInt8) {
  {
    const auto r = run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 0, 0, 0},
                       {Array::of<int8_t>({1, 2, 3, 2}, {-94, -42, -100, 11, 122, 118, 113, -66, -69, 45, 120, 83})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {-94, -42,  -94, -42, -100, 11,  -100, 11,  122, 118, -94, -42, -94, -42, -100,
                                 11,  -100, 11,  122, 118,  113, -66,  113, -66, -69, 45,  -69, 45,  120, 83});
  }
  {
    const auto r = run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 0, 1, 0},
                       {Array::of<int8_t>({1, 2, 3, 2}, {-75, 60, 1, -15, -1, 11, 106, 74, -118, 67, -48, -42})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {-75, 60,  1,   -15, 1,   -15, -1, 11,   -1, 11,   106, 74,  -118, 67,  -118,
                                 67,  -48, -42, -48, -42, 106, 74, -118, 67, -118, 67,  -48, -42,  -48, -42});
  }
  {
    const auto r = run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 0, 0, 1},
                       {Array::of<int8_t>({1, 2, 3, 2}, {25, 123, -112, 3, -68, 105, -9, 90, 97, -103, 66, 74})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {25,   123, 25, 123, -112, 3,  -68, 105, -68, 105, -9,   90, -9, 90, 97,
                                 -103, 66,  74, 66,  74,   -9, 90,  -9,  90,  97,  -103, 66, 74, 66, 74});
  }
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQResize, AgreesWithTfliteBilinearUint8) {
  {
    const auto r = run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 1, 0, 0},
                       {Array::of<uint8_t>({1, 2, 3, 2}, {138, 126, 19, 50, 254, 107, 71, 211, 119, 211, 40, 121})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {138, 126, 67,  80,  66,  61, 207, 96,  254, 107, 93,  183, 89,  167, 91,
                                 149, 106, 125, 111, 116, 71, 211, 100, 211, 103, 193, 56,  139, 40,  121});
  }
  {
    const auto r = run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 1, 1, 0},
                       {Array::of<uint8_t>({1, 2, 3, 2}, {207, 196, 173, 117, 210, 95, 168, 139, 77, 51, 136, 81})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {207, 196, 190, 157, 173, 117, 192, 106, 210, 95, 188, 168, 156, 126, 125,
                                 84,  149, 86,  173, 88,  168, 139, 123, 95,  77, 51,  107, 66,  136, 81});
  }
  {
    const auto r = run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 1, 0, 1},
                       {Array::of<uint8_t>({1, 2, 3, 2}, {132, 180, 205, 197, 130, 14, 46, 187, 152, 209, 125, 113})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {132, 180, 161, 187, 205, 197, 160, 87, 130, 14,  89,  184, 125, 191, 179,
                                 203, 148, 119, 127, 64,  46,  187, 88, 196, 152, 209, 136, 151, 125, 113});
  }
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQResize, AgreesWithTfliteNearestUint8) {
  {
    const auto r = run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 0, 0, 0},
                       {Array::of<uint8_t>({1, 2, 3, 2}, {62, 15, 36, 174, 148, 63, 92, 164, 97, 96, 69, 163})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {62,  15, 62,  15,  36, 174, 36,  174, 148, 63, 62, 15, 62, 15, 36,
                                 174, 36, 174, 148, 63, 92,  164, 92,  164, 97, 96, 97, 96, 69, 163});
  }
  {
    const auto r = run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 0, 1, 0},
                       {Array::of<uint8_t>({1, 2, 3, 2}, {227, 66, 74, 121, 48, 134, 226, 161, 42, 52, 19, 246})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {227, 66, 74,  121, 74,  121, 48,  134, 48, 134, 226, 161, 42,  52, 42,
                                 52,  19, 246, 19,  246, 226, 161, 42,  52, 42,  52,  19,  246, 19, 246});
  }
  {
    const auto r = run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 0, 0, 1},
                       {Array::of<uint8_t>({1, 2, 3, 2}, {88, 74, 219, 78, 59, 65, 101, 17, 164, 108, 248, 197})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {88,  74,  88,  74,  219, 78,  59, 65,  59, 65,  101, 17,  101, 17,  164,
                                 108, 248, 197, 248, 197, 101, 17, 101, 17, 164, 108, 248, 197, 248, 197});
  }
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQResize, AgreesWithTfliteBilinearInt16) {
  {
    const auto r =
        run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 1, 0, 0},
            {Array::of<int16_t>({1, 2, 3, 2}, {4707, 3281, -22868, 22716, 264, -27237, -19976, -14795, 16373, 17346, 21062, 7084})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0],
                  {4707,  3281,  -11827, 14934, -18260, 12764,  -4390,  -17188, 264,  -27237, -11756, -8776, -2725, 7959,  5463,
                   14457, 11957, 378,    14136, -4345,  -19976, -14795, 1819,   4477, 17307,  15302,  20119, 9148,  21062, 7084});
  }
  {
    const auto r =
        run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 1, 1, 0},
            {Array::of<int16_t>({1, 2, 3, 2}, {26845, -12269, 5436, 8447, -8676, -2969, 13473, 23747, 27643, -13570, 14259, 16890})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {26845, -12269, 16141, -1911, 5436, 8447,  -1620, 2739,  -8676, -2969, 20159,  5739,  18349, 1589,  16540,
                                 -2562, 9666,   2200,  2792,  6961, 13473, 23747, 20558, 5089,  27643, -13570, 20951, 1660,  14259, 16890});
  }
  {
    const auto r =
        run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 1, 0, 1},
            {Array::of<int16_t>({1, 2, 3, 2}, {28659, 8891, -19581, 15756, -21587, -7979, -713, 14740, -21766, 13004, -23313, -7374})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0],
                  {28659, 8891,   9391, 11633,  -19534, 15749, -20782, 1547,  -21587, -7979,  13973, 11816,  135, 12840,  -20640,
                   14377, -21737, 1176, -22450, -7677,  -713,  14740,  -9122, 14047,  -21745, 13006, -22692, 805, -23313, -7374});
  }
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQResize, AgreesWithTfliteNearestInt16) {
  {
    const auto r =
        run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 0, 0, 0},
            {Array::of<int16_t>({1, 2, 3, 2}, {-24799, -31035, -11418, 30337, 4002, 13998, -17765, -19351, 26586, 15126, -736, -14505})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0],
                  {-24799, -31035, -24799, -31035, -11418, 30337,  -11418, 30337,  4002,   13998, -24799, -31035, -24799, -31035, -11418,
                   30337,  -11418, 30337,  4002,   13998,  -17765, -19351, -17765, -19351, 26586, 15126,  26586,  15126,  -736,   -14505});
  }
  {
    const auto r =
        run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 0, 1, 0},
            {Array::of<int16_t>({1, 2, 3, 2}, {23728, -2013, -29310, 23585, -5397, -3404, -7741, -13894, 6610, -12748, 598, -27721})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0],
                  {23728,  -2013, -29310, 23585, -29310, 23585, -5397,  -3404, -5397,  -3404, -7741,  -13894, 6610,   -12748, 6610,
                   -12748, 598,   -27721, 598,   -27721, -7741, -13894, 6610,  -12748, 6610,  -12748, 598,    -27721, 598,    -27721});
  }
  {
    const auto r =
        run(OpId::q_resize, ops::q_resize::Attrs{3, 5, 0, 0, 1},
            {Array::of<int16_t>({1, 2, 3, 2}, {21854, -18383, 6890, -15001, -20639, -21433, 13530, -28635, 19431, -2243, -3008, -18718})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0],
                  {21854, -18383, 21854,  -18383, 6890,   -15001, -20639, -21433, -20639, -21433, 13530, -28635, 13530,  -28635, 19431,
                   -2243, -3008,  -18718, -3008,  -18718, 13530,  -28635, 13530,  -28635, 19431,  -2243, -3008,  -18718, -3008,  -18718});
  }
}

}  // namespace mote::optest
