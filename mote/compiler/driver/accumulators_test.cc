#include "mote/compiler/driver/accumulators.h"

#include <gtest/gtest.h>

#include "mote/compiler/emit/builder.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::driver {
namespace {

std::vector<Accumulator> accumulators_of(emit::ProgramBuilder& b) {
  emit::FileBytes file;
  std::string error;
  EXPECT_TRUE(b.finish(&file, &error)) << error;
  ProgramTable table;
  Diagnostic d;
  EXPECT_TRUE(read_table(file.span(), file.size, &table, &d).ok());
  return accumulators(table, file.span(), {});
}

ops::q_matmul::Attrs plain_attrs() {
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::s32);
  return a;
}

TEST(Accumulators, AddUpTheWeightsOfTheWorstChannel) {
  emit::ProgramBuilder b;
  b.begin_method("main");
  const std::vector<int8_t> weights = {1, -2, 3, 100, -100, 50};  // two channels of three
  const std::vector<int32_t> bias = {7, -9};
  const emit::TensorId x = b.input("x", DType::s8, {1, 3});
  const emit::TensorId w = b.constant(DType::s8, {2, 3}, weights.data()), c = b.constant(DType::s32, {2}, bias.data());
  b.output("y", b.op(OpId::q_matmul, plain_attrs(), {x, w, c}));
  const std::vector<Accumulator> found = accumulators_of(b);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].bound, 250u * 255 + 9);
  EXPECT_EQ(found[0].products, 3u);
  EXPECT_EQ(found[0].channels, 2u);
  EXPECT_EQ(found[0].bits, 17u) << "63,759 and a sign";
  EXPECT_TRUE(found[0].weights_known);
  EXPECT_TRUE(found[0].fits());
}

TEST(Accumulators, CountTheDistanceFromTheZeroPoint) {
  emit::ProgramBuilder b;
  b.begin_method("main");
  const std::vector<uint8_t> weights = {0, 255, 128};
  ops::q_matmul::Attrs a = plain_attrs();
  a.weight_zero = 128;
  b.output("y", b.op(OpId::q_matmul, a, {b.input("x", DType::u8, {1, 3}), b.constant(DType::u8, {1, 3}, weights.data())}));
  EXPECT_EQ(accumulators_of(b)[0].bound, (128u + 127u + 0u) * 255);
}

// 16-bit activations times 127, 4096 times over, are beyond 32 bits.
TEST(Accumulators, SayWhereASumMayWrap) {
  for (const uint32_t wide : {0u, 1u}) {
    emit::ProgramBuilder b;
    b.begin_method("main");
    const std::vector<int8_t> weights(4096, 127);
    const std::vector<float> scale(1, 1e-6f);
    ops::q_matmul::Attrs a;
    a.wide = wide;
    const emit::TensorId x = b.input("x", DType::s16, {1, 4096}), w = b.constant(DType::s8, {1, 4096}, weights.data());
    b.output("y", b.op(OpId::q_matmul, a, {x, w, emit::kAbsent, b.constant_f32({1}, scale)}));
    const Accumulator found = accumulators_of(b)[0];
    EXPECT_EQ(found.bound, uint64_t{4096} * 127 * 65535);
    EXPECT_EQ(found.width, wide != 0 ? 64u : 32u);
    EXPECT_EQ(found.fits(), wide != 0);
  }
}

TEST(Accumulators, TakeTheWidestWeightsWhereOnlyRunningTells) {
  emit::ProgramBuilder b;
  b.begin_method("main");
  b.output("y", b.op(OpId::q_matmul, plain_attrs(), {b.input("x", DType::s8, {1, 10}), b.input("w", DType::s8, {4, 10})}));
  const Accumulator found = accumulators_of(b)[0];
  EXPECT_FALSE(found.weights_known);
  EXPECT_EQ(found.bound, 10u * 255 * 255);
}

TEST(Accumulators, OfAConvolutionGoOverItsWindow) {
  emit::ProgramBuilder b;
  b.begin_method("main");
  std::vector<int8_t> weights(2 * 3 * 3 * 4, 1);
  weights[40] = -128;  // of the second channel
  ops::q_conv::Attrs a;
  a.to = static_cast<uint32_t>(DType::s32);
  b.output("y", b.op(OpId::q_conv, a, {b.input("x", DType::s8, {1, 5, 5, 4}), b.constant(DType::s8, {2, 3, 3, 4}, weights.data())}));
  const Accumulator found = accumulators_of(b)[0];
  EXPECT_EQ(found.products, 36u);
  EXPECT_EQ(found.bound, (35u + 128u) * 255);
}

}  // namespace
}  // namespace mote::driver
