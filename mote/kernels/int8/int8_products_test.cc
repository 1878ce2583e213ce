// Quantized matrix products and convolutions with random operands, shapes and attributes: the same bits as the portable kernels.

#include "mote/kernels/testing/integers.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::optest {
namespace {

// Inputs 2 to 7 (the epilogue's) of a quantized product with n outputs, and the attributes that go with them.
template <class A>
std::vector<Array> epilogue_inputs(Draw& d, DType x_type, int32_t n, int32_t rows, bool depthwise, A* a) {
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
    std::vector<Array> in = epilogue_inputs(d, type, n, static_cast<int32_t>(x.count() / k), false, &a);
    in.insert(in.begin(), {x, packed(w)});
    expect_same(OpId::q_matmul, a, in);
    if (HasFatalFailure()) return;
  }
}

// What most layers have: symmetric weights, one zero point, 8-bit outputs with scales below 1. These are requantized in registers, for any
// number of panels and rows.
TEST(Int8Kernels, CommonProductsAgree) {
  for (uint32_t seed = 0; seed < 160 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d), y = byte_type(d);
    const bool is_conv = d.one_in(2), deep = d.one_in(2);
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
    if (is_conv) {
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

// Dynamically quantized activations: a scale per row, f32 outputs.
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

// Both operands are activations, in batches that may be broadcast.
TEST(Int8Kernels, ActivationProductsAgree) {
  for (uint32_t seed = 0; seed < 60 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = d.one_in(2) ? DType::s8 : DType::u8, rhs_type = d.one_in(2) ? DType::s8 : DType::u8;
    const int32_t m = d.in(1, 40), n = d.in(1, 90), k = d.in(1, d.one_in(6) ? 1500 : 150), batch = d.in(1, 3);
    const Array x = bytes(d, type, d.one_in(3) ? Shape{1, m, k} : Shape{batch, m, k}),
                w = bytes(d, rhs_type, Shape{2, d.one_in(3) ? 1 : batch, n, k});
    ops::q_matmul::Attrs a;
    std::vector<Array> in = epilogue_inputs(d, type, n, static_cast<int32_t>(x.count() / k), false, &a);
    if (rhs_type == DType::u8) a.weight_zero = d.in(0, 255), in[4] = Array();
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
  const bool to_accumulator = d.one_in(2);
  const auto zero = [&] { return y == DType::s16 ? d.in(-900, 900) : zero_point(d, y); };
  s.a_zero = zero(), s.b_zero = zero(), s.y_zero = zero();
  s.left_shift = y == DType::s16 ? 12 : 20;
  s.a_multiplier = d.in(1 << 30, 0x7fffffff), s.b_multiplier = d.in(1 << 30, 0x7fffffff), s.y_multiplier = d.in(1 << 30, 0x7fffffff);
  // Powers of two: many sums are ties.
  if (d.one_in(3)) s.a_multiplier = s.b_multiplier = s.y_multiplier = 1 << 30;
  s.a_shift = d.in(-3, 0), s.b_shift = d.in(-3, -1), s.y_shift = d.in(-21, -15);
  s.a_scale = 0.02f, s.b_scale = 0.031f, s.y_scale = 0.05f;
  if (to_accumulator) s.mode = static_cast<uint32_t>(ops::QuantMode::kSums), s.b_shift = d.in(-20, 0);
  ops::q_conv::set_sum_attrs(*a, s);
  in->push_back(Array::random(y, shape.outputs[0].shape(), d.seed(), y == DType::u8 ? 0 : -128, 127));
  const int32_t n = static_cast<int32_t>(shape.outputs[0].shape().back());
  if (to_accumulator) in->push_back(Array::random(DType::s32, d.one_in(3) ? Shape{1} : Shape{n}, d.seed(), -10, 1 << 22));
}

ops::q_conv::Attrs conv_attrs(Draw& d, int spatial) {
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
  ops::q_conv::Attrs a = conv_attrs(d, spatial);
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
  std::vector<Array> in = epilogue_inputs(d, type, groups * outputs, x[0], depthwise, &a);
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

// 3x3 and 5x5 windows, which have kernels of their own: blocks of channels and tails, one or two rows of outputs at a time, some of the
// rows, all edges; most with outputs that are requantized in registers. Some are large enough for threads to share them.
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

// Shapes for tiles and wide registers: many channels, more rows than one tile has.
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
    std::vector<Array> in = epilogue_inputs(d, type, outputs * a.groups, input.shape()[0], depthwise, &a);
    in.insert(in.begin(), {input, packed(weights)});
    add_residual(d, input, &a, &in);
    expect_same(OpId::q_conv, a, in);
  }
}

}  // namespace
}  // namespace mote::optest
