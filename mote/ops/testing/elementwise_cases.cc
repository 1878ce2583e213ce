#include "mote/ops/testing/elementwise_cases.h"

#include <limits>

namespace mote::optest {
namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

const Shape kShapes[] = {{}, {1}, {9}, {0}, {2, 0, 3}, {2, 3}, {2, 3, 4}, {1, 2, 1, 2, 1, 2, 1, 3}};

bool is_float(DType t) { return (mask_of(t) & kFloat) != 0; }

}  // namespace

void check_unary_bytes(OpId op, const void* attrs, size_t attrs_bytes, const std::vector<DType>& types,
                       const std::function<double(double)>& oracle, const ElementwiseOptions& o) {
  RunOptions options;
  options.in_place = o.in_place;
  for (DType type : types) {
    SCOPED_TRACE(dtype_name(type));
    uint32_t seed = 1;
    for (const Shape& shape : kShapes) {
      const Array x = Array::random(type, shape, seed++, o.lo, o.hi);
      const auto r = run_bytes(op, attrs, attrs_bytes, {x}, options);
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], shape);
      expect_oracle(
          r.outputs[0], [&](const Shape& i) { return oracle(x.at(i)); }, o.scale);
    }
    if (!o.specials || !is_float(type)) continue;
    const Array x = Array::from(type, {5}, {kNan, kInf, -kInf, 0.0, -0.0});
    const auto r = run_bytes(op, attrs, attrs_bytes, {x}, options);
    ASSERT_TRUE(r.ok()) << r.message();
    expect_oracle(
        r.outputs[0], [&](const Shape& i) { return oracle(x.at(i)); }, o.scale);
  }
}

void check_binary_bytes(OpId op, const void* attrs, size_t attrs_bytes, const std::vector<DType>& types,
                        const std::function<double(double, double)>& oracle, const ElementwiseOptions& o) {
  struct Pair {
    Shape a, b, y;
  };
  const Pair pairs[] = {{{}, {}, {}},
                        {{9}, {9}, {9}},
                        {{2, 3}, {3}, {2, 3}},
                        {{3}, {2, 1}, {2, 3}},
                        {{2, 3, 4}, {}, {2, 3, 4}},
                        {{}, {2, 2}, {2, 2}},
                        {{2, 1, 4}, {1, 3, 1}, {2, 3, 4}},
                        {{0}, {1}, {0}},
                        {{2, 0, 3}, {3}, {2, 0, 3}},
                        {{1, 2, 1, 2, 1, 2, 1, 3}, {2, 1, 2, 1, 2, 1, 2, 1}, {2, 2, 2, 2, 2, 2, 2, 3}}};
  auto right = [](const Array& a, const Shape& at) {
    Shape i(a.shape().size());
    for (size_t k = 0; k < i.size(); ++k) i[k] = a.shape()[k] == 1 ? 0 : at[at.size() - i.size() + k];
    return a.at(i);
  };
  for (DType type : types) {
    SCOPED_TRACE(dtype_name(type));
    uint32_t seed = 1;
    for (const Pair& p : pairs) {
      const Array a = Array::random(type, p.a, seed, o.lo, o.hi), b = Array::random(type, p.b, seed + 100, o.lo2, o.hi2);
      ++seed;
      RunOptions options;
      options.in_place = o.in_place && p.a == p.y;
      const auto r = run_bytes(op, attrs, attrs_bytes, {a, b}, options);
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], p.y);
      expect_oracle(
          r.outputs[0], [&](const Shape& i) { return oracle(right(a, i), right(b, i)); }, o.scale);
    }
    EXPECT_EQ(run_bytes(op, attrs, attrs_bytes, {Array::random(type, {2, 3}, 1), Array::random(type, {2}, 2)}, {}).status.why(),
              Why::kBroadcast);
    if (!o.specials || !is_float(type)) continue;
    const std::vector<double> s = {kNan, kInf, -kInf, 0.0, -0.0, 1.5, -2};
    const int32_t n = static_cast<int32_t>(s.size());
    const Array a = Array::from(type, {n, 1}, s), b = Array::from(type, {n}, s);
    const auto r = run_bytes(op, attrs, attrs_bytes, {a, b}, {});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_oracle(
        r.outputs[0], [&](const Shape& i) { return oracle(a.get(i[0]), b.get(i[1])); }, o.scale);
  }
}

}  // namespace mote::optest
