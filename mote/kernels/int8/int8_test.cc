// Fast integer kernels against the portable ones: the same bits for shapes, attributes and operands drawn at random, on every
// instruction set that this machine has.

#include "mote/kernels/select.h"
#include "mote/kernels/testing/differential.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/dynamic_quantize/dynamic_quantize.h"
#include "mote/ops/q_add/q_add.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_concat/q_concat.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_lut/q_lut.h"
#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/q_reduce/q_reduce.h"
#include "mote/ops/q_softmax/q_softmax.h"
#include "mote/ops/q_sub/q_sub.h"
#include "mote/ops/quantize/quantize.h"
#include "mote/ops/requantize/requantize.h"
#include "mote/platform/cpu.h"

namespace mote::optest {
namespace {

using kernels::Isa;
using kerneltest::Draw;

// Where kernels come from, and whether the last one asked for was there.
kernels::SelectFn chosen = nullptr;
bool was_fast = false;
KernelFn select_chosen(uint16_t op, const OpContext& c) noexcept {
  const KernelFn k = chosen(op, c);
  was_fast = k != nullptr;
  return k;
}
// The same, with three threads to share the work.
KernelFn last_chosen = nullptr;
KernelFn select_shared(uint16_t op, const OpContext& c) noexcept {
  last_chosen = chosen(op, c);
  if (last_chosen == nullptr) return nullptr;
  return [](const OpContext& alone) noexcept {
    OpContext shared = alone;
    shared.threads = &kerneltest::kThreads;
    return last_chosen(shared);
  };
}

// The portable result must be that of every instruction set. fast: all of them must have a kernel for this.
template <class A>
void expect_same(OpId op, const A& attrs, const std::vector<Array>& inputs, bool fast = true, const RunOptions& options = {},
                 KernelFn (*select)(uint16_t, const OpContext&) noexcept = &select_chosen) {
  fast_kernels = nullptr;
  const RunResult portable = run(op, attrs, inputs, options);
  ASSERT_TRUE(portable.ok()) << portable.message();
  for (uint8_t i = 1; i < static_cast<uint8_t>(Isa::kCount); ++i) {
    const Isa isa = static_cast<Isa>(i);
    if (!kernels::can_run(isa, cpu_features())) continue;
    chosen = kernels::select_for(isa);
    fast_kernels = select;
    const RunResult r = run(op, attrs, inputs, options);
    fast_kernels = nullptr;
    ASSERT_TRUE(r.ok()) << kernels::isa_name(isa) << ": " << r.message();
    EXPECT_EQ(was_fast || !fast, true) << kernels::isa_name(isa) << " has no kernel for this";
    for (size_t o = 0; o < r.outputs.size(); ++o)
      ASSERT_EQ(r.outputs[o].bytes(), portable.outputs[o].bytes()) << kernels::isa_name(isa) << ": output " << o << " differs";
  }
}
// The same with threads.
template <class A>
void expect_same_shared(OpId op, const A& attrs, const std::vector<Array>& inputs, bool fast = true) {
  expect_same(op, attrs, inputs, fast);
  fast_kernels = nullptr;
  const RunResult portable = run(op, attrs, inputs);
  for (uint8_t i = 1; i < static_cast<uint8_t>(Isa::kCount); ++i) {
    const Isa isa = static_cast<Isa>(i);
    if (!kernels::can_run(isa, cpu_features())) continue;
    chosen = kernels::select_for(isa);
    fast_kernels = &select_shared;
    const RunResult r = run(op, attrs, inputs);
    fast_kernels = nullptr;
    ASSERT_TRUE(r.ok()) << kernels::isa_name(isa) << ": " << r.message();
    ASSERT_EQ(r.outputs[0].bytes(), portable.outputs[0].bytes()) << kernels::isa_name(isa) << " differs with threads";
  }
}

Array bytes(Draw& d, DType type, const Shape& shape) {
  Array a = Array::random(type, shape, d.seed(), type == DType::u8 ? 0 : -128, type == DType::u8 ? 255 : 127);
  for (int i = 0; i < 3 && a.count() > 0; ++i) a.set(d.in(0, static_cast<int32_t>(a.count()) - 1), type == DType::u8 ? 255 : -128);
  return a;
}
// Half of them such that neighbours' products add up within 16 bits, and just so: kernels of their own multiply these.
Array some_weights(Draw& d, const Shape& shape) {
  return d.one_in(2) ? bytes(d, DType::s8, shape) : Array::random(DType::s8, shape, d.seed(), -64, 64);
}
// Packed as the compiler does: it says so where neighbours fit.
Array packed(const Array& w) {
  const Array p = w.packed(Layout::kPanel16k4);
  return pairs_fit(reinterpret_cast<const int8_t*>(p.bytes().data()), p.bytes().size()) ? w.packed(Layout::kPanel16k4Pairs) : p;
}
DType byte_type(Draw& d) { return d.one_in(2) ? DType::s8 : DType::u8; }
int32_t zero_point(Draw& d, DType type) { return type == DType::u8 ? d.in(0, 255) : d.in(-128, 127); }

// Operands 2 to 7 of a quantized product with n outputs, and the attributes that go with them.
template <class A>
std::vector<Array> stage_inputs(Draw& d, DType x_type, int32_t n, int32_t rows, bool depthwise, A* a) {
  std::vector<Array> in(6);
  const bool real = d.one_in(4);
  const DType types[] = {DType::s8, DType::u8, DType::s16, x_type, DType::s32};
  const DType y = real ? DType::f32 : types[d.in(0, 4)];
  a->to = static_cast<uint32_t>(y);
  a->input_zero = d.one_in(3) ? (x_type == DType::u8 ? 0 : -128) : zero_point(d, x_type);
  a->weight_zero = d.one_in(2) ? 0 : d.in(depthwise ? -127 : -128, 127);
  const auto one_or = [&](int32_t count) { return Shape{d.one_in(3) ? 1 : count}; };
  if (!d.one_in(3))
    in[0] = real ? Array::random(DType::f32, one_or(n), d.seed()) : Array::random(DType::s32, one_or(n), d.seed(), -20000, 20000);
  if (!depthwise && d.one_in(4)) in[4] = Array::random(DType::s8, one_or(n), d.seed(), -128, 127);
  if (d.one_in(4)) in[3] = d.one_in(2) ? bytes(d, x_type, one_or(rows)) : Array::random(DType::s32, one_or(rows), d.seed(), -300, 300);
  if (y == DType::s32) return in;
  if (real) {
    in[1] = Array::random(DType::f32, one_or(n), d.seed(), 0.0001, 0.01);
    if (d.one_in(2)) in[5] = Array::random(DType::f32, one_or(rows), d.seed(), 0.01, 1);
    return in;
  }
  a->output_zero = y == DType::s16 ? d.in(-3000, 3000) : zero_point(d, y);
  if (d.one_in(3)) a->clamp_lo = a->output_zero, a->clamp_hi = y == DType::s16 ? 32767 : y == DType::u8 ? 255 : 127;
  const int kind = d.in(0, 5);
  if (kind == 0) in[1] = Array::random(DType::f64, one_or(n), d.seed(), 0.0001, 0.01);
  else if (kind == 1) in[1] = Array::random(DType::f32, one_or(n), d.seed(), 0.0001, 0.01);
  else if (kind == 2)
    in[1] = Array::random(DType::s32, {n}, d.seed(), -2147483648.0, 2147483647.0),
    in[2] = Array::random(DType::s32, one_or(n), d.seed(), -40, 40);
  else
    in[1] = Array::random(DType::s32, one_or(n), d.seed(), 1 << 30, 2147483647.0),
    in[2] = Array::random(DType::s32, one_or(n), d.seed(), -12, kind == 3 ? 2 : -3);
  return in;
}

TEST(Int8Kernels, MatmulsAgree) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = d.one_in(2) ? DType::s8 : DType::u8;
    const int32_t m = d.one_in(2) ? d.in(1, 30) : 1, n = d.in(1, 80), k = d.one_in(12) ? d.in(1200, 5400) : d.in(1, 200);
    const Array x = bytes(d, type, d.one_in(2) ? Shape{m, k} : Shape{2, m, k}), w = some_weights(d, {n, k});
    ops::q_matmul::Attrs a;
    std::vector<Array> in = stage_inputs(d, type, n, static_cast<int32_t>(x.count() / k), false, &a);
    in.insert(in.begin(), {x, packed(w)});
    expect_same(OpId::q_matmul, a, in);
    if (HasFatalFailure()) return;
  }
}

// What most layers of models are: symmetric weights, one zero point, bytes by factors below one. Sums become bytes in registers then, for
// any number of panels and rows.
TEST(Int8Kernels, CommonProductsAgree) {
  for (uint32_t seed = 0; seed < 160 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d), y = byte_type(d);
    const bool window = d.one_in(2), deep = d.one_in(2);
    const int32_t n = d.one_in(3) ? d.in(200, 330) : d.in(1, 100), k = deep ? 16 * d.in(1, 12) : d.in(1, 70);
    const auto one_or_all = [&] { return Shape{d.one_in(3) ? 1 : n}; };
    Array bias = Array::random(DType::s32, {n}, d.seed(), -20000, 20000), multiplier, shift;
    if (d.one_in(2)) multiplier = Array::random(DType::f32, one_or_all(), d.seed(), 0.0001, 0.02);
    else
      multiplier = Array::random(DType::s32, one_or_all(), d.seed(), 1 << 30, 2147483647.0),
      shift = Array::random(DType::s32, one_or_all(), d.seed(), -12, -3);
    const auto attributes = [&](auto a) {
      a.to = static_cast<uint32_t>(y), a.input_zero = zero_point(d, type), a.output_zero = zero_point(d, y);
      if (d.one_in(2)) a.clamp_lo = a.output_zero;
      return a;
    };
    if (window) {
      const int32_t kernel = d.one_in(2) ? 1 : 3, size = d.in(3, 20);
      ops::q_conv::Attrs a = attributes(ops::q_conv::Attrs{});
      for (int i = 0; i < 2; ++i) a.pads_begin[i] = a.pads_end[i] = kernel / 2, a.strides[i] = d.one_in(3) ? 2 : 1;
      const Array x = bytes(d, type, {1, d.in(3, 9), size, k}), w = some_weights(d, {n, kernel, kernel, k});
      expect_same(OpId::q_conv, a, {x, packed(w), bias, multiplier, shift});
    } else {
      const Array x = bytes(d, type, {d.in(1, 140), k}), w = some_weights(d, {n, k});
      expect_same(OpId::q_matmul, attributes(ops::q_matmul::Attrs{}), {x, packed(w), bias, multiplier, shift});
    }
  }
}

// Activations that were quantized while running: a scale for each row, floats out.
TEST(Int8Kernels, DynamicProductsAgree) {
  for (uint32_t seed = 0; seed < 60 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const int32_t m = d.in(1, 60), n = d.in(1, 100), k = d.one_in(2) ? 4 * d.in(1, 80) : d.in(1, 300);
    ops::q_matmul::Attrs a;
    a.to = static_cast<uint32_t>(DType::f32);
    const Array x = bytes(d, DType::s8, {m, k}), w = some_weights(d, {n, k});
    Array bias, zeros;
    if (d.one_in(2)) bias = Array::random(DType::f32, {n}, d.seed());
    if (d.one_in(2)) zeros = Array::random(DType::s32, {m}, d.seed(), -128, 127);
    expect_same(OpId::q_matmul, a,
                {x, packed(w), bias, Array::random(DType::f32, {n}, d.seed(), 0.001, 0.1), Array(), zeros, Array(),
                 Array::random(DType::f32, {m}, d.seed(), 0.001, 1)});
  }
}

// Both sides are activations, in batches that may be broadcast.
TEST(Int8Kernels, ProductsOfPairsAgree) {
  for (uint32_t seed = 0; seed < 60 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = d.one_in(2) ? DType::s8 : DType::u8, right = d.one_in(2) ? DType::s8 : DType::u8;
    const int32_t m = d.in(1, 40), n = d.in(1, 90), k = d.in(1, d.one_in(6) ? 1500 : 150), batch = d.in(1, 3);
    const Array x = bytes(d, type, d.one_in(3) ? Shape{1, m, k} : Shape{batch, m, k}),
                w = bytes(d, right, Shape{2, d.one_in(3) ? 1 : batch, n, k});
    ops::q_matmul::Attrs a;
    std::vector<Array> in = stage_inputs(d, type, n, static_cast<int32_t>(x.count() / k), false, &a);
    if (right == DType::u8) a.weight_zero = d.in(0, 255), in[4] = Array();
    in.insert(in.begin(), {x, w});
    expect_same(OpId::q_matmul, a, in);
  }
}

// Adds a residual now and then, where the output has a quantized type.
void add_residual(Draw& d, const Array& x, ops::q_conv::Attrs* a, std::vector<Array>* in) {
  const DType y = static_cast<DType>(a->to);
  if (y == DType::s32 || y == DType::f32 || !d.one_in(2)) return;
  fast_kernels = nullptr;
  const RunResult shape = run(OpId::q_conv, *a, *in);
  ASSERT_TRUE(shape.ok()) << shape.message();
  (void)x;
  ops::QuantBinaryAttrs s;
  s.mode = static_cast<uint32_t>(d.in(0, 1));
  const bool to_sums = d.one_in(2);
  const auto zero = [&] { return y == DType::s16 ? d.in(-900, 900) : zero_point(d, y); };
  s.a_zero = zero(), s.b_zero = zero(), s.y_zero = zero();
  s.left_shift = y == DType::s16 ? 12 : 20;
  s.a_multiplier = d.in(1 << 30, 0x7fffffff), s.b_multiplier = d.in(1 << 30, 0x7fffffff), s.y_multiplier = d.in(1 << 30, 0x7fffffff);
  // Powers of two: many sums lie in the middle between two whole numbers.
  if (d.one_in(3)) s.a_multiplier = s.b_multiplier = s.y_multiplier = 1 << 30;
  s.a_shift = d.in(-3, 0), s.b_shift = d.in(-3, -1), s.y_shift = d.in(-21, -15);
  s.a_scale = 0.02f, s.b_scale = 0.031f, s.y_scale = 0.05f;
  if (to_sums) s.mode = static_cast<uint32_t>(ops::QuantMode::kSums), s.b_shift = d.in(-20, 0);
  ops::q_conv::set_sum_attrs(*a, s);
  in->push_back(Array::random(y, shape.outputs[0].shape(), d.seed(), y == DType::u8 ? 0 : -128, 127));
  const int32_t n = static_cast<int32_t>(shape.outputs[0].shape().back());
  if (to_sums) in->push_back(Array::random(DType::s32, d.one_in(3) ? Shape{1} : Shape{n}, d.seed(), -10, 1 << 22));
}

ops::q_conv::Attrs window_attrs(Draw& d, int spatial) {
  ops::q_conv::Attrs a;
  for (int i = 0; i < spatial; ++i) {
    a.strides[i] = d.in(1, 3);
    a.dilations[i] = d.one_in(3) ? d.in(2, 3) : 1;
    a.pads_begin[i] = d.in(0, 2);
    a.pads_end[i] = d.in(0, 2);
  }
  return a;
}

void check_conv(Draw& d, bool depthwise) {
  const int spatial = d.one_in(4) ? 1 : 2;
  const DType type = d.one_in(2) ? DType::s8 : DType::u8;
  ops::q_conv::Attrs a = window_attrs(d, spatial);
  const int32_t groups = depthwise ? d.in(2, 70) : d.one_in(5) ? d.in(2, 3) : 1;
  const int32_t channels = depthwise ? 1 : d.in(1, d.one_in(6) ? 300 : 40);
  const int32_t outputs = depthwise ? 1 : groups > 1 ? 16 * d.in(1, 2) : d.in(1, 70);
  a.groups = groups;
  Shape x{d.in(1, 2)}, w{groups * outputs};
  for (int i = 0; i < spatial; ++i) {
    const int32_t kernel = d.in(1, depthwise && d.one_in(4) ? 9 : 5);
    w.push_back(kernel);
    x.push_back((kernel - 1) * a.dilations[i] + d.in(1, depthwise ? 20 : 9));
  }
  x.push_back(channels * groups);
  w.push_back(channels);
  const Array input = bytes(d, type, x), weights = some_weights(d, w);
  std::vector<Array> in = stage_inputs(d, type, groups * outputs, x[0], depthwise, &a);
  in.insert(in.begin(), {input, packed(weights)});
  add_residual(d, input, &a, &in);
  expect_same(OpId::q_conv, a, in);
}

TEST(Int8Kernels, ConvolutionsAgree) {
  for (uint32_t seed = 0; seed < 100 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    check_conv(d, false);
  }
}

TEST(Int8Kernels, DepthwiseConvolutionsAgree) {
  for (uint32_t seed = 1000; seed < 1100 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    check_conv(d, true);
  }
}

// Windows that have kernels of their own: 3x3 and 5x5 taps over blocks of channels and what is left of them, one row of outputs or two at a
// time, some of the rows, at all edges; most with outputs that end in registers. Some are large enough for threads to share them.
TEST(Int8Kernels, DepthwiseWindowsAgree) {
  for (uint32_t seed = 0; seed < 120 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d), y = byte_type(d);
    const int32_t kernel = d.one_in(2) ? 3 : 5, stride = d.in(1, 2),
                  n = d.one_in(3) ? 16 * d.in(1, 13) : d.in(d.one_in(2) ? 2 : 16, d.one_in(3) ? 40 : 200);
    const int32_t height = d.in(1, 9), width = d.one_in(3) ? d.in(30, 70) : d.in(1, 20);
    ops::q_conv::Attrs a;
    a.groups = n, a.to = static_cast<uint32_t>(y), a.input_zero = zero_point(d, type), a.output_zero = zero_point(d, y);
    for (int i = 0; i < 2; ++i) a.strides[i] = stride, a.pads_begin[i] = d.in(0, kernel / 2), a.pads_end[i] = kernel - 1 - a.pads_begin[i];
    if (d.one_in(2)) a.clamp_lo = a.output_zero;
    if (d.one_in(4)) a.weight_zero = d.in(-127, 127);
    const Array x = bytes(d, type, {d.in(1, 2), height, width, n}), w = some_weights(d, {n, kernel, kernel, 1});
    Array bias = Array::random(DType::s32, {n}, d.seed(), -20000, 20000), multiplier, shift;
    const Shape factors{d.one_in(3) ? 1 : n};
    if (d.one_in(2)) multiplier = Array::random(DType::f32, factors, d.seed(), 0.0001, 0.02);
    else
      multiplier = Array::random(DType::s32, factors, d.seed(), 1 << 30, 2147483647.0),
      shift = Array::random(DType::s32, factors, d.seed(), -12, -3);
    std::vector<Array> in{x, packed(w), bias, multiplier, shift};
    if (d.one_in(4)) in.resize(8), add_residual(d, x, &a, &in);
    RunOptions options;
    const int32_t rows = (height - 1) / stride + 1;
    if (d.one_in(3)) options.rows.begin = d.in(0, rows - 1), options.rows.end = d.in(options.rows.begin + 1, rows + 1);
    SCOPED_TRACE(testing::PrintToString(x.shape()) + " by " + testing::PrintToString(w.shape()));
    expect_same(OpId::q_conv, a, in, true, options);
    expect_same(OpId::q_conv, a, in, true, options, &select_shared);
  }
}

// What tiles and wide registers are made for: many channels, more rows than fit together.
TEST(Int8Kernels, LargeConvolutionsAgree) {
  for (uint32_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const bool depthwise = d.one_in(2);
    const int32_t kernel = depthwise ? 3 + 2 * d.in(0, 1) : d.in(1, 3), channels = depthwise ? 1 : d.one_in(4) ? 3 : 32 * d.in(1, 5);
    const DType type = byte_type(d);
    ops::q_conv::Attrs a;
    a.groups = depthwise ? d.in(16, 150) : 1;
    const int32_t stride = d.in(1, 2);
    for (int i = 0; i < 2; ++i) a.strides[i] = stride, a.pads_begin[i] = d.in(0, 1), a.pads_end[i] = d.in(0, 1);
    const int32_t outputs = depthwise ? 1 : d.in(8, 150);
    const Array input = bytes(d, type, {d.in(1, 2), d.in(kernel, 20), d.in(kernel, 40), channels * a.groups});
    const Array weights = some_weights(d, {outputs * a.groups, kernel, kernel, channels});
    SCOPED_TRACE(testing::PrintToString(input.shape()) + " by " + testing::PrintToString(weights.shape()));
    std::vector<Array> in = stage_inputs(d, type, outputs * a.groups, input.shape()[0], depthwise, &a);
    in.insert(in.begin(), {input, packed(weights)});
    add_residual(d, input, &a, &in);
    expect_same(OpId::q_conv, a, in);
  }
}

Shape some_shape(Draw& d) {
  Shape s;
  for (int i = d.in(1, 4); i > 0; --i) s.push_back(d.in(1, i == 1 ? 90 : 6));
  return s;
}

ops::QuantBinaryAttrs sum_of(Draw& d, DType type) {
  ops::QuantBinaryAttrs a;
  a.mode = static_cast<uint32_t>(d.in(0, 1));
  a.a_zero = zero_point(d, type), a.b_zero = zero_point(d, type), a.y_zero = zero_point(d, type);
  a.left_shift = 20;
  a.a_multiplier = d.in(1 << 30, 0x7fffffff), a.b_multiplier = d.in(1 << 30, 0x7fffffff), a.y_multiplier = d.in(1 << 30, 0x7fffffff);
  a.a_shift = d.in(-4, 0), a.b_shift = d.in(-4, 0), a.y_shift = d.one_in(3) ? d.in(-40, 40) : -18;
  a.a_scale = 0.02f, a.b_scale = 0.0313f, a.y_scale = d.one_in(9) ? 0.0f : 0.05f;
  if (d.one_in(3)) a.clamp_lo = a.y_zero;
  return a;
}

TEST(Int8Kernels, SumsAndProductsAgree) {
  for (uint32_t seed = 0; seed < 80 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d);
    const Shape shape = some_shape(d);
    Shape other = shape;
    for (int32_t& n : other)
      if (d.one_in(4)) n = 1;
    const std::vector<Array> in{bytes(d, type, shape), bytes(d, type, other)};
    const ops::QuantBinaryAttrs a = sum_of(d, type);
    // Scales that nothing can be divided by are left to the portable kernels.
    const bool fast = a.y_scale > 0;
    expect_same(OpId::q_add, a, in, fast);
    expect_same(OpId::q_sub, a, in, fast);
    ops::q_mul::Attrs m;
    m.mode = a.mode, m.a_zero = a.a_zero, m.b_zero = a.b_zero, m.y_zero = a.y_zero;
    m.multiplier = a.a_multiplier, m.shift = d.one_in(3) ? d.in(-40, 40) : d.in(-9, -3);
    m.a_scale = a.a_scale, m.b_scale = a.b_scale, m.y_scale = a.y_scale, m.clamp_lo = a.clamp_lo;
    expect_same(OpId::q_mul, m, in, fast);
  }
}

// As TFLite prepares them: one operand's factor is 1/2, and what is shifted to the right afterwards is little. In between there are
// factors and shifts that the quick way does not take.
ops::QuantBinaryAttrs common_sum(Draw& d, DType type) {
  ops::QuantBinaryAttrs a;
  a.a_zero = zero_point(d, type), a.b_zero = zero_point(d, type), a.y_zero = zero_point(d, type);
  a.left_shift = d.one_in(3) ? d.in(15, 21) : 20;
  const int32_t multipliers[] = {0, 1, 1 << 30, 0x7fff7fff, 0x7fff8000, 0x7fffffff, d.in(0, 0x7fffffff), d.in(1 << 30, 0x7fffffff)};
  a.a_multiplier = a.b_multiplier = 1 << 30;
  const int32_t multiplier = d.one_in(3) ? multipliers[d.in(0, 6)] : multipliers[7], shift = d.one_in(4) ? d.in(-18, 0) : d.in(-9, 0);
  if (d.one_in(2)) a.b_multiplier = multiplier, a.b_shift = shift;
  else a.a_multiplier = multiplier, a.a_shift = shift;
  a.y_multiplier = d.one_in(4) ? multipliers[d.in(0, 6)] : multipliers[7], a.y_shift = d.one_in(4) ? d.in(-31, 0) : d.in(-21, -16);
  if (d.one_in(3)) a.clamp_lo = a.y_zero;
  return a;
}
ops::q_mul::Attrs common_product(Draw& d, DType type) {
  ops::q_mul::Attrs m;
  m.a_zero = zero_point(d, type), m.b_zero = zero_point(d, type), m.y_zero = zero_point(d, type);
  m.multiplier = d.one_in(4) ? d.in(0, 0x7fffffff) : d.in(1 << 30, 0x7fffffff), m.shift = d.one_in(4) ? d.in(-31, 1) : d.in(-9, -1);
  if (d.one_in(3)) m.clamp_hi = m.y_zero;
  return m;
}

// Every pair of bytes.
TEST(Int8Kernels, SumsAndProductsOfAllBytesAgree) {
  for (uint32_t seed = 0; seed < 12 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d);
    Array rows(type, {256, 1}), columns(type, {256});
    for (int i = 0; i < 256; ++i) rows.bytes()[static_cast<size_t>(i)] = columns.bytes()[static_cast<size_t>(i)] = static_cast<uint8_t>(i);
    const ops::QuantBinaryAttrs a = common_sum(d, type);
    expect_same(OpId::q_add, a, {rows, columns});
    expect_same(OpId::q_sub, a, {rows, columns});
    const ops::q_mul::Attrs m = common_product(d, type);
    expect_same(OpId::q_mul, m, {rows, columns});
    // The same pairs as rows that repeat an operand.
    Array whole(type, {256, 256});
    for (size_t i = 0; i < 65536; ++i) whole.bytes()[i] = static_cast<uint8_t>(i / 256);
    expect_same(OpId::q_mul, m, d.one_in(2) ? std::vector<Array>{whole, columns} : std::vector<Array>{columns, whole});
    expect_same(OpId::q_add, a, d.one_in(2) ? std::vector<Array>{whole, columns} : std::vector<Array>{columns, whole});
  }
}

// Patterns that repeat, single elements, enough of them for threads and tables.
TEST(Int8Kernels, LargeSumsAndProductsAgree) {
  for (uint32_t seed = 0; seed < 40 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d);
    const int32_t channels = d.one_in(6) ? d.in(2040, 2060) : d.one_in(3) ? d.in(1, 40) : d.in(41, 200), batch = d.in(1, 2);
    const Shape all{batch, d.in(1, 20), d.in(1, channels > 1000 ? 3 : 20), channels};
    const Shape others[] = {{1}, {}, {channels}, {batch, 1, 1, channels}, {all[1], all[2], 1}, all, {all[2], channels}};
    const Array x = bytes(d, type, all), other = bytes(d, type, others[d.in(0, 6)]);
    const std::vector<Array> in = d.one_in(2) ? std::vector<Array>{x, other} : std::vector<Array>{other, x};
    ops::QuantBinaryAttrs a = common_sum(d, type);
    if (d.one_in(4)) a = sum_of(d, type);
    expect_same_shared(OpId::q_add, a, in, a.y_scale > 0);
    expect_same_shared(OpId::q_sub, a, in, a.y_scale > 0);
    expect_same_shared(OpId::q_mul, common_product(d, type), in);
  }
}

// Bytes as tables, and enough elements for threads.
TEST(Int8Kernels, LargeChangesOfScaleAgree) {
  for (uint32_t seed = 0; seed < 24 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType types[] = {DType::s8, DType::u8, DType::s32};
    const DType type = types[d.in(0, 2)], to = types[d.in(0, 2)];
    const Shape shape{d.in(1, 3), d.in(50, 500), d.in(1, 60)};
    const Array x = type == DType::s32 ? Array::random(type, shape, d.seed(), -2147483648.0, 2147483647.0) : bytes(d, type, shape);
    ops::requantize::Attrs r;
    r.to = static_cast<uint32_t>(to);
    r.input_zero = type == DType::s32 ? d.in(-3000, 3000) : zero_point(d, type);
    r.output_zero = to == DType::s32 ? 0 : zero_point(d, to);
    expect_same_shared(
        OpId::requantize, r,
        {x, Array::random(DType::s32, {1}, d.seed(), 1 << 30, 2147483647.0), Array::random(DType::s32, {1}, d.seed(), -20, 2)});
    if (type == DType::s32) continue;
    expect_same_shared(OpId::q_lut, ops::q_lut::Attrs{}, {x, bytes(d, byte_type(d), {256})});
    if (to != DType::s32) expect_same_shared(OpId::requantize, r, {x, Array::random(DType::f32, {1}, d.seed(), 0.1, 3)});
    expect_same_shared(OpId::dequantize, ops::dequantize::Attrs{}, {x, Array::of<float>({1}, {0.25f}), bytes(d, type, {1})});
  }
}

TEST(Int8Kernels, ChangesOfScaleAndTypeAgree) {
  for (uint32_t seed = 0; seed < 80 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d), to = byte_type(d);
    const Array x = bytes(d, type, some_shape(d));
    expect_same(OpId::q_lut, ops::q_lut::Attrs{}, {x, bytes(d, to, {256})});
    ops::requantize::Attrs r;
    r.to = static_cast<uint32_t>(to);
    r.input_zero = zero_point(d, type), r.output_zero = zero_point(d, to);
    if (d.one_in(2)) expect_same(OpId::requantize, r, {x, Array::random(DType::f32, {1}, d.seed(), 0.1, 3)});
    else
      expect_same(OpId::requantize, r,
                  {x, Array::random(DType::s32, {1}, d.seed(), 1 << 30, 2147483647.0), Array::random(DType::s32, {1}, d.seed(), -4, 4)});
    const Array scale = Array::random(DType::f32, {1}, d.seed(), 0.001, 0.2), zero = bytes(d, type, {1});
    expect_same(OpId::dequantize, ops::dequantize::Attrs{}, {x, scale, zero});
    Array real = Array::random(DType::f32, some_shape(d), d.seed(), -9, 9);
    for (const double v : {0.5, -0.5, 1e30, -1e30, static_cast<double>(NAN), static_cast<double>(INFINITY)})
      real.set(d.in(0, static_cast<int32_t>(real.count()) - 1), v);
    ops::quantize::Attrs q;
    q.to = static_cast<uint32_t>(type);
    q.rounding = static_cast<uint32_t>(d.in(0, 1));
    expect_same(OpId::quantize, q, {real, d.one_in(2) ? scale : Array::of<float>({1}, {1}), zero});
    ops::dynamic_quantize::Attrs dynamic;
    dynamic.mode = static_cast<uint32_t>(d.in(0, 2));
    dynamic.axis = d.in(0, static_cast<int32_t>(real.shape().size()) - 1);
    RunOptions options;
    options.outputs = 3;
    expect_same(OpId::dynamic_quantize, dynamic, {d.one_in(4) ? real : Array::random(DType::f32, real.shape(), d.seed(), -3, 7)}, true,
                options);
  }
}

TEST(Int8Kernels, WideChangesOfScaleAgree) {
  for (uint32_t seed = 0; seed < 40 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType types[] = {DType::s8, DType::u8, DType::s32};
    const DType type = types[d.in(0, 2)], to = types[d.in(0, 2)];
    const Array x =
        type == DType::s32 ? Array::random(type, some_shape(d), d.seed(), -2147483648.0, 2147483647.0) : bytes(d, type, some_shape(d));
    ops::requantize::Attrs r;
    r.to = static_cast<uint32_t>(to);
    r.input_zero = type == DType::s32 ? d.in(-3000, 3000) : zero_point(d, type);
    r.output_zero = to == DType::s32 ? 0 : zero_point(d, to);
    expect_same(OpId::requantize, r,
                {x, Array::random(DType::s32, {1}, d.seed(), 1 << 30, 2147483647.0), Array::random(DType::s32, {1}, d.seed(), -20, 4)});
  }
}

TEST(Int8Kernels, SoftmaxesAgree) {
  for (uint32_t seed = 0; seed < 60 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d), types[] = {DType::s8, DType::u8, DType::s16};
    ops::q_softmax::Attrs a;
    a.to = static_cast<uint32_t>(types[d.in(0, 2)]);
    a.multiplier = d.in(1 << 30, 0x7fffffff), a.shift = d.in(15, 28), a.diff_min = d.one_in(3) ? -255 : d.in(-250, -1);
    expect_same(OpId::q_softmax, a, {bytes(d, type, {d.in(1, 3), d.in(1, 5), d.in(1, d.one_in(4) ? 2048 : 60)})});
    if (d.one_in(6)) expect_same_shared(OpId::q_softmax, a, {bytes(d, type, {d.in(1, 3), d.in(20, 90), d.in(100, 300)})});
    // Elements that are all the same, or nearly so: the greatest sums.
    const int32_t least = type == DType::u8 ? 0 : -128;
    if (d.one_in(4)) expect_same(OpId::q_softmax, a, {Array::random(type, {3, d.in(1, 2048)}, d.seed(), least, least + 1)});
  }
}

TEST(Int8Kernels, MeansUnderAWindowAgree) {
  for (uint32_t seed = 0; seed < 80 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const int spatial = d.one_in(4) ? 1 : 2;
    const DType type = byte_type(d);
    ops::q_avg_pool::Attrs a;
    Shape x{d.in(1, 2)};
    for (int i = 0; i < spatial; ++i) {
      a.kernel[i] = d.one_in(5) ? 0 : d.in(1, 5);
      a.strides[i] = d.in(1, 3);
      a.dilations[i] = a.kernel[i] > 0 && d.one_in(3) ? 2 : 1;
      a.pads_begin[i] = d.in(0, 2), a.pads_end[i] = d.in(0, 2);
      x.push_back((a.kernel[i] > 0 ? (a.kernel[i] - 1) * a.dilations[i] : 0) + d.in(1, 12));
    }
    x.push_back(d.in(1, 70));
    a.ceil_mode = static_cast<uint32_t>(d.in(0, 1)), a.count_include_pad = static_cast<uint32_t>(d.in(0, 1)),
    a.mode = static_cast<uint32_t>(d.in(0, 1));
    a.input_zero = zero_point(d, type), a.output_zero = zero_point(d, type), a.multiplier = 0.7f;
    expect_same(OpId::q_avg_pool, a, {bytes(d, type, x)});
  }
}

TEST(Int8Kernels, MeansAndSumsOverAxesAgree) {
  for (uint32_t seed = 0; seed < 60 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d);
    ops::q_reduce::Attrs a;
    a.axes[0] = 1, a.axes[1] = -2;
    a.axis_count = 2;
    a.kind = static_cast<uint32_t>(d.in(0, 1)), a.mode = static_cast<uint32_t>(d.in(0, 1)), a.keep_dims = d.in(0, 1);
    a.input_zero = zero_point(d, type), a.output_zero = zero_point(d, type);
    a.multiplier = d.in(1 << 29, 1 << 30), a.shift = d.in(-4, 1), a.real_multiplier = 0.3f;
    expect_same(OpId::q_reduce, a, {bytes(d, type, {d.in(1, 3), d.in(1, 9), d.in(1, 9), d.in(1, 90)})});
    // Any axes; lines that are longer than sums of 16 bits.
    a.axis_count = d.in(0, 3);
    const int32_t rank = 4, start = d.in(0, rank - 1);
    for (int32_t i = 0; i < a.axis_count; ++i) a.axes[i] = (start + i) % rank - (d.one_in(2) ? rank : 0);
    const bool is_long = d.one_in(3);
    expect_same_shared(OpId::q_reduce, a,
                       {bytes(d, type, {d.in(1, 2), is_long ? d.in(250, 600) : d.in(1, 9), d.in(1, 9), d.in(1, d.one_in(4) ? 200 : 50)})});
    a.axes[0] = 0, a.axis_count = d.in(0, 1);
    expect_same(OpId::q_reduce, a, {bytes(d, type, {d.in(1, 200)})});
  }
}

TEST(Int8Kernels, JoinedTensorsAgree) {
  for (uint32_t seed = 0; seed < 60 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d);
    ops::q_concat::Attrs a;
    a.axis = d.in(-1, 2), a.output_scale = 0.02f, a.output_zero = zero_point(d, type), a.mode = static_cast<uint32_t>(d.in(0, 1));
    const int axis = a.axis < 0 ? 2 : a.axis, count = d.in(1, 4);
    const Shape all{d.in(1, 4), d.in(1, 6), d.in(1, 40)};
    std::vector<Array> inputs{Array(DType::f32, {count}), Array(DType::s32, {count})};
    for (int i = 0; i < count; ++i) {
      const bool same = d.one_in(3);
      inputs[0].set(i, same ? static_cast<double>(0.02f) : static_cast<double>(d.in(1, 90)) / 1000);
      inputs[1].set(i, same ? a.output_zero : zero_point(d, type));
      Shape part = all;
      part[static_cast<size_t>(axis)] = d.in(1, 20);
      inputs.push_back(bytes(d, type, part));
    }
    expect_same(OpId::q_concat, a, inputs);
  }
}

}  // namespace
}  // namespace mote::optest
