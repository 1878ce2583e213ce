#include "mote/ops/log_softmax/log_softmax.h"

#include <algorithm>
#include <cmath>

#include "mote/ops/testing/harness.h"

namespace mote::optest {

TEST(OpLogSoftmax, EveryTypeShapeAndAxis) {
  const Shape shapes[] = {{}, {1}, {7}, {3, 5}, {2, 0, 3}, {2, 3, 4}, {1, 2, 1, 2, 1, 2, 1, 3}};
  RunOptions options;
  options.in_place = true;
  for (DType type : types_of(ops::log_softmax::Types{})) {
    for (const Shape& shape : shapes) {
      for (int axis = 0; axis < std::max<int>(1, static_cast<int>(shape.size())); ++axis) {
        const Array x = Array::random(type, shape, 7 + static_cast<uint32_t>(axis), -4, 4);
        const auto r = run(OpId::log_softmax, ops::log_softmax::Attrs{axis}, {x}, options);
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], shape);
        expect_oracle(r.outputs[0], [&](const Shape& at) {
          double sum = 0;
          Shape k = at;
          const int n = shape.empty() ? 1 : shape[static_cast<size_t>(axis)];
          for (int i = 0; i < n; ++i) {
            if (!shape.empty()) k[static_cast<size_t>(axis)] = i;
            sum += std::exp(x.at(k));
          }
          return x.at(at) - std::log(sum);
        });
      }
    }
  }
}

TEST(OpLogSoftmax, LargeValuesDoNotOverflowAndNanSpreads) {
  auto r = run(OpId::log_softmax, ops::log_softmax::Attrs{}, {Array::of<float>({3}, {1000, 1000, -INFINITY})});
  expect_values(r.outputs[0], {-std::log(2.0), -std::log(2.0), -INFINITY});
  r = run(OpId::log_softmax, ops::log_softmax::Attrs{}, {Array::of<float>({2}, {NAN, 1})});
  expect_values(r.outputs[0], {NAN, NAN});
}

TEST(OpLogSoftmax, Refuses) {
  EXPECT_EQ(run(OpId::log_softmax, ops::log_softmax::Attrs{2}, {Array(DType::f32, {2})}).status.why(), Why::kAxis);
  EXPECT_EQ(run(OpId::log_softmax, ops::log_softmax::Attrs{}, {Array(DType::s32, {2})}).status.why(), Why::kDType);
}

}  // namespace mote::optest
