#include "mote/ops/unique/unique.h"

#include <algorithm>

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using UniqueAttrs = ops::unique::Attrs;

namespace unique_case {
namespace {

using Slice = std::vector<double>;

bool less(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }
bool slice_less(const Slice& a, const Slice& b) { return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), less); }
bool same(const Slice& a, const Slice& b) { return !slice_less(a, b) && !slice_less(b, a); }

std::vector<Slice> slices_of(const Array& x, int axis) {
  std::vector<Slice> all(static_cast<size_t>(axis < 0 ? x.count() : x.shape()[static_cast<size_t>(axis)]));
  size_t flat = 0;
  for_each_index(x.shape(),
                 [&](const Shape& i) { all[axis < 0 ? flat++ : static_cast<size_t>(i[static_cast<size_t>(axis)])].push_back(x.at(i)); });
  return all;
}

void check(const Array& x, int axis, int32_t sorted) {
  const std::vector<Slice> all = slices_of(x, axis);
  const int32_t n = static_cast<int32_t>(all.size());
  std::vector<int32_t> firsts;
  for (int32_t i = 0; i < n; ++i)
    if (std::none_of(firsts.begin(), firsts.end(),
                     [&](int32_t f) { return same(all[static_cast<size_t>(f)], all[static_cast<size_t>(i)]); }))
      firsts.push_back(i);
  const auto before = [&](int32_t a, int32_t b) { return slice_less(all[static_cast<size_t>(a)], all[static_cast<size_t>(b)]); };
  if (sorted != 0) std::sort(firsts.begin(), firsts.end(), before);

  Shape bound = axis < 0 ? Shape{n} : x.shape();
  const auto r = run(OpId::unique, UniqueAttrs{axis < 0 ? 0 : axis, axis < 0 ? 0 : 1, sorted}, {x}, bounded({bound, {n}, {n}, {n}}));
  ASSERT_TRUE(r.ok()) << r.message();
  ASSERT_EQ(r.outputs[1].count(), static_cast<int64_t>(firsts.size()));
  const std::vector<Slice> found = slices_of(r.outputs[0], axis < 0 ? -1 : axis);
  ASSERT_EQ(found.size(), firsts.size());
  for (size_t i = 0; i < firsts.size(); ++i) {
    const Slice& slice = all[static_cast<size_t>(firsts[i])];
    EXPECT_TRUE(same(found[i], slice));
    EXPECT_EQ(r.outputs[1].get(static_cast<int64_t>(i)), firsts[i]);
    EXPECT_EQ(r.outputs[3].get(static_cast<int64_t>(i)),
              std::count_if(all.begin(), all.end(), [&](const Slice& s) { return same(s, slice); }));
  }
  for (int32_t i = 0; i < n; ++i) EXPECT_TRUE(same(found[static_cast<size_t>(r.outputs[2].get(i))], all[static_cast<size_t>(i)]));
}

}  // namespace
}  // namespace unique_case

TEST(OpUnique, ElementsAndSlicesOfEveryType) {
  for (DType type : all_types()) {
    for (const Shape& shape : {Shape{}, Shape{12}, Shape{0}, Shape{5, 2}, Shape{2, 3, 2}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
      Array x = Array::random(type, shape, 3, -1, 1);
      for (int64_t i = 0; i < x.count(); ++i) x.set(i, std::round(x.get(i)));
      if ((mask_of(type) & kFloat) != 0 && x.count() > 3) x.set(0, NAN), x.set(1, -0.0), x.set(3, NAN);
      for (int32_t sorted : {0, 1})
        for (int axis = -1; axis < static_cast<int>(shape.size()); ++axis) unique_case::check(x, axis, sorted);
    }
  }
}

TEST(OpUnique, OtherOutputsMayBeLeftOut) {
  expect_values(run(OpId::unique, UniqueAttrs{}, {Array::of<float>({4}, {2, 1, 2, 1})}, bounded({{4}})).outputs[0], {1, 2});
}

TEST(OpUnique, Refuses) {
  EXPECT_EQ(run(OpId::unique, UniqueAttrs{1, 1, 1}, {Array::of<float>({1}, {2})}, bounded({{4}})).status.why(), Why::kAxis);
  EXPECT_EQ(run(OpId::unique, UniqueAttrs{}, {Array::of<float>({3}, {2, 1, 3})}, bounded({{2}})).status.why(), Why::kBound);
}

}  // namespace mote::optest
