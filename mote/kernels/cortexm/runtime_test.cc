// Kernels of .mote programs for microcontrollers, in the plain C++ of dsp.h, against the portable ones: the same bits for shapes, scalings
// and zero points drawn at random. On the boards: bench/tiny --format mote.

#include "mote/kernels/cortexm/runtime/select.cc"  // not part of a library of the host

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

// Bias, multiplier and shift of n channels; now and then one far from the usual, as channels without weights have.
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

Array s8(Draw& d, const Shape& shape) { return Array::random(DType::s8, shape, d.seed(), -128, 127); }

TEST(CortexMRuntime, Convolutions) {
  served = 0;
  for (uint32_t seed = 0; seed < 150 && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    ops::q_conv::Attrs a;
    const bool depthwise = d.one_in(2);
    const int32_t channels = depthwise ? 4 * d.in(1, 40) : d.in(1, 20), outputs = depthwise ? channels : d.in(1, 20),
                  k[2] = {d.in(1, 3), d.in(1, 3)};
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
  EXPECT_GT(served, 120);
}

TEST(CortexMRuntime, MatrixProductsInBlocks) {
  served = 0;
  for (uint32_t seed = 0; seed < 60 && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    ops::q_matmul::Attrs a;
    const int32_t outputs = d.in(1, 150), inputs = d.one_in(4) ? d.in(1000, 2600) : d.in(1, 200);
    std::vector<Array> in = {s8(d, {d.in(1, 3), inputs}), s8(d, {outputs, inputs})};
    for (const Array& more : scaling(d, outputs, &a)) in.push_back(more);
    expect_same(OpId::q_matmul, a, in);
  }
  EXPECT_EQ(served, 60);
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
