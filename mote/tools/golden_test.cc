#include "mote/tools/golden.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace mote::tools {
namespace {

NpyArray floats(const std::vector<float>& v) {
  NpyArray a;
  a.dtype = DType::f32;
  a.dims = {static_cast<int64_t>(v.size())};
  a.data.resize(v.size() * 4);
  std::memcpy(a.data.data(), v.data(), a.data.size());
  return a;
}

TEST(Golden, ToleranceIsOfTheLargestExpectedMagnitude) {
  GoldenTensor expected;
  expected.array = floats({-100, 1});
  expected.tolerance = 1e-3f;
  EXPECT_TRUE(compare(floats({-100, 1.09f}), expected).passed);
  EXPECT_FALSE(compare(floats({-100, 1.11f}), expected).passed);
  EXPECT_NEAR(compare(floats({-100, 1.11f}), expected).difference.largest_error, 0.11, 1e-3);
}

TEST(Golden, ZeroToleranceMeansTheSameBits) {
  GoldenTensor expected;
  expected.array = floats({0.f});
  EXPECT_TRUE(compare(floats({0.f}), expected).passed);
  EXPECT_FALSE(compare(floats({-0.f}), expected).passed);
}

TEST(Golden, ShapesAndTypesMustAgree) {
  GoldenTensor expected;
  expected.array = floats({1, 2});
  expected.tolerance = 1;
  EXPECT_FALSE(compare(floats({1}), expected).difference.same_type);
  EXPECT_FALSE(compare(floats({1}), expected).passed);
}

TEST(Golden, NotANumberMustBeExpected) {
  GoldenTensor expected;
  expected.tolerance = 1e-3f;
  expected.array = floats({NAN, INFINITY, 5});
  EXPECT_TRUE(compare(floats({NAN, INFINITY, 5}), expected).passed);
  EXPECT_FALSE(compare(floats({0, INFINITY, 5}), expected).passed);
  EXPECT_FALSE(compare(floats({NAN, -INFINITY, 5}), expected).passed);
  EXPECT_FALSE(compare(floats({NAN, INFINITY, NAN}), expected).passed);
}

}  // namespace
}  // namespace mote::tools
