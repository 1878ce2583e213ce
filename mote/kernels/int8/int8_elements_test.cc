// Element-wise, reduction, pooling and lookup operators with random operands: the same bits as the portable kernels.

#include "mote/kernels/testing/integers.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/dynamic_quantize/dynamic_quantize.h"
#include "mote/ops/q_add/q_add.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_concat/q_concat.h"
#include "mote/ops/q_lut/q_lut.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/q_reduce/q_reduce.h"
#include "mote/ops/q_softmax/q_softmax.h"
#include "mote/ops/q_sub/q_sub.h"
#include "mote/ops/quantize/quantize.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::optest {
namespace {

Shape random_shape(Draw& d) {
  Shape s;
  for (int i = d.in(1, 4); i > 0; --i) s.push_back(d.in(1, i == 1 ? 90 : 6));
  return s;
}

ops::QuantBinaryAttrs random_sum_attrs(Draw& d, DType type) {
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

TEST(Int8Kernels, AddSubMulAgree) {
  for (uint32_t seed = 0; seed < 80 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d);
    const Shape shape = random_shape(d);
    Shape other = shape;
    for (int32_t& n : other)
      if (d.one_in(4)) n = 1;
    const std::vector<Array> in{bytes(d, type, shape), bytes(d, type, other)};
    const ops::QuantBinaryAttrs a = random_sum_attrs(d, type);
    // The fast kernels reject scales that cannot be divided by.
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

// Attributes as TFLite prepares them: one operand's multiplier is 1/2, and right shifts are small. Some are outside of what the specialised
// paths take.
ops::QuantBinaryAttrs common_sum_attrs(Draw& d, DType type) {
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
ops::q_mul::Attrs common_mul_attrs(Draw& d, DType type) {
  ops::q_mul::Attrs m;
  m.a_zero = zero_point(d, type), m.b_zero = zero_point(d, type), m.y_zero = zero_point(d, type);
  m.multiplier = d.one_in(4) ? d.in(0, 0x7fffffff) : d.in(1 << 30, 0x7fffffff), m.shift = d.one_in(4) ? d.in(-31, 1) : d.in(-9, -1);
  if (d.one_in(3)) m.clamp_hi = m.y_zero;
  return m;
}

// Every pair of bytes.
TEST(Int8Kernels, AddSubMulOfAllBytesAgree) {
  for (uint32_t seed = 0; seed < 12 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d);
    Array rows(type, {256, 1}), columns(type, {256});
    for (int i = 0; i < 256; ++i) rows.bytes()[static_cast<size_t>(i)] = columns.bytes()[static_cast<size_t>(i)] = static_cast<uint8_t>(i);
    const ops::QuantBinaryAttrs a = common_sum_attrs(d, type);
    expect_same(OpId::q_add, a, {rows, columns});
    expect_same(OpId::q_sub, a, {rows, columns});
    const ops::q_mul::Attrs m = common_mul_attrs(d, type);
    expect_same(OpId::q_mul, m, {rows, columns});
    // The same pairs with a broadcast operand along rows.
    Array row_values(type, {256, 256});
    for (size_t i = 0; i < 65536; ++i) row_values.bytes()[i] = static_cast<uint8_t>(i / 256);
    expect_same(OpId::q_mul, m, d.one_in(2) ? std::vector<Array>{row_values, columns} : std::vector<Array>{columns, row_values});
    expect_same(OpId::q_add, a, d.one_in(2) ? std::vector<Array>{row_values, columns} : std::vector<Array>{columns, row_values});
  }
}

// Broadcast operands, single elements, tensors large enough for threads and lookup tables.
TEST(Int8Kernels, LargeAddSubMulAgree) {
  for (uint32_t seed = 0; seed < 40 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d);
    const int32_t channels = d.one_in(6) ? d.in(2040, 2060) : d.one_in(3) ? d.in(1, 40) : d.in(41, 200), batch = d.in(1, 2);
    const Shape all{batch, d.in(1, 20), d.in(1, channels > 1000 ? 3 : 20), channels};
    const Shape others[] = {{1}, {}, {channels}, {batch, 1, 1, channels}, {all[1], all[2], 1}, all, {all[2], channels}};
    const Array x = bytes(d, type, all), other = bytes(d, type, others[d.in(0, 6)]);
    const std::vector<Array> in = d.one_in(2) ? std::vector<Array>{x, other} : std::vector<Array>{other, x};
    ops::QuantBinaryAttrs a = common_sum_attrs(d, type);
    if (d.one_in(4)) a = random_sum_attrs(d, type);
    expect_same_shared(OpId::q_add, a, in, a.y_scale > 0);
    expect_same_shared(OpId::q_sub, a, in, a.y_scale > 0);
    expect_same_shared(OpId::q_mul, common_mul_attrs(d, type), in);
  }
}

// Requantization by lookup table, tensors large enough for threads.
TEST(Int8Kernels, LargeRequantizeAgrees) {
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

TEST(Int8Kernels, RequantizeAndQuantizeAgree) {
  for (uint32_t seed = 0; seed < 80 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d), to = byte_type(d);
    const Array x = bytes(d, type, random_shape(d));
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
    Array real = Array::random(DType::f32, random_shape(d), d.seed(), -9, 9);
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

TEST(Int8Kernels, RequantizeOfS32Agrees) {
  for (uint32_t seed = 0; seed < 40 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType types[] = {DType::s8, DType::u8, DType::s32};
    const DType type = types[d.in(0, 2)], to = types[d.in(0, 2)];
    const Array x =
        type == DType::s32 ? Array::random(type, random_shape(d), d.seed(), -2147483648.0, 2147483647.0) : bytes(d, type, random_shape(d));
    ops::requantize::Attrs r;
    r.to = static_cast<uint32_t>(to);
    r.input_zero = type == DType::s32 ? d.in(-3000, 3000) : zero_point(d, type);
    r.output_zero = to == DType::s32 ? 0 : zero_point(d, to);
    expect_same(OpId::requantize, r,
                {x, Array::random(DType::s32, {1}, d.seed(), 1 << 30, 2147483647.0), Array::random(DType::s32, {1}, d.seed(), -20, 4)});
  }
}

TEST(Int8Kernels, SoftmaxAgrees) {
  for (uint32_t seed = 0; seed < 60 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw d(seed);
    const DType type = byte_type(d), types[] = {DType::s8, DType::u8, DType::s16};
    ops::q_softmax::Attrs a;
    a.to = static_cast<uint32_t>(types[d.in(0, 2)]);
    a.multiplier = d.in(1 << 30, 0x7fffffff), a.shift = d.in(15, 28), a.diff_min = d.one_in(3) ? -255 : d.in(-250, -1);
    expect_same(OpId::q_softmax, a, {bytes(d, type, {d.in(1, 3), d.in(1, 5), d.in(1, d.one_in(4) ? 2048 : 60)})});
    if (d.one_in(6)) expect_same_shared(OpId::q_softmax, a, {bytes(d, type, {d.in(1, 3), d.in(20, 90), d.in(100, 300)})});
    // Elements that are equal, or nearly so: the largest sums.
    const int32_t least = type == DType::u8 ? 0 : -128;
    if (d.one_in(4)) expect_same(OpId::q_softmax, a, {Array::random(type, {3, d.in(1, 2048)}, d.seed(), least, least + 1)});
  }
}

TEST(Int8Kernels, AveragePoolsAgree) {
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
    a.input_zero = zero_point(d, type), a.output_zero = zero_point(d, type);
    a.multiplier = d.one_in(2) ? 0.7f : 0.5f * static_cast<float>(d.in(1, 4));  // with ties or without
    expect_same(OpId::q_avg_pool, a, {bytes(d, type, x)});
  }
}

TEST(Int8Kernels, ReductionsAgree) {
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
    // Any axes; lines longer than 16-bit accumulators can take.
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

TEST(Int8Kernels, ConcatAgrees) {
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
