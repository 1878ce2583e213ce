// What is decided and written without a device.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "mote/backends/opencl/blob.h"
#include "mote/backends/opencl/families.h"
#include "mote/backends/opencl/half_math.h"
#include "mote/backends/opencl/products.h"
#include "mote/backends/opencl/tuning.h"
#include "mote/backends/opencl/winograd.h"
#include "mote/core/half.h"
#include "mote/core/layout.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/op_id.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::backends::opencl {
namespace {

// The end of a blob is read back, and no number in it is believed.
TEST(OpenClPlan, BlobsCarryWhatWasFoundOut) {
  const BlobEnd end{{1, 0, 1}, "groups"};
  std::vector<uint8_t> blob(100, 7);
  const std::vector<uint8_t> bytes = bytes_of(end);
  blob.insert(blob.end(), bytes.begin(), bytes.end());
  BlobEnd found;
  uint64_t program = 0;
  ASSERT_TRUE(read_blob(blob.data(), blob.size(), &program, &found));
  EXPECT_EQ(program, 100u);
  EXPECT_EQ(found.narrow, end.narrow);
  EXPECT_EQ(found.tuning, end.tuning);
  blob[blob.size() - 16] = 200;
  EXPECT_FALSE(read_blob(blob.data(), blob.size(), &program, &found));
  EXPECT_FALSE(read_blob(blob.data(), 3, &program, &found));
}

// Sizes that were found are taken on the same device and driver, for the same launches, and no others.
TEST(OpenClPlan, TunedGroupsAreForTheirDevice) {
  Device d;
  d.name = "some GPU", d.driver = "7.1";
  const auto plan_with = [](const char* kernel, size_t x, size_t y) {
    Plan p;
    Launch l;
    l.kernel = kernel;
    l.wanted[0] = l.global[0] = x, l.wanted[1] = l.global[1] = y, l.local[0] = 32, l.local[1] = 4, l.local[2] = 1;
    p.launches.push_back(l);
    return p;
  };
  const std::string text = "groups 1\tsome GPU\t7.1\ndepthwise 0 96 50 1 16 16 1\n";
  Plan p = plan_with("depthwise", 96, 50);
  ASSERT_TRUE(apply_tuning(text, d, &p));
  EXPECT_EQ(p.launches[0].local[0], 16u);
  EXPECT_EQ(p.launches[0].global[1], 64u) << "rounded up to whole groups";
  Plan other = plan_with("depthwise", 97, 50), fixed = plan_with("softmax", 96, 50);
  ASSERT_TRUE(apply_tuning(text, d, &other) && apply_tuning(text + "softmax 0 96 50 1 16 16 1\n", d, &fixed));
  EXPECT_EQ(other.launches[0].local[0], 32u);
  EXPECT_EQ(fixed.launches[0].local[0], 32u) << "a kernel of one size";
  EXPECT_FALSE(apply_tuning("groups 1\tsome GPU\t7.2\n", d, &p));
  EXPECT_FALSE(apply_tuning("groups 1\tsome GPU\t7.1\ndepthwise 0 96 50 1 4000 1 1\n", d, &p));
  EXPECT_FALSE(apply_tuning("", d, &p));
  d.context = nullptr;
}

// f16 and f32 lie in one buffer: the same number of elements from its start is not the same place.
TEST(OpenClPlan, ReshapingToTheOtherKindMovesElements) {
  OpView op;
  op.op = static_cast<uint16_t>(OpId::reshape);
  Operand o;
  o.present = true, o.dtype = DType::f32, o.rank = 1, o.dims[0] = 8, o.place = {5, 128};
  op.inputs = op.outputs = {o};
  Plan plan;
  Recorder r(plan, {});
  r.use_kernels(true, true);
  ASSERT_EQ(lower_copy(op, &r), nullptr);
  EXPECT_TRUE(plan.launches.empty());
  r.use_kernels(true, false);
  ASSERT_EQ(lower_copy(op, &r), nullptr);
  EXPECT_EQ(plan.launches.size(), 1u);
}

Operand operand(DType type, const std::vector<int32_t>& dims, const void* data, Layout layout = Layout::kPlain) {
  Operand o;
  o.present = true, o.dtype = type, o.rank = static_cast<int>(dims.size()), o.data = data, o.layout = layout;
  std::copy(dims.begin(), dims.end(), o.dims);
  return o;
}

// Where a device has dot products of bytes, four along k lie side by side, and biases have what the input's zero point adds.
TEST(OpenClPlan, BytesAreMultipliedByDotProductsWhereTheDeviceHasThem) {
  constexpr int32_t kN = 3, kK = 8;
  ops::q_matmul::Attrs a;
  a.input_zero = 5;
  int8_t plain[kN * kK], panels[16 * kK] = {};
  for (int32_t i = 0; i < kN; ++i)
    for (int32_t j = 0; j < kK; ++j) {
      plain[i * kK + j] = static_cast<int8_t>(10 * i + j);
      panels[panel_offset(Layout::kPanel16k4Pairs, DType::s8, static_cast<uint32_t>(i), static_cast<uint32_t>(j), kK) +
             static_cast<uint32_t>(j) % 4] = plain[i * kK + j];
    }
  const int32_t bias[kN] = {1000, 2000, 3000}, shift = 0, multiplier = 1 << 30;
  OpView op;
  op.op = static_cast<uint16_t>(OpId::q_matmul);
  op.attrs = &a;
  op.inputs.resize(ops::kEpilogueShift + 1);
  op.inputs[0] = operand(DType::s8, {2, kK}, nullptr);
  op.inputs[0].place = {1, 64};
  op.inputs[ops::kEpilogueBias] = operand(DType::s32, {kN}, bias);
  op.inputs[ops::kEpilogueMultiplier] = operand(DType::s32, {1}, &multiplier);
  op.inputs[ops::kEpilogueShift] = operand(DType::s32, {1}, &shift);
  op.outputs = {operand(DType::s8, {2, kN}, nullptr)};
  for (const bool packed : {false, true}) {
    op.inputs[1] = operand(DType::s8, {kN, kK}, packed ? panels : plain, packed ? Layout::kPanel16k4Pairs : Layout::kPlain);
    Plan with, without;
    Recorder r(with, {1, true}), s(without, {1, false});
    ASSERT_EQ(lower_q_matmul(op, &r), nullptr);
    ASSERT_EQ(lower_q_matmul(op, &s), nullptr);
    ASSERT_EQ(with.launches.size(), 1u);
    EXPECT_EQ(with.launches[0].kernels, kByteDots);
    EXPECT_EQ(without.launches[0].kernels, 0u);
    const auto argument = [](const Plan& p, size_t i) {
      int32_t v;
      std::memcpy(&v, p.launches[0].args[i].bytes.data(), sizeof v);
      return v;
    };
    EXPECT_EQ(argument(with, 1), 16) << "the input's place, in fours";
    EXPECT_EQ(argument(without, 1), 64);
    const auto* weights = reinterpret_cast<const int8_t*>(with.constants.data() + argument(with, 3));
    const auto* bytes = reinterpret_cast<const int8_t*>(without.constants.data()) + argument(without, 3);
    const auto* channels = reinterpret_cast<const int32_t*>(with.constants.data() + argument(with, 5));
    for (int32_t i = 0; i < kN; ++i) {
      int32_t sum = 0;
      for (int32_t j = 0; j < kK; ++j) {
        EXPECT_EQ(weights[(j / 4 * kColumnPad + i) * 4 + j % 4], 10 * i + j);
        EXPECT_EQ(bytes[j * kColumnPad + i], 10 * i + j);
        sum += 10 * i + j;
      }
      EXPECT_EQ(channels[i * 5], bias[i] - 5 * sum);
    }
    a.weight_zero = packed ? 0 : 3;  // then each row's sum would be needed, too
    Plan other;
    Recorder t(other, {1, true});
    ASSERT_EQ(lower_q_matmul(op, &t), nullptr);
    EXPECT_EQ(other.launches[0].kernels, packed ? kByteDots : 0u);
    a.weight_zero = 0;
  }
}

// Weights that multiply in f16 are divided by a power of two: none is too small for f16 because all are.
TEST(OpenClPlan, WeightsOfProductsInF16AreScaled) {
  std::vector<float> w = {3e-7f, -1e-7f, 2e-8f, 0};
  EXPECT_EQ(half_scale(w), std::ldexp(1.0f, -21));
  EXPECT_EQ(half_scale({1.0f}), 2.0f);
  EXPECT_EQ(half_scale({0, 0}), 1.0f);
  Plan plan;
  plan.half_buffer = 3;
  Recorder r(plan, {});
  float scale = 0;
  const Operand o = operand(DType::f32, {2, 2}, w.data());
  const Place p = r.half_weights(o, 2, 2, 64, &scale);
  EXPECT_EQ(p.buffer, 3);
  EXPECT_EQ(plan.halves.size(), 128u);
  const f16 largest(3e-7f / scale);
  uint16_t bits;
  std::memcpy(&bits, &largest, sizeof bits);
  EXPECT_EQ(plan.halves[0], bits);
  EXPECT_EQ(r.half_weights(o, 2, 2, 64, &scale).offset, p.offset) << "made once";
  EXPECT_EQ(scale, std::ldexp(1.0f, -21));
}

// The error that is expected of a product in f16: about what rounding its factors gives, and none where all numbers are exact.
TEST(OpenClPlan, ErrorsOfProductsInF16AreMeasured) {
  constexpr int32_t kRows = 4, kN = 8, kK = 100;
  std::vector<float> x(kRows * kK), w(kN * kK);
  ops::matmul::Attrs a;
  a.transpose_b = 1;
  OpView op;
  op.op = static_cast<uint16_t>(OpId::matmul);
  op.attrs = &a;
  op.inputs = {operand(DType::f32, {kRows, kK}, nullptr), operand(DType::f32, {kN, kK}, w.data())};
  op.outputs = {operand(DType::f32, {kRows, kN}, nullptr)};
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 3);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 5) / 4;
  EXPECT_EQ(half_math_error(op, x.data()), 0);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(f16(std::sin(static_cast<float>(i))));
  for (size_t i = 0; i < w.size(); ++i) w[i] = std::cos(static_cast<float>(i) * 1.3f);
  const double error = half_math_error(op, x.data());
  // Each factor is off by up to 2^-12 of its size, sums of eight by as much again: a hundred random terms of size 1/2.
  EXPECT_GT(error, 10 * 0.5 / 8192 / 4);
  EXPECT_LT(error, 10 * 0.5 / 2048 * 4);
  a.alpha = 3;
  EXPECT_NEAR(half_math_error(op, x.data()), 3 * error, 1e-9);
}

// Positions are compared with the end of the padding: beyond 32 bits it is the last there is, not one in front of the input.
TEST(OpenClPlan, PaddingThatEndsBeyond32BitsEndsAtTheLastPosition) {
  ops::q_avg_pool::Attrs a;
  a.pads_end[0] = INT32_MAX, a.pads_end[1] = 5;
  OpView op;
  op.op = static_cast<uint16_t>(OpId::q_avg_pool);
  op.attrs = &a;
  op.inputs = {operand(DType::s8, {1, 4, 3, 2}, nullptr)};
  op.outputs = {operand(DType::s8, {1, 4, 3, 2}, nullptr)};
  Plan plan;
  Recorder r(plan, {});
  ASSERT_EQ(lower_q_pool(op, &r), nullptr);
  const std::vector<Arg>& args = plan.launches.at(0).args;
  int32_t ends[2];
  for (size_t i = 0; i < 2; ++i) std::memcpy(&ends[i], args.at(args.size() - 3 + i).bytes.data(), sizeof ends[i]);
  EXPECT_EQ(ends[0], INT32_MAX);
  EXPECT_EQ(ends[1], 8);
}

bool winograd_profitable(int32_t size, int32_t in_c, int32_t out_c) {
  WindowArgs w{};
  w.batch = 1, w.in_h = w.in_w = w.out_h = w.out_w = size, w.in_c = in_c, w.out_c = out_c;
  w.kernel_h = w.kernel_w = 3, w.pad_h = w.pad_w = 1;
  return winograd_profitable(w, product_units(tile_for(size * size, out_c, 1, 16), size * size, out_c, 9 * in_c));
}

TEST(OpenClPlan, WinogradIsUsedWhereProfitable) {
  EXPECT_TRUE(winograd_profitable(30, 48, 48)) << "as opencl_backend_test has it";
  EXPECT_TRUE(winograd_profitable(56, 64, 64));
  EXPECT_FALSE(winograd_profitable(56, 3, 32)) << "few channels: transforms cost more than the multiplications they save";
  EXPECT_FALSE(winograd_profitable(4, 64, 64)) << "one tile uses a small part of a GEMM work-group";
  EXPECT_FALSE(winograd_profitable(3000, 64, 64)) << "more memory than it may take";
}

}  // namespace
}  // namespace mote::backends::opencl
