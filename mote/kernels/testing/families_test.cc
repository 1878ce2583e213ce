// Every family of kernels with 1 to 130 channels, so that every tail of every register width occurs, for every ISA variant of this machine:
// integers bit-exact, floats within a bound. The harness lets the output alias each input that a verified program may alias, residuals
// included; with threads, no two parts may write the same bytes. Every operator of kernels.def must be in a family.

#include "mote/kernels/testing/families.h"

#include <cstring>
#include <set>

#include "mote/ops/matmul/matmul.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::kerneltest {
namespace {

constexpr int32_t kMostChannels = 130;

std::vector<Family> families() {
  std::vector<Family> all;
  add_product_families(&all);
  add_quantized_families(&all);
  add_element_families(&all);
  add_move_families(&all);
  return all;
}

// Around the multiples of all register widths, and a few others.
bool is_edge(int32_t channels) { return channels % 16 <= 1 || channels % 16 == 15 || channels % 13 == 0; }

class EveryChannelCount : public ::testing::TestWithParam<Family> {};

TEST_P(EveryChannelCount, AgreesInPlaceAndWithThreads) {
  const Family& family = GetParam();
  for (int32_t channels = 1; channels <= kMostChannels && !HasFailure(); ++channels) {
    if (family.heavy && !is_edge(channels) && channels > 8) continue;
    SCOPED_TRACE(testing::Message() << channels << " channels");
    Draw d(static_cast<uint32_t>(channels));
    family.run(d, channels, false);
    // Enough for threads takes longer.
    if (channels % 32 <= 1 || (!family.heavy && (channels % 32 == 31 || channels % 26 == 0))) family.run(d, channels, true);
  }
}
INSTANTIATE_TEST_SUITE_P(Families, EveryChannelCount, ::testing::ValuesIn(families()),
                         [](const ::testing::TestParamInfo<Family>& p) { return p.param.name; });

// Operators that have a line in kernels.def.
struct Listed {
  OpId id;
  const char* name;
};
const Listed kListed[] = {
#define MOTE_KERNEL(family, op, sets) {OpId::op, #op},
#include "mote/kernels/kernels.def"
#undef MOTE_KERNEL
};

// Each family once: the operators that a fast kernel of some instruction set ran for.
TEST(KernelsDef, EveryOperatorIsInAFamily) {
  ran_fast.clear();
  for (const Family& family : families()) {
    SCOPED_TRACE(family.name);
    Draw d(33);
    family.run(d, 33, false);
  }
  bool any = false;
  for (uint8_t i = 1; i < static_cast<uint8_t>(Isa::kCount); ++i) any |= kernels::can_run(static_cast<Isa>(i), cpu_features());
  if (!any) GTEST_SKIP() << "this machine has none of the instruction sets that kernels are compiled for";
  for (const Listed& op : kListed)
    EXPECT_EQ(ran_fast.count(static_cast<uint16_t>(op.id)), 1u)
        << op.name << " has a line in kernels.def and no case here that a fast kernel takes: add one to a families_*_test.cc";
}

// A sum over nothing is the bias, or the zero point; nothing is read and nothing else written.
TEST(EmptyOperands, ProductsOfNothingAreTheBias) {
  for (const int32_t m : {0, 1, 5}) {
    ops::q_matmul::Attrs a;
    a.to = static_cast<uint32_t>(DType::s8), a.output_zero = 11;
    const std::vector<Array> batched{Array(DType::s8, {2, 3, m, 0}), Array(DType::s8, {2, 1, 4, 0}),
                                     Array::from(DType::s32, {4}, {8, 16, 24, -800}), Array::from(DType::f32, {1}, {0.25})};
    expect_equal(OpId::q_matmul, a, batched, {}, false);
    const RunResult r = optest::run(OpId::q_matmul, a, batched);
    ASSERT_TRUE(r.ok()) << r.message();
    const double expected[] = {13, 15, 17, -128};
    for (int64_t i = 0; i < r.outputs[0].count(); ++i) EXPECT_EQ(r.outputs[0].get(i), expected[i % 4]);
    const std::vector<Array> real{Array(DType::f32, {2, m, 0}), Array(DType::f32, {0, 3}), Array::from(DType::f32, {3}, {1, -2, 3})};
    expect_equal(OpId::matmul, ops::matmul::Attrs{}, real, {}, false);
    const RunResult y = optest::run(OpId::matmul, ops::matmul::Attrs{}, real);
    ASSERT_TRUE(y.ok()) << y.message();
    for (int64_t i = 0; i < y.outputs[0].count(); ++i) EXPECT_EQ(y.outputs[0].get(i), (i % 3 == 1 ? -2 : 1 + i % 3));
  }
}

TEST(EmptyOperands, BroadcastsOfNothing) {
  for (const OpId op : {OpId::add, OpId::sub, OpId::mul, OpId::div, OpId::maximum})
    expect_equal(op, NoAttrs{}, {Array(DType::f32, {0, 1, 3}), Array(DType::f32, {5, 3})}, {}, false);
  expect_equal(OpId::equal, NoAttrs{}, {Array(DType::f32, {4, 0, 3}), Array(DType::f32, {1, 3})}, {}, false);
}

// Instruction sets that are built and not tried, by name: no test is silently one of fewer sets.
TEST(InstructionSets, ThatThisMachineLacks) {
  std::string missing;
  for (uint8_t i = 1; i < static_cast<uint8_t>(Isa::kCount); ++i)
    if (!kernels::can_run(static_cast<Isa>(i), cpu_features())) missing += std::string(" ") + kernels::isa_name(static_cast<Isa>(i));
  if (!missing.empty()) GTEST_SKIP() << "this machine has no" << missing << ": their kernels were not tried";
}

}  // namespace
}  // namespace mote::kerneltest
