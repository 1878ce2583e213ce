// Kernels of .mote programs for microcontrollers, on the plain C++ of dsp.h: bit-exact with the portable ones for random shapes,
// multipliers and zero points. On boards: bench/tiny --format mote.

#include "mote/kernels/cortexm/runtime/select.cc"  // not part of a library of the host

#include <cmath>
#include <random>

#include "mote/kernels/testing/differential.h"

namespace mote::optest {
namespace {

using kerneltest::Draw;

int served = 0;
KernelFn select_counted(uint16_t op, const OpContext& c) noexcept {
  const KernelFn k = cortexm::select(op, c);
  served += k != nullptr;
  return k;
}

template <class A>
void expect_same(OpId op, const A& attrs, const std::vector<Array>& inputs) {
  fast_kernels = nullptr;
  const RunResult portable = run(op, attrs, inputs, RunOptions{});
  ASSERT_TRUE(portable.ok()) << portable.message();
  fast_kernels = &select_counted;
  const RunResult found = run(op, attrs, inputs, RunOptions{});
  fast_kernels = nullptr;
  ASSERT_TRUE(found.ok()) << found.message();
  ASSERT_EQ(found.outputs[0].bytes(), portable.outputs[0].bytes());
}

// Bias, multiplier and shift of n channels; occasionally with extreme values, as channels whose weights are all 0 have.
template <class A>
std::vector<Array> scaling(Draw& d, int32_t n, A* a) {
  a->input_zero = d.in(-128, 127);
  a->output_zero = d.in(-128, 127);
  if (d.one_in(2)) a->clamp_lo = a->output_zero, a->clamp_hi = 127;
  Array bias = Array::random(DType::s32, {n}, d.seed(), -20000, 20000),
        shift = Array::random(DType::s32, {n}, d.seed(), -12, d.one_in(3) ? 3 : -1);
  if (d.one_in(3)) bias.set(d.in(0, n - 1), d.one_in(2) ? 2000000000.0 : -900000000.0);
  if (d.one_in(3)) shift.set(d.in(0, n - 1), d.in(-40, -13));
  return {bias, Array::random(DType::s32, {n}, d.seed(), 1 << 30, 2147483647.0), shift};
}

Array real_multipliers(Draw& d, int32_t n) { return Array::random(DType::f64, {n}, d.seed(), 1e-5, d.one_in(2) ? 0.01 : 1.5); }

Array s8(Draw& d, const Shape& shape) { return Array::random(DType::s8, shape, d.seed(), -128, 127); }

TEST(CortexMRuntime, Convolutions) {
  served = 0;
  for (uint32_t seed = 0; seed < 150 && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    ops::q_conv::Attrs a;
    const bool depthwise = d.one_in(2);
    const int32_t channels = !depthwise    ? d.in(1, 20)
                             : d.one_in(4) ? d.in(1, 150)
                                           : 4 * d.in(1, 40),
                  outputs = depthwise ? channels : d.in(1, 20), most = d.one_in(4) ? 5 : 3, k[2] = {d.in(1, most), d.in(1, most)};
    for (int i = 0; i < 2; ++i) {
      a.strides[i] = d.in(1, 2);
      a.pads_begin[i] = d.in(0, k[i] - 1);
      a.pads_end[i] = d.in(0, k[i] - 1);
      a.dilations[i] = d.one_in(4) ? 2 : 1;
    }
    a.groups = depthwise ? channels : 1;
    std::vector<Array> in = {s8(d, {d.in(1, 2), d.in(5, 9), d.in(5, 9), channels}), s8(d, {outputs, k[0], k[1], depthwise ? 1 : channels})};
    for (const Array& more : scaling(d, outputs, &a)) in.push_back(more);
    expect_same(OpId::q_conv, a, in);
  }
  EXPECT_EQ(served, 150);
}

TEST(CortexMRuntime, MatrixProductsInBlocks) {
  served = 0;
  for (uint32_t seed = 0; seed < 60 && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    ops::q_matmul::Attrs a;
    const int32_t outputs = d.in(1, 150), inputs = d.one_in(4) ? d.in(1000, 2600) : d.in(1, 200);
    std::vector<Array> in = {s8(d, {d.in(1, 3), inputs}), s8(d, {outputs, inputs})};
    const std::vector<Array> fixed = scaling(d, outputs, &a);
    if (d.one_in(2)) {
      in.push_back(fixed[0]);
      in.push_back(real_multipliers(d, d.one_in(3) ? 1 : outputs));
    } else {
      in.insert(in.end(), fixed.begin(), fixed.end());
    }
    expect_same(OpId::q_matmul, a, in);
  }
  EXPECT_EQ(served, 60);
}

// Products whose exact value is just beside a tie, and every class of f64.
TEST(CortexMRuntime, SumsTimesReals) {
  std::mt19937_64 bits(1);
  const auto check = [](int32_t sum, double m) {
    uint64_t word;
    std::memcpy(&word, &m, 8);
    ASSERT_EQ(cortexm::times_real(sum, word), ops::round_to_s32(sum * m, ops::Rounding::kHalfAway)) << sum << " * " << m;
  };
  for (int i = 0; i < 300000 && !::testing::Test::HasFatalFailure(); ++i) {
    const int32_t sum = static_cast<int32_t>(bits() >> 32) >> bits() % 32;
    double any;
    const uint64_t word = bits();
    std::memcpy(&any, &word, 8);
    check(sum, any);
    const double half = static_cast<double>(static_cast<int32_t>(bits() % 1024) - 512) + 0.5;
    const double near = sum == 0 ? half : half / sum;
    for (const double m : {near, std::nextafter(near, 0.0), std::nextafter(near, 1.0), std::ldexp(near, static_cast<int>(bits() % 40))})
      check(sum, m);
  }
  for (const double m : {0.0, -0.0, 1.0, -1.0, 5e-324, 1e308, HUGE_VAL, -HUGE_VAL, std::nan("")})
    for (const int32_t sum : {0, 1, -1, 0x7fffffff, -0x7fffffff - 1}) check(sum, m);
}

TEST(CortexMRuntime, Averages) {
  served = 0;
  for (uint32_t seed = 0; seed < 60 && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    ops::q_avg_pool::Attrs a;
    for (int i = 0; i < 2; ++i) {
      a.kernel[i] = d.in(1, 5);
      a.strides[i] = d.in(1, 3);
      a.pads_begin[i] = d.in(0, a.kernel[i] - 1);
      a.pads_end[i] = d.in(0, a.kernel[i] - 1);
    }
    expect_same(OpId::q_avg_pool, a, {s8(d, {1, d.in(5, 9), d.in(5, 9), d.in(1, 20)})});
  }
  EXPECT_GT(served, 40);
}

}  // namespace
}  // namespace mote::optest
