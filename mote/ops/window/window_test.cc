#include "mote/ops/window/window.h"

#include "mote/ops/testing/harness.h"

namespace mote::optest {

TEST(OpWindow, EveryKindTypeAndSize) {
  for (DType type : types_of(ops::window::Types{}))
    for (int kind = 0; kind < 4; ++kind)
      for (int periodic : {0, 1})
        for (int size : {0, 1, 2, 5, 16}) {
          const ops::window::Attrs a{kind, size, periodic, static_cast<int32_t>(type), 0.54f, 0.46f, 0.1f};
          const auto r = run(OpId::window, a, {});
          ASSERT_TRUE(r.ok()) << r.message();
          ASSERT_EQ(r.outputs[0].dtype(), type);
          expect_shape(r.outputs[0], {size});
          expect_oracle(r.outputs[0], [&](const Shape& at) {
            if (size == 1) return 1.0;
            const double t = M_PI * at[0] / (size - 1 + periodic);
            switch (kind) {
              case 0: return std::sin(t) * std::sin(t);
              case 1: return 25.0 / 46 - 21.0 / 46 * std::cos(2 * t);
              case 2: return 0.42 - 0.5 * std::cos(2 * t) + 0.08 * std::cos(4 * t);
              default:
                return static_cast<double>(a.a0) - static_cast<double>(a.a1) * std::cos(2 * t) +
                       static_cast<double>(a.a2) * std::cos(4 * t);
            }
          });
        }
}

TEST(OpWindow, ConstantsPassAsTheyAre) {
  const auto r = run(OpId::window, ops::window::Attrs{3, 3, 1, static_cast<int32_t>(DType::f32), INFINITY, 0, 0}, {});
  expect_values(r.outputs[0], {INFINITY, INFINITY, INFINITY});
}

TEST(OpWindow, RefusesBadAttributes) {
  using ops::window::Attrs;
  const auto why = [](const Attrs& a) { return run(OpId::window, a, {}).status.why(); };
  const int f32 = static_cast<int32_t>(DType::f32), f64 = static_cast<int32_t>(DType::f64);
  EXPECT_EQ(why({4, 5, 0, f32, 0, 0, 0}), Why::kAttribute);
  EXPECT_EQ(why({0, -5, 0, f32, 0, 0, 0}), Why::kAttribute);
  EXPECT_EQ(why({0, 5, 2, f32, 0, 0, 0}), Why::kAttribute);
  EXPECT_EQ(why({0, 5, 0, static_cast<int32_t>(DType::s8), 0, 0, 0}), Why::kDType);
  EXPECT_EQ(why({0, 5, 0, -1, 0, 0, 0}), Why::kDType);
  EXPECT_EQ(why({0, 5, 0, 99, 0, 0, 0}), Why::kDType);
  EXPECT_EQ(why({0, 0x7fffffff, 0, f64, 0, 0, 0}), Why::kShapeOverflow);
}

}  // namespace mote::optest
