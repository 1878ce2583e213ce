#include "mote/ops/tile/tile.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using TileAttrs = ops::tile::Attrs;

TEST(OpTile, RepeatsAlongEveryAxis) {
  struct Case {
    Shape shape;
    TileAttrs a;
  };
  const Case cases[] = {{{}, {}},
                        {{3}, {{2}}},
                        {{2, 3}, {{1, 4}}},
                        {{2, 3}, {{3, 1}}},
                        {{2, 3, 4}, {{2, 3, 2}}},
                        {{2, 3}, {{0, 2}}},
                        {{2, 0}, {{2, 2}}},
                        {{1, 2, 1, 2, 1, 2, 1, 3}, {{2, 2, 1, 1, 2, 1, 2, 2}}}};
  for (DType type : all_types()) {
    for (const Case& k : cases) {
      const Array x = sample(type, k.shape, 3);
      Shape shape = k.shape;
      std::vector<double> repeats;
      for (size_t i = 0; i < shape.size(); ++i) shape[i] *= k.a.repeats[i], repeats.push_back(k.a.repeats[i]);
      for (const auto& r : {run(OpId::tile, k.a, {x}), run(OpId::tile, TileAttrs{}, {x, s64(repeats)})}) {
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], shape);
        expect_oracle(r.outputs[0], [&](const Shape& at) {
          Shape from = at;
          for (size_t i = 0; i < from.size(); ++i) from[i] %= k.shape[i];
          return x.at(from);
        });
      }
    }
  }
}

TEST(OpTile, LeavesSizesOpenAndRefuses) {
  const Array x = sample(DType::f32, {2, 3}, 1);
  EXPECT_EQ(infer_hidden(OpId::tile, TileAttrs{}, {x, s64({1, 2})}, {1}).shape(), (Shape{kDimUnknown, kDimUnknown}));
  EXPECT_EQ(refusal(OpId::tile, TileAttrs{{1, -1}}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::tile, TileAttrs{{0x7fffffff, 2}}, {x}), Why::kShapeOverflow);
  EXPECT_EQ(refusal(OpId::tile, TileAttrs{}, {x, s64({1})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::tile, TileAttrs{}, {x, x}), Why::kDType);
}

}  // namespace mote::optest
