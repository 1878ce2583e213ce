#include "mote/ops/cum_max/cum_max.h"

#include <algorithm>
#include <cmath>

#include "mote/ops/testing/scan_cases.h"

namespace mote::optest {

namespace cum_max_case {
namespace {

ops::cum_max::Attrs attrs(ops::ScanAttrs scan, int32_t smallest) {
  ops::cum_max::Attrs a;
  static_cast<ops::ScanAttrs&>(a) = scan;
  a.smallest = smallest;
  return a;
}

}  // namespace
}  // namespace cum_max_case

TEST(OpCumMax, EveryTypeShapeAndAttribute) {
  check_scan(OpId::cum_max, cum_max_case::attrs({}, 0), types_of(ops::cum_max::Types{}), -4, 4, 1,
             [](DType type, const std::vector<double>& v) {
               if (v.empty()) return is_float_type(type) ? -INFINITY : lowest_of(type);
               return *std::max_element(v.begin(), v.end());
             });
}

TEST(OpCumMax, RunningMinimum) {
  check_scan(OpId::cum_max, cum_max_case::attrs({}, 1), types_of(ops::cum_max::Types{}), -4, 4, 1,
             [](DType type, const std::vector<double>& v) {
               if (v.empty()) return is_float_type(type) ? INFINITY : highest_of(type);
               return *std::min_element(v.begin(), v.end());
             });
}

TEST(OpCumMax, IndicesNameTheLatestExtreme) {
  const Array x = Array::of<int32_t>({2, 5}, {1, 3, 2, 3, 0, 5, 4, 5, 6, 6});
  auto r = run(OpId::cum_max, cum_max_case::attrs({1, 0, 0}, 0), {x}, 2);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, 3, 3, 3, 3, 5, 5, 5, 6, 6});
  ASSERT_EQ(r.outputs[1].dtype(), DType::s64);
  expect_values(r.outputs[1], {0, 1, 1, 3, 3, 0, 0, 2, 3, 4});
  r = run(OpId::cum_max, cum_max_case::attrs({1, 0, 1}, 1), {x}, 2);
  expect_values(r.outputs[0], {0, 0, 0, 0, 0, 4, 4, 5, 6, 6});
  expect_values(r.outputs[1], {4, 4, 4, 4, 4, 1, 1, 2, 3, 4});
}

TEST(OpCumMax, NanStays) {
  const auto r = run(OpId::cum_max, cum_max_case::attrs({}, 0), {Array::of<float>({6}, {-INFINITY, 1, NAN, 2, NAN, INFINITY})}, 2);
  expect_values(r.outputs[0], {-INFINITY, 1, NAN, NAN, NAN, NAN});
  expect_values(r.outputs[1], {0, 1, 2, 2, 4, 4});
}

TEST(OpCumMax, Refuses) {
  check_scan_refusals(OpId::cum_max, cum_max_case::attrs({}, 0));
  const Array x(DType::f32, {2});
  EXPECT_EQ(run(OpId::cum_max, cum_max_case::attrs({}, 2), {x}).status.why(), Why::kAttribute);
  EXPECT_EQ(run(OpId::cum_max, cum_max_case::attrs({0, 1, 0}, 0), {x}, 2).status.why(), Why::kAttribute);
}

}  // namespace mote::optest
