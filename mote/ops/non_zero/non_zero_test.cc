#include "mote/ops/non_zero/non_zero.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

TEST(OpNonZero, ListsIndicesInOrder) {
  for (DType type : all_types()) {
    for (const Shape& shape : {Shape{}, Shape{7}, Shape{2, 0}, Shape{3, 4}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
      Array x = Array::random(type, shape, 3, 0, 1);
      for (int64_t i = 0; i < x.count(); i += 2) x.set(i, 0);
      if ((mask_of(type) & kFloat) != 0 && x.count() > 3) x.set(0, NAN), x.set(1, -0.0), x.set(2, INFINITY);
      std::vector<Shape> expected;
      for_each_index(shape, [&](const Shape& i) {
        if (x.at(i) != 0) expected.push_back(i);
      });
      const int32_t rank = static_cast<int32_t>(shape.size()), n = static_cast<int32_t>(x.count()),
                    found = static_cast<int32_t>(expected.size());
      for (int32_t transpose : {0, 1}) {
        const auto r =
            run(OpId::non_zero, ops::non_zero::Attrs{transpose}, {x}, bounded({transpose != 0 ? Shape{n, rank} : Shape{rank, n}}));
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], transpose != 0 ? Shape{found, rank} : Shape{rank, found});
        expect_oracle(r.outputs[0], [&](const Shape& at) {
          const size_t element = static_cast<size_t>(at[transpose != 0 ? 0 : 1]), axis = static_cast<size_t>(at[transpose != 0 ? 1 : 0]);
          return expected[element][axis];
        });
      }
    }
  }
}

TEST(OpNonZero, RefusesMoreThanTheBound) {
  EXPECT_EQ(run(OpId::non_zero, ops::non_zero::Attrs{}, {Array::of<float>({3}, {1, 1, 1})}, bounded({{1, 2}})).status.why(), Why::kBound);
}

}  // namespace mote::optest
