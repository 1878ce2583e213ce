#include "mote/ops/softmax/softmax.h"

#include <cmath>

#include "mote/ops/testing/harness.h"

namespace mote::optest {

TEST(OpSoftmax, EveryTypeShapeAndAxis) {
  const Shape shapes[] = {{}, {1}, {7}, {3, 5}, {2, 0, 3}, {2, 3, 4}, {1, 2, 1, 2, 1, 2, 1, 3}};
  for (DType type : types_of(ops::softmax::Types{})) {
    for (const Shape& shape : shapes) {
      for (int axis = 0; axis < std::max<int>(1, static_cast<int>(shape.size())); ++axis) {
        const Array x = Array::random(type, shape, 7 + axis, -4, 4);
        const auto r = run(OpId::softmax, ops::softmax::Attrs{axis}, {x});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_oracle(r.outputs[0], [&](const Shape& at) {
          double sum = 0;
          Shape k = at;
          const int n = shape.empty() ? 1 : shape[axis];
          for (int i = 0; i < n; ++i) {
            if (!shape.empty()) k[axis] = i;
            sum += std::exp(x.at(k));
          }
          return std::exp(x.at(at)) / sum;
        });
      }
    }
  }
}

TEST(OpSoftmax, LargeValuesDoNotOverflowAndNanSpreads) {
  auto r = run(OpId::softmax, ops::softmax::Attrs{}, {Array::of<float>({3}, {1000, 1000, -INFINITY})});
  expect_values(r.outputs[0], {0.5, 0.5, 0});
  r = run(OpId::softmax, ops::softmax::Attrs{}, {Array::of<float>({2}, {NAN, 1})});
  expect_values(r.outputs[0], {NAN, NAN});
}

TEST(OpSoftmax, RefusesBadAxis) {
  EXPECT_EQ(run(OpId::softmax, ops::softmax::Attrs{2}, {Array::of<float>({2}, {1, 2})}).status.why(), Why::kAxis);
}

}  // namespace mote::optest
