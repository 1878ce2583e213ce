#include "mote/ops/pad/pad.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using PadAttrs = ops::pad::Attrs;

namespace pad_case {
namespace {

// What stands at index i of a line after padding, by walking outwards one step at a time.
double line_value(const std::vector<double>& line, int32_t mode, int32_t i, double value) {
  const int32_t n = static_cast<int32_t>(line.size());
  if (mode == ops::pad::kConstant && (i < 0 || i >= n)) return value;
  int32_t at = 0, way = 1;
  const int32_t steps = std::abs(i);
  if (i < 0) way = -1;
  for (int32_t k = 0; k < steps; ++k) {
    int32_t next = at + way;
    if (next < 0 || next >= n) {
      if (mode == ops::pad::kEdge) next = at;
      else if (mode == ops::pad::kWrap) next = next < 0 ? n - 1 : 0;
      else {
        way = -way;
        next = mode == ops::pad::kSymmetric || n == 1 ? at : at + way;
      }
    }
    at = next;
  }
  return line[static_cast<size_t>(at)];
}

}  // namespace
}  // namespace pad_case

TEST(OpPad, EveryTypeAndMode) {
  for (DType type : all_types()) {
    for (int32_t mode = 0; mode < ops::pad::kModeCount; ++mode) {
      const Array x = sample(type, {3, 4}, 6);
      const auto r = run(OpId::pad, PadAttrs{{2, 1}, {1, 3}, mode, 1}, {x});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], {6, 8});
      expect_oracle(r.outputs[0], [&](const Shape& i) {
        std::vector<double> column;
        for (int32_t k = 0; k < 3; ++k) column.push_back(k);
        const double row = pad_case::line_value(column, mode, i[0] - 2, -1);
        if (row < 0) return 1.0;
        std::vector<double> line;
        for (int32_t k = 0; k < 4; ++k) line.push_back(x.at({static_cast<int32_t>(row), k}));
        return pad_case::line_value(line, mode, i[1] - 1, 1);
      });
    }
  }
}

TEST(OpPad, GoesFurtherThanTheTensorAndCutsOff) {
  for (int32_t mode = 1; mode < ops::pad::kModeCount; ++mode) {
    for (int32_t n = 1; n < 5; ++n) {
      std::vector<double> line;
      for (int32_t i = 0; i < n; ++i) line.push_back(i + 10);
      const auto r = run(OpId::pad, PadAttrs{{11}, {13}, mode, 0}, {Array::from(DType::s32, {n}, line)});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(r.outputs[0], [&](const Shape& i) { return pad_case::line_value(line, mode, i[0] - 11, 0); });
    }
  }
  const Array x = Array::of<float>({5}, {1, 2, 3, 4, 5});
  expect_values(run(OpId::pad, PadAttrs{{-1}, {-2}, 0, 0}, {x}).outputs[0], {2, 3});
  expect_values(run(OpId::pad, PadAttrs{{-3}, {2}, ops::pad::kWrap, 0}, {x}).outputs[0], {4, 5, 4, 5});
  expect_values(run(OpId::pad, PadAttrs{{2}, {-3}, 0, 9}, {x}).outputs[0], {9, 9, 1, 2});
  EXPECT_EQ(run(OpId::pad, PadAttrs{{-5}, {0}, 1, 0}, {x}).outputs[0].count(), 0);
}

TEST(OpPad, ValueAndPadsMayBeInputs) {
  const Array x = Array::of<int64_t>({1, 2}, {5, 6});
  auto r = run(OpId::pad, PadAttrs{{}, {1}, 0, 3}, {x, Array::scalar(DType::s64, 4611686018427387904.0)});
  expect_values(r.outputs[0], {5, 6, 4611686018427387904.0, 4611686018427387904.0});
  r = run(OpId::pad, PadAttrs{{7}, {7}, 0, 3}, {x, Array::none(), s64({0, 1, 1, 0})});
  expect_shape(r.outputs[0], {2, 3});
  expect_values(r.outputs[0], {3, 5, 6, 3, 3, 3});
  r = run(OpId::pad, PadAttrs{}, {x, Array::none(), s32({1, 2}), s32({-1})});
  expect_values(r.outputs[0], {0, 5, 6, 0, 0});
  EXPECT_EQ(infer_hidden(OpId::pad, PadAttrs{}, {x, Array::none(), s64({0, 1, 1, 0})}, {2}).shape(), (Shape{kDimUnknown, kDimUnknown}));
}

TEST(OpPad, EmptyScalarAndRank8) {
  expect_values(run(OpId::pad, PadAttrs{{1}, {1}, 0, 2}, {Array(DType::f32, {0})}).outputs[0], {2, 2});
  expect_values(run(OpId::pad, PadAttrs{}, {Array::scalar(DType::f16, 2)}).outputs[0], {2});
  const auto r = run(OpId::pad, PadAttrs{{0, 0, 0, 0, 0, 0, 0, 1}, {1}, 0, 2}, {Array::of<uint8_t>({1, 1, 1, 1, 1, 1, 1, 1}, {7})});
  expect_values(r.outputs[0], {2, 7, 2, 2});
  // The value saturates in a narrow type.
  expect_values(run(OpId::pad, PadAttrs{{1}, {}, 0, 1000}, {Array::of<int8_t>({1}, {7})}).outputs[0], {127, 7});
}

TEST(OpPad, Refuses) {
  const Array x = sample(DType::f32, {2, 3}, 6);
  EXPECT_EQ(refusal(OpId::pad, PadAttrs{{}, {}, 5, 0}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::pad, PadAttrs{{}, {}, -1, 0}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::pad, PadAttrs{{-3}, {5}, 0, 0}, {x}), Why::kNegativeDim);
  EXPECT_EQ(refusal(OpId::pad, PadAttrs{{1}, {}, 1, 0}, {Array(DType::f32, {0})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::pad, PadAttrs{{0x7fffffff}, {0x7fffffff}, 0, 0}, {x}), Why::kShapeOverflow);
  EXPECT_EQ(refusal(OpId::pad, PadAttrs{}, {x, Array::scalar(DType::s32, 1)}), Why::kDType);
  EXPECT_EQ(refusal(OpId::pad, PadAttrs{}, {x, sample(DType::f32, {2}, 1)}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::pad, PadAttrs{}, {x, Array::none(), s64({1, 1})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::pad, PadAttrs{}, {x, Array::none(), s64({1, 1}), s64({2})}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::pad, PadAttrs{}, {x, Array::none(), s64({1, 1, 1, 1}), s64({1, -1})}), Why::kAxis);
}

}  // namespace mote::optest
