#include "mote/ops/reverse_sequence/reverse_sequence.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using ReverseSequenceAttrs = ops::reverse_sequence::Attrs;

TEST(OpReverseSequence, TurnsEachSequenceAround) {
  const Array lengths[] = {s64({0, 1, 4}), s32({4, 3, 2})};
  for (DType type : all_types()) {
    for (const Array& length : lengths) {
      const Array time_first = sample(type, {4, 3, 2}, 3), batch_first = sample(type, {3, 2, 4}, 3);
      const auto source = [&](int32_t batch, int32_t t) {
        const int32_t n = static_cast<int32_t>(length.get(batch));
        return t < n ? n - 1 - t : t;
      };
      auto r = run(OpId::reverse_sequence, ReverseSequenceAttrs{}, {time_first, length});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(r.outputs[0], [&](const Shape& i) { return time_first.at({source(i[1], i[0]), i[1], i[2]}); });
      r = run(OpId::reverse_sequence, ReverseSequenceAttrs{0, -1}, {batch_first, length});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(r.outputs[0], [&](const Shape& i) { return batch_first.at({i[0], i[1], source(i[0], i[2])}); });
    }
  }
  EXPECT_TRUE(run(OpId::reverse_sequence, ReverseSequenceAttrs{}, {Array(DType::f32, {3, 0}), Array(DType::s64, {0})}).ok());
}

TEST(OpReverseSequence, Refuses) {
  const Array x = sample(DType::f32, {3, 2}, 1);
  EXPECT_EQ(refusal(OpId::reverse_sequence, ReverseSequenceAttrs{}, {x, s64({1, 4})}), Why::kValue);
  EXPECT_EQ(refusal(OpId::reverse_sequence, ReverseSequenceAttrs{}, {x, s64({-1, 1})}), Why::kValue);
  EXPECT_EQ(refusal(OpId::reverse_sequence, ReverseSequenceAttrs{}, {x, s64({1})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::reverse_sequence, ReverseSequenceAttrs{}, {x, Array(DType::s64, {1, 2})}), Why::kRank);
  EXPECT_EQ(refusal(OpId::reverse_sequence, ReverseSequenceAttrs{1, -1}, {x, s64({1, 1})}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::reverse_sequence, ReverseSequenceAttrs{2, 0}, {x, s64({1, 1})}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::reverse_sequence, ReverseSequenceAttrs{}, {x, x}), Why::kDType);
}

TEST(OpReverseSequence, RankEight) {
  const Array x = sample(DType::s8, {4, 3, 2}, 3), lengths = s64({1, 4, 2});
  expect_same_elements(OpId::reverse_sequence, ReverseSequenceAttrs{1, 0}, {x, lengths}, ReverseSequenceAttrs{4, 1},
                       {x.reshaped({1, 4, 1, 1, 3, 1, 2, 1}), lengths});
}

}  // namespace mote::optest
