#include "mote/compiler/emit/cpp/emit_cpp.h"

#include <gtest/gtest.h>

#include <random>

#include "mote/compiler/emit/builder.h"
#include "mote/compiler/emit/cpp/requant.h"
#include "mote/kernels/cortexm/sigmoid.h"
#include "mote/ops/common/quant.h"

namespace mote::emit {
namespace {

int32_t result(const cortexm::Channel& c, int left, int32_t sum, const Wanted& w) {
  return ops::clamp_to(cortexm::saturate8(cortexm::scaled(sum, left, c.multiplier, c.add, c.shift)), w.lo, w.hi);
}

// Every sum that can occur, not only those where results change.
void expect_same(const Wanted& w, int left, const cortexm::Channel& c) {
  for (int64_t sum = w.least; sum <= w.most; ++sum) {
    const auto s = static_cast<int32_t>(sum);
    ASSERT_EQ(result(c, left, s, w), w.of(s)) << "sum " << sum << " multiplier " << w.multiplier;
  }
}

TEST(Requant, FixedPointAsTheOperatorHasIt) {
  std::mt19937 random(1);
  int found = 0;
  for (int i = 0; i < 60; ++i) {
    const int32_t multiplier = static_cast<int32_t>((1u << 30) + random() % (1u << 30)), shift = -static_cast<int32_t>(random() % 14);
    Wanted w;
    w.zero = static_cast<int32_t>(random() % 256) - 128;
    w.lo = i % 3 == 0 ? w.zero : -128;
    w.multiplier = std::ldexp(multiplier, shift - 31);
    w.least = -40000 - static_cast<int64_t>(random() % 1000);
    w.most = 50000;
    w.of = [=](int32_t sum) { return ops::clamp_to(int64_t{ops::scale_by(sum, multiplier, shift)} + w.zero, w.lo, w.hi); };
    cortexm::Channel c{};
    if (!find_requant(w, 1, &c)) continue;
    ++found;
    expect_same(w, 1, c);
  }
  EXPECT_GE(found, 50);
}

TEST(Requant, FloatingPointByLookingForTheSameSteps) {
  std::mt19937 random(2);
  int found = 0;
  for (int i = 0; i < 40; ++i) {
    const double factor = std::ldexp(0.5 + 0.5 * (random() % 100000) / 100000.0, -static_cast<int>(4 + random() % 8));
    Wanted w;
    w.zero = 14;
    w.multiplier = factor;
    w.least = -90000;
    w.most = 80000;
    w.of = [=](int32_t sum) { return ops::clamp_to(int64_t{ops::round_to_s32(sum * factor, ops::Rounding::kHalfAway)} + 14, -128, 127); };
    cortexm::Channel c{};
    const int left = most_left(w.least, w.most);
    if (!find_requant(w, left, &c)) continue;
    ++found;
    expect_same(w, left, c);
  }
  EXPECT_GE(found, 40);
}

TEST(Requant, SumsAlmostInTheMiddleBetweenTwoResults) {
  for (const double factor : {0.00399999983935, 0.00400000018998, 0.0199999999, 0.03125}) {
    Wanted w;
    w.multiplier = factor;
    w.least = -260000;
    w.most = 260000;
    w.of = [=](int32_t sum) { return ops::clamp_to(ops::round_to_s32(sum * factor, ops::Rounding::kHalfAway), -128, 127); };
    cortexm::Channel c{};
    const int left = most_left(w.least, w.most);
    ASSERT_TRUE(find_requant(w, left, &c)) << factor;
    expect_same(w, left, c);
  }
}

template <int kBits>
void expect_same_tanh() {
  for (int32_t x = -32768; x <= 32767; ++x)
    ASSERT_EQ(cortexm::tanh16<kBits>(x), ops::tanh_of(ops::Fixed<int16_t, kBits>{static_cast<int16_t>(x)}).raw) << x << ", bits " << kBits;
}

TEST(Sigmoid, TheOperatorsBitsForEveryNumber) {
  for (int32_t x = -32768; x <= 32767; ++x)
    ASSERT_EQ(cortexm::logistic16(x), ops::logistic_of(ops::Fixed<int16_t, 3>{static_cast<int16_t>(x)}).raw) << x;
  expect_same_tanh<0>();
  expect_same_tanh<1>();
  expect_same_tanh<2>();
  expect_same_tanh<3>();
  expect_same_tanh<4>();
  expect_same_tanh<5>();
  expect_same_tanh<6>();
}

TEST(Requant, ChannelsThatSayNothing) {
  Wanted w;
  w.of = [](int32_t) { return -7; };
  w.least = -2000000000;
  w.most = 2000000000;
  cortexm::Channel c{};
  ASSERT_TRUE(find_requant(w, 1, &c));
  EXPECT_EQ(result(c, 1, 123456789, w), -7);
  EXPECT_TRUE(says_nothing(w));
}

TEST(Requant, NoneForSumsThatWouldOverflow) {
  Wanted w;
  w.of = [](int32_t sum) { return sum > 0 ? 1 : 0; };
  w.multiplier = 0.5;
  w.least = -(int64_t{1} << 30);
  w.most = int64_t{1} << 30;
  cortexm::Channel c{};
  EXPECT_FALSE(find_requant(w, 1, &c));
  EXPECT_EQ(most_left(-5, (int64_t{1} << 30)), 0);
}

ProgramRecords records_of(ProgramBuilder& b) {
  FileBytes file;
  std::string error;
  EXPECT_TRUE(b.finish(&file, &error)) << error;
  ProgramRecords r;
  EXPECT_TRUE(read_records(file.span(), &r));
  return r;
}

TEST(EmitCpp, OperatorsWithoutAKernelComeFromTheLibrary) {
  ProgramBuilder b;
  b.begin_method("main");
  b.output("y", b.op(OpId::relu, NoAttrs{}, {b.input("x", DType::f32, {1, 8})}));
  CppFiles files;
  std::string error;
  CppOptions options;
  options.name = "9 lives";
  ASSERT_TRUE(emit_cpp(records_of(b), options, &files, &error)) << error;
  EXPECT_EQ(files.name, "m9_lives");
  EXPECT_EQ(files.portable, std::vector<std::string>{"relu"});
  EXPECT_NE(files.header.find("const float* x, float* y"), std::string::npos) << files.header;
  EXPECT_NE(files.source.find("mote::ops::relu::select"), std::string::npos);
}

TEST(EmitCpp, NamesAreIdentifiersAndNotWords) {
  EXPECT_EQ(identifier("a/b:c"), "a_b_c");
  EXPECT_EQ(identifier("int"), "int_");
  EXPECT_EQ(identifier(""), "m");
}

}  // namespace
}  // namespace mote::emit
