#include "mote/tools/roofline.h"

#include <gtest/gtest.h>

#include "mote/api/testing/programs.h"
#include "mote/compiler/emit/builder.h"
#include "mote/ops/attention/attention.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/conv_winograd/conv_winograd.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/lstm/lstm.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/ops/reshape/reshape.h"
#include "mote/tools/profile_record.h"

namespace mote::tools {
namespace {

using emit::TensorId;
using program::Cost;

class Costs : public ::testing::Test {
 protected:
  Costs() { b_.begin_method("main"); }
  TensorId zeros(const emit::Dims& dims) {
    size_t n = 1;
    for (int32_t d : dims) n *= static_cast<size_t>(d);
    return b_.constant_f32(dims, std::vector<float>(n));
  }
  // Of instruction i, as the records have it and as the file has it.
  Cost cost(size_t i = 0) {
    EXPECT_TRUE(b_.ok()) << b_.error();
    const Cost before = program::cost_of(program::CostSource(b_.records()), b_.records().instructions[i]);
    const emit::FileBytes file = api_test::finish(b_);
    ProgramTable t;
    EXPECT_TRUE(read_table(file.span(), file.size, &t, nullptr).ok());
    const Cost c = program::cost_of(program::CostSource(t), t.instructions[i]);
    EXPECT_EQ(c.macs, before.macs);
    if (t.instructions.size == 1) {
      EXPECT_EQ(t.certificate->macs, c.macs);
      EXPECT_EQ(t.certificate->bytes_moved, c.bytes());
    }
    return c;
  }
  emit::ProgramBuilder b_;
};

TEST_F(Costs, MatrixProduct) {
  const TensorId x = b_.input("x", DType::f32, {5, 7});
  b_.output("y", b_.op(OpId::matmul, ops::matmul::Attrs{}, {x, zeros({7, 3})}));
  const Cost c = cost();
  EXPECT_EQ(c.macs, 5u * 7 * 3);
  EXPECT_EQ(c.products, c.macs);
  EXPECT_EQ(c.read_bytes, 5u * 7 * 4);
  EXPECT_EQ(c.constant_bytes, 7u * 3 * 4);
  EXPECT_EQ(c.written_bytes, 5u * 3 * 4);
  EXPECT_FALSE(c.integer);
}

// Products of batches, counted one by one as the definition has them.
uint64_t count_products(const emit::Dims& y, int32_t k) {
  uint64_t n = 0, rows = 1;
  for (size_t i = 0; i + 1 < y.size(); ++i) rows *= static_cast<uint64_t>(y[i]);
  for (uint64_t row = 0; row < rows; ++row)
    for (int32_t column = 0; column < y.back(); ++column) n += static_cast<uint64_t>(k);
  return n;
}

TEST_F(Costs, BatchedProductsMeetTheirOwnWeights) {
  struct Case {
    emit::Dims x, w, y;  // w (..., n, k)
  };
  const int32_t k = 6;
  const Case cases[] = {{{5, k}, {3, k}, {5, 3}},
                        {{2, 5, k}, {3, k}, {2, 5, 3}},
                        {{4, 5, k}, {4, 3, k}, {4, 5, 3}},
                        {{2, 1, 5, k}, {2, 7, 3, k}, {2, 7, 5, 3}},
                        {{2, 7, 5, k}, {2, 1, 3, k}, {2, 7, 5, 3}},
                        {{5, k}, {2, 7, 3, k}, {2, 7, 5, 3}}};
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::s32);
  size_t at = 0;
  for (const Case& c : cases) {
    const std::string number = std::to_string(at);
    const TensorId x = b_.input("x" + number, DType::s8, c.x), w = b_.input("w" + number, DType::s8, c.w);
    b_.output("y" + number, b_.op(OpId::q_matmul, a, {x, w}));
    const program::CostSource source(b_.records());
    EXPECT_EQ(program::cost_of(source, b_.records().instructions[at++]).macs, count_products(c.y, k)) << "q_matmul, case " << number;
    emit::Dims right = c.w;
    std::swap(right[right.size() - 1], right[right.size() - 2]);
    const TensorId p = b_.input("p" + number, DType::f32, c.x), q = b_.input("q" + number, DType::f32, right);
    b_.output("z" + number, b_.op(OpId::matmul, ops::matmul::Attrs{}, {p, q}));
    const program::CostSource both(b_.records());
    EXPECT_EQ(program::cost_of(both, b_.records().instructions[at++]).macs, count_products(c.y, k)) << "matmul, case " << number;
  }
  ASSERT_TRUE(b_.ok()) << b_.error();
}

// Every input element of a group meets the kernel of every output of that group.
TEST_F(Costs, GroupsOfTransposedConvolutions) {
  for (const int32_t groups : {1, 2, 4}) {
    const int32_t channels = 8, outputs = 12, height = 3, width = 5, kernel = 2;
    uint64_t expected = 0;
    for (int32_t i = 0; i < height * width; ++i)
      for (int32_t c = 0; c < channels; ++c)
        for (int32_t o = 0; o < outputs; ++o)
          if (c / (channels / groups) == o / (outputs / groups)) expected += kernel * kernel;
    ops::conv_transpose::Attrs a;
    a.groups = groups;
    const std::string number = std::to_string(groups);
    const TensorId x = b_.input("x" + number, DType::f32, {1, height, width, channels});
    b_.output("y" + number, b_.op(OpId::conv_transpose, a, {x, zeros({outputs, kernel, kernel, channels / groups})}));
    ASSERT_TRUE(b_.ok()) << b_.error();
    const program::CostSource source(b_.records());
    EXPECT_EQ(program::cost_of(source, b_.records().instructions.back()).macs, expected) << groups << " groups";
  }
}

TEST_F(Costs, ProductOfIntegers) {
  const TensorId x = b_.input("x", DType::s32, {5, 7}), w = b_.input("w", DType::s32, {7, 3});
  b_.output("y", b_.op(OpId::matmul, ops::matmul::Attrs{}, {x, w}));
  EXPECT_TRUE(cost().integer);
}

TEST_F(Costs, GroupsOfConvolutions) {
  ops::conv::Attrs a;
  a.groups = 6;
  b_.output("y", b_.op(OpId::conv, a, {b_.input("x", DType::f32, {1, 5, 5, 6}), zeros({6, 3, 3, 1})}));
  EXPECT_EQ(cost().macs, 3u * 3 * 6 * 9);
}

TEST_F(Costs, WinogradCountsAsTheConvolutionThatItIs) {
  ops::conv_winograd::Attrs a;
  for (int i = 0; i < 2; ++i) a.pads_begin[i] = a.pads_end[i] = 1;
  const TensorId w = b_.constant(DType::f32, {36 * 16, 8}, std::vector<float>(36 * 16 * 8).data(), Layout::kPanel16);
  b_.output("y", b_.ops(OpId::conv_winograd, a, {b_.input("x", DType::f32, {1, 8, 8, 8}), w}, 2).at(0));
  const Cost c = cost();
  EXPECT_EQ(c.macs, 8u * 8 * 16 * 9 * 8);
  EXPECT_EQ(c.products, 2u * 2 * 36 * 16 * 8);
}

TEST_F(Costs, CausalAttentionNeedsHalf) {
  ops::attention::Attrs a;
  a.is_causal = 1;
  const TensorId q = b_.input("q", DType::f32, {1, 2, 4, 8});
  b_.output("y", b_.op(OpId::attention, a, {q, q, q}));
  const Cost c = cost();
  EXPECT_EQ(c.macs, 2u * 4 * 4 * 16);
  EXPECT_EQ(c.products, 2u * (1 + 2 + 3 + 4) * 16);
}

TEST_F(Costs, RecurrentLayersMeetTheirWeightsAtEveryStep) {
  const TensorId x = b_.input("x", DType::f32, {10, 1, 3});
  const auto y = b_.ops(OpId::lstm, ops::lstm::Attrs{}, {x, zeros({1, 16, 3}), zeros({1, 16, 4})}, 1);
  b_.output("y", y.at(0));
  EXPECT_EQ(cost().macs, 10u * (16 * 3 + 16 * 4));
}

TEST_F(Costs, GatherReadsWhatItTakes) {
  const TensorId indices = b_.input("i", DType::s32, {2});
  b_.output("y", b_.op(OpId::gather, ops::gather::Attrs{}, {zeros({1000, 8}), indices}));
  const Cost c = cost();
  EXPECT_EQ(c.macs, 0u);
  EXPECT_EQ(c.constant_bytes, 2u * 8 * 4);
  EXPECT_EQ(c.written_bytes, 2u * 8 * 4);
}

TEST_F(Costs, ViewsMoveNothing) {
  const TensorId x = b_.input("x", DType::f32, {4, 4});
  const TensorId sum = b_.op(OpId::add, NoAttrs{}, {x, x}), same = b_.view(sum, 0, {16}, {4});
  ops::reshape::Attrs a;
  a.dims[0] = 16;
  a.rank = 1;
  b_.op_into(OpId::reshape, a, {sum}, {same});
  b_.output("y", b_.op(OpId::relu, NoAttrs{}, {same}));
  EXPECT_EQ(cost(1).bytes(), 0u);
}

TEST_F(Costs, StripsMakeOnePassInSeveralCalls) {
  const TensorId x = b_.input("x", DType::f32, {1, 8, 4}), y = b_.temp(DType::f32, {1, 8, 4});
  b_.begin_strip(4, {{0, 2, 2}});
  b_.op_into(OpId::relu, NoAttrs{}, {x}, {y});
  b_.end();
  b_.output("y", y);
  EXPECT_TRUE(b_.ok()) << b_.error();
  const std::vector<uint64_t> calls = program::calls_per_pass(program::CostSource(b_.records()));
  EXPECT_EQ(std::vector<uint64_t>(calls.begin(), calls.begin() + 2), (std::vector<uint64_t>{1, 4}));
}

// 100 GFLOP/s, 400 GOP/s; L1 of 1000 bytes at 100 GB/s, memory at 10 (writes at half of it, copies between).
target::Target machine() {
  target::Target t;
  t.cache_bytes = {1000, 0, 0};
  t.one.f32_gflops = 100;
  t.one.int8_gops = 400;
  t.one.bandwidth[target::kL1] = {100, 50, 80};
  t.one.bandwidth[target::kMemory] = {10, 5, 8};
  t.all = t.one;
  return t;
}

Cost some(uint64_t products, uint64_t read, uint64_t constants, uint64_t written, bool integer = false) {
  Cost c;
  c.macs = c.products = products;
  c.read_bytes = read;
  c.constant_bytes = constants;
  c.written_bytes = written;
  c.integer = integer;
  return c;
}

TEST(Roofline, TheSlowerOfArithmeticAndMemory) {
  const Roofline r(machine(), 1, 500);
  const Bound compute = r.of(some(1000000, 400, 0, 0), 1);
  EXPECT_DOUBLE_EQ(compute.us(), 20);  // 2 million operations at 100 per ns
  EXPECT_STREQ(compute.limit(), "compute");
  EXPECT_DOUBLE_EQ(r.of(some(1000000, 400, 0, 0, true), 1).us(), 5);
  const Bound memory = r.of(some(1, 400, 0, 0), 1);
  EXPECT_DOUBLE_EQ(memory.us(), 0.004);
  EXPECT_STREQ(memory.limit(), "L1");
  EXPECT_DOUBLE_EQ(r.of(some(0, 400, 0, 400), 1).us(), 0.01);         // a copy
  EXPECT_DOUBLE_EQ(r.of(some(0, 0, 0, 500), 1).us(), 0.01);           // writes alone
  EXPECT_DOUBLE_EQ(r.of(some(0, 300, 0, 100), 1).memory_us, 0.0045);  // 200 bytes copied, 200 read
  EXPECT_STREQ(r.of(some(0, 0, 0, 0), 1).limit(), "-");
}

TEST(Roofline, WhatIsTooLargeComesFromFurtherAway) {
  const Roofline r(machine(), 1, 500);
  const Bound half = r.of(some(0, 2000, 0, 0), 1);
  EXPECT_DOUBLE_EQ(half.us(), 0.01 + 0.1);
  EXPECT_STREQ(half.limit(), "memory");
  EXPECT_DOUBLE_EQ(r.of(some(0, 2000, 0, 0), 2).us(), 0.02) << "two calls of 1000 bytes";
  // Constants compete with the whole program.
  EXPECT_DOUBLE_EQ(Roofline(machine(), 1, 1000000000).of(some(0, 0, 100, 0), 1).us(), 0.01 * (1 - 1e-6) + 0.001 * 1e-6);
  EXPECT_DOUBLE_EQ(r.of(some(0, 0, 100, 0), 1).us(), 0.001);
}

TEST(Roofline, PercentOfAnInstruction) {
  OpRecord op;
  op.cost = some(1000000, 400, 0, 0);
  op.bound = Roofline(machine(), 1, 500).of(op.cost, 1);
  const Achieved a = achieved(op, 40, 1);
  EXPECT_DOUBLE_EQ(a.gflops, 50);
  EXPECT_DOUBLE_EQ(a.gb_s, 0.01);
  EXPECT_DOUBLE_EQ(a.percent, 50);
  EXPECT_DOUBLE_EQ(achieved(op, 40, 0.5).percent, 25) << "half a pass in the same time";
  EXPECT_EQ(achieved(op, 0, 1).percent, 0);
}

}  // namespace
}  // namespace mote::tools
