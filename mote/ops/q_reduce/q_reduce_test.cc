#include "mote/ops/q_reduce/q_reduce.h"

#include <algorithm>

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpQReduce, EveryTypeAndKind) {
  for (DType type : types_of(ops::q_reduce::Types{})) {
    const Array x = full_range(type, {2, 3, 4}, 1);
    for (const uint32_t kind : {0u, 1u, 2u, 3u}) {
      for (const uint32_t mode : {0u, 1u}) {
        ops::q_reduce::Attrs a;
        const FixedFactor f = fixed_factor(0.3);
        a.axes[0] = -2, a.axis_count = 1, a.kind = kind, a.mode = mode, a.input_zero = some_zero(type), a.output_zero = some_zero(type) / 2;
        a.multiplier = f.multiplier, a.shift = f.shift, a.real_multiplier = 0.3f;
        const auto r = run(OpId::q_reduce, a, {x});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], {2, 1, 4});
        for_each_index({2, 1, 4}, [&](const Shape& i) {
          double sum = 0, most = -1e9, least = 1e9;
          for (int k = 0; k < 3; ++k) {
            const double v = x.at({i[0], k, i[2]});
            sum += v - a.input_zero, most = std::max(most, v), least = std::min(least, v);
          }
          const double found = r.outputs[0].at(i);
          if (kind >= 2) {
            EXPECT_EQ(found, kind == 2 ? most : least);
            return;
          }
          // Two roundings, of which the first may be at half a unit.
          EXPECT_NEAR(found, saturated(sum * 0.3 / (kind == 0 ? 3 : 1) + a.output_zero, type), 0.8);
        });
      }
    }
  }
}

TEST(OpQReduce, EmptyGivesTheZeroPointAndAxesMayBeAnInput) {
  ops::q_reduce::Attrs a;
  a.output_zero = 7;
  const auto r = run(OpId::q_reduce, a, {Array(DType::s8, {0, 3})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {7});
  a.kind = 1, a.output_zero = 0;
  expect_values(run(OpId::q_reduce, a, {Array::of<int8_t>({2, 2}, {1, 2, 3, 4}), int_vector({0})}).outputs[0], {4, 6});
}

TEST(OpQReduce, RefusesWhatDoesNotFit) {
  const Array x = full_range(DType::s8, {2, 3}, 1);
  const auto why = [&](const ops::q_reduce::Attrs& a) { return run(OpId::q_reduce, a, {x}).status.why(); };
  ops::q_reduce::Attrs a;
  a.axis_count = 1, a.axes[0] = 2;
  EXPECT_EQ(why(a), Why::kAxis);
  a = {}, a.kind = 4;
  EXPECT_EQ(why(a), Why::kAttribute);
  a = {}, a.mode = 2;
  EXPECT_EQ(why(a), Why::kAttribute);
  a = {}, a.shift = -32;
  EXPECT_EQ(why(a), Why::kAttribute);
  a = {}, a.multiplier = -1;
  EXPECT_EQ(why(a), Why::kAttribute);
  a = {}, a.input_zero = 200;
  EXPECT_EQ(why(a), Why::kAttribute);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQReduce, AgreesWithTfliteMeanInt8) {
  ops::q_reduce::Attrs a;
  a.axes[0] = 1, a.axes[1] = 2, a.axis_count = 2, a.keep_dims = 0, a.kind = 0;
  a.input_zero = 3, a.output_zero = 9, a.multiplier = 1533916908, a.shift = 1;
  const auto r = run(OpId::q_reduce, a,
                     {Array::of<int8_t>({2, 3, 5, 2}, {8,   83, 89,  44,  -43, -34, 57,  -112, -69,  4,   113, 65,   80,  -80, -57,
                                                       -60, 63, 9,   -74, 63,  35,  101, 15,   -96,  99,  -81, -114, 76,  -13, 36,
                                                       -95, 56, -25, 127, 34,  112, 74,  87,   -106, 70,  26,  -27,  -49, 36,  -78,
                                                       -81, 95, 66,  23,  65,  -46, 56,  -76,  -15,  -91, -32, -41,  -21, -7,  -120})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {23, 6, -30, 41});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQReduce, AgreesWithTfliteMeanUint8) {
  ops::q_reduce::Attrs a;
  a.axes[0] = 1, a.axes[1] = 2, a.axis_count = 2, a.keep_dims = 0, a.kind = 0;
  a.input_zero = 3, a.output_zero = 9, a.multiplier = 1533916908, a.shift = 1;
  const auto r = run(OpId::q_reduce, a,
                     {Array::of<uint8_t>({2, 3, 5, 2}, {3,   167, 245, 195, 119, 121, 104, 14,  184, 137, 133, 238, 187, 245, 21,
                                                        243, 144, 102, 142, 9,   238, 161, 10,  233, 115, 30,  161, 17,  140, 194,
                                                        18,  202, 151, 82,  56,  2,   50,  72,  224, 131, 50,  190, 116, 213, 192,
                                                        238, 181, 27,  141, 108, 206, 39,  119, 211, 158, 9,   209, 93,  173, 167})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {190, 205, 200, 175});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQReduce, AgreesWithTfliteSumUint8) {
  ops::q_reduce::Attrs a;
  a.axes[0] = 1, a.axes[1] = 2, a.axis_count = 2, a.keep_dims = 0, a.kind = 1;
  a.input_zero = 3, a.output_zero = 9, a.multiplier = 1908874433, a.shift = -3;
  const auto r = run(OpId::q_reduce, a,
                     {Array::of<uint8_t>({2, 3, 5, 2}, {164, 106, 103, 25,  142, 74,  101, 42, 190, 236, 97,  108, 119, 18,  193,
                                                        225, 128, 15,  86,  40,  211, 204, 97, 96,  216, 22,  201, 246, 114, 193,
                                                        182, 229, 8,   180, 99,  219, 220, 73, 148, 126, 142, 212, 170, 193, 173,
                                                        64,  149, 97,  107, 28,  46,  87,  74, 162, 74,  63,  110, 145, 255, 130})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {244, 187, 222, 227});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQReduce, AgreesWithTfliteMeanInt16) {
  ops::q_reduce::Attrs a;
  a.axes[0] = 1, a.axes[1] = 2, a.axis_count = 2, a.keep_dims = 0, a.kind = 0;
  a.input_zero = 0, a.output_zero = 0, a.multiplier = 1533916908, a.shift = 1;
  const auto r = run(
      OpId::q_reduce, a,
      {Array::of<int16_t>({2, 3, 5, 2}, {-1928,  20764,  11226,  -22223, 7190,   27774,  -18881, 25787,  5666,   11031, -11065, -29528,
                                         -31019, 10702,  31641,  6576,   -9316,  17839,  29193,  -18755, -25964, 29711, -29810, 25309,
                                         -23331, -25274, -14643, -12111, -11095, -30642, 23201,  21688,  11811,  27203, 28687,  32100,
                                         -8158,  7335,   17244,  10878,  19086,  11691,  -7397,  4597,   -19720, 29649, 25901,  7068,
                                         17519,  -10766, -7762,  843,    -15459, -31545, -6848,  14688,  -15687, 12708, 6487,   -5174})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-8775, 3520, 6563, 12663});
}

TEST(OpQReduce, LeastAndGreatestRank) {
  ops::q_reduce::Attrs scalar, plane, deep;
  scalar.kind = 1;
  expect_values(run(OpId::q_reduce, scalar, {Array::scalar(DType::s8, 9)}).outputs[0], {9});
  plane.axes[0] = 1, plane.axis_count = 1, plane.keep_dims = 0, plane.input_zero = 2;
  deep = plane;
  deep.axes[0] = -3;
  const Array x = full_range(DType::s8, {2, 3, 4}, 1);
  expect_same_elements(OpId::q_reduce, plane, {x}, deep, {x.reshaped({1, 2, 1, 1, 1, 3, 4, 1})});
}

}  // namespace mote::optest
