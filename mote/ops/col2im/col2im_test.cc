#include "mote/ops/col2im/col2im.h"

#include "mote/ops/testing/harness.h"

namespace mote::optest {
namespace col2im_case {
namespace {

using Attrs = ops::col2im::Attrs;
struct Case {
  Shape x, y, grid;
  Attrs a;
};
const Case kCases[] = {{{2, 4, 3, 2}, {2, 6, 2}, {4}, {1, {6}, {3}, {1}, {1}, {0}, {0}}},
                       {{1, 9, 4, 2}, {1, 5, 6, 2}, {3, 3}, {2, {5, 6}, {2, 2}, {2, 2}, {1, 1}, {1, 0}, {0, 0}}},
                       {{1, 15, 6, 1}, {1, 5, 5, 1}, {5, 3}, {2, {5, 5}, {2, 3}, {1, 2}, {2, 1}, {1, 1}, {1, 1}}},
                       {{1, 8, 8, 2}, {1, 3, 3, 3, 2}, {2, 2, 2}, {3, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {}, {}}},
                       {{0, 4, 3, 2}, {0, 6, 2}, {4}, {1, {6}, {3}, {1}, {1}, {0}, {0}}},
                       {{1, 4, 3, 0}, {1, 6, 0}, {4}, {1, {6}, {3}, {1}, {1}, {0}, {0}}},
                       {{1, 2, 1, 1}, {1, 5, 1}, {2}, {1, {5}, {1}, {4}, {1}, {0}, {0}}}};

}  // namespace
}  // namespace col2im_case

TEST(OpCol2im, EveryTypeAndGeometry) {
  using namespace col2im_case;
  for (DType type : types_of(ops::col2im::Types{})) {
    for (const Case& t : kCases) {
      SCOPED_TRACE(std::string(dtype_name(type)) + ::testing::PrintToString(t.x));
      const Array x = Array::random(type, t.x, 1);
      const auto r = run(OpId::col2im, t.a, {x});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], t.y);
      Array expected(DType::f64, t.y);
      Shape counts = t.grid;
      counts.insert(counts.end(), t.a.kernel, t.a.kernel + t.a.spatial);
      const size_t s = t.grid.size();
      for (int32_t n = 0; n < t.x[0]; ++n) {
        for_each_index(counts, [&](const Shape& i) {
          Shape to = {n};
          int32_t position = 0, tap = 0;
          for (size_t d = 0; d < s; ++d) {
            position = position * t.grid[d] + i[d];
            tap = tap * t.a.kernel[d] + i[s + d];
            to.push_back(i[d] * t.a.strides[d] + i[s + d] * t.a.dilations[d] - t.a.pads_begin[d]);
            if (to.back() < 0 || to.back() >= t.y[d + 1]) return;
          }
          to.push_back(0);
          for (; to.back() < t.x[3]; ++to.back())
            expected.set(expected.flat_index(to), expected.at(to) + x.at({n, position, tap, to.back()}));
        });
      }
      expect_oracle(
          r.outputs[0], [&](const Shape& at) { return expected.at(at); }, 8);
    }
  }
}

TEST(OpCol2im, SizesFromInputsReplaceAttributes) {
  using namespace col2im_case;
  for (const Case& t : kCases) {
    const Array x = Array::random(DType::f32, t.x, 1);
    const std::vector<double> dims(t.a.dims, t.a.dims + t.a.spatial), kernel(t.a.kernel, t.a.kernel + t.a.spatial);
    Attrs other = t.a;
    for (int i = 0; i < 3; ++i) other.dims[i] = other.kernel[i] = 9;
    const auto r = run(OpId::col2im, other, {x, Array::of<int64_t>({t.a.spatial}, dims), Array::of<int64_t>({t.a.spatial}, kernel)});
    ASSERT_TRUE(r.ok()) << r.message();
    const auto expected = run(OpId::col2im, t.a, {x});
    expect_shape(r.outputs[0], t.y);
    expect_oracle(
        r.outputs[0], [&](const Shape& at) { return expected.outputs[0].at(at); }, 0);
  }
  const Array x = Array::random(DType::f32, {1, 4, 3, 2}, 1);
  const Attrs a{1, {6}, {3}, {1}, {1}, {0}, {0}};
  EXPECT_EQ(run(OpId::col2im, a, {x, Array::of<int64_t>({2}, {6, 6})}).status.why(), Why::kDimMismatch);
  EXPECT_EQ(run(OpId::col2im, a, {x, Array::of<int64_t>({1}, {-6})}).status.why(), Why::kNegativeDim);
  EXPECT_EQ(run(OpId::col2im, a, {x, Array::of<float>({1}, {6})}).status.why(), Why::kDType);
}

TEST(OpCol2im, NanSpreadsAndIntegersWrap) {
  using namespace col2im_case;
  const Attrs a{1, {3}, {2}, {1}, {1}, {0}, {0}};
  expect_values(run(OpId::col2im, a, {Array::of<float>({1, 2, 2, 1}, {1, NAN, 2, INFINITY})}).outputs[0], {1, NAN, INFINITY});
  expect_values(run(OpId::col2im, a, {Array::of<int8_t>({1, 2, 2, 1}, {1, 100, 100, 5})}).outputs[0], {1, -56, 5});
}

TEST(OpCol2im, Refuses) {
  using namespace col2im_case;
  const Array x = Array::random(DType::f32, {1, 4, 3, 2}, 1);
  const auto with = [&](auto change) {
    Attrs a{1, {6}, {3}, {1}, {1}, {0}, {0}};
    change(a);
    return run(OpId::col2im, a, {x}).status.why();
  };
  EXPECT_EQ(with([](Attrs& a) { a.spatial = 0; }), Why::kAttribute);
  EXPECT_EQ(with([](Attrs& a) { a.spatial = 4; }), Why::kAttribute);
  EXPECT_EQ(with([](Attrs& a) { a.dims[0] = -1; }), Why::kNegativeDim);
  EXPECT_EQ(with([](Attrs& a) { a.dims[0] = 7; }), Why::kDimMismatch);
  EXPECT_EQ(with([](Attrs& a) { a.dims[0] = 5, a.kernel[0] = 2; }), Why::kDimMismatch);
  EXPECT_EQ(with([](Attrs& a) { a.kernel[0] = 7; }), Why::kWindow);
  EXPECT_EQ(with([](Attrs& a) { a.strides[0] = 0; }), Why::kWindow);
  Attrs huge{2, {1 << 20, 1 << 20}, {1, 1}, {1, 1}, {1, 1}, {}, {}};
  EXPECT_EQ(run(OpId::col2im, huge, {x}).status.why(), Why::kShapeOverflow);
  EXPECT_EQ(run(OpId::col2im, Attrs{}, {Array::random(DType::f32, {1, 4, 3}, 1)}).status.why(), Why::kRank);
  EXPECT_EQ(run(OpId::col2im, Attrs{}, {Array::random(DType::boolean, {1, 4, 3, 1}, 1)}).status.why(), Why::kDType);
}

}  // namespace mote::optest
