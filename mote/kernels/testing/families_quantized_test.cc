// Families: integers that stand for real numbers.

#include "mote/kernels/testing/families.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/dynamic_quantize/dynamic_quantize.h"
#include "mote/ops/q_add/q_add.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_concat/q_concat.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/q_reduce/q_reduce.h"
#include "mote/ops/q_softmax/q_softmax.h"
#include "mote/ops/quantize/quantize.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::kerneltest {
namespace {

using optest::bytes;
using optest::packed;

enum class Added { kNothing, kFixed, kReal, kInSums };

// Quantized windows; a residual of the output's shape is added in one of three ways.
void quantized_window(Draw& d, int32_t channels, int32_t kernel, int32_t stride, bool depthwise, Added added, DType type, bool shared) {
  ops::q_conv::Attrs a;
  a.groups = depthwise ? channels : 1;
  // 16-bit results come from bytes.
  const DType from = type == DType::s16 ? DType::s8 : type;
  const int32_t middle = type == DType::u8 ? 128 : 0;
  a.to = static_cast<uint32_t>(type), a.input_zero = middle + d.in(-9, 9), a.output_zero = middle + d.in(-9, 9);
  for (int i = 0; i < 2; ++i) a.strides[i] = stride, a.pads_begin[i] = a.pads_end[i] = kernel / 2;
  const int32_t height = 4, deep = depthwise ? 1 : 9;
  const int32_t width = width_for(channels, height, depthwise ? 7 : 40, shared) * stride;
  const Array x = bytes(d, from, {1, height * stride, width, deep * a.groups});
  std::vector<Array> in{
      x, packed(bytes(d, DType::s8, {channels, kernel, kernel, deep})), Array::random(DType::s32, {channels}, d.seed(), -2000, 2000),
      Array::random(DType::s32, {channels}, d.seed(), 1 << 30, 2147483647.0), Array::random(DType::s32, {channels}, d.seed(), -9, -5)};
  if (added != Added::kNothing) {
    ops::QuantBinaryAttrs s;
    s.mode = added == Added::kReal ? 1 : 0;
    s.left_shift = type == DType::s16 ? 12 : 20;
    s.a_multiplier = d.in(1 << 30, 0x7fffffff), s.b_multiplier = d.in(1 << 30, 0x7fffffff), s.y_multiplier = d.in(1 << 30, 0x7fffffff);
    s.a_shift = 0, s.b_shift = -1, s.y_shift = -18;
    s.a_scale = 0.02f, s.b_scale = 0.031f, s.y_scale = 0.05f;
    if (added == Added::kInSums) s.mode = static_cast<uint32_t>(ops::QuantMode::kSums), s.b_shift = -12;
    ops::q_conv::set_sum_attrs(a, s);
    in.resize(8);
    const Shape shape{1, (height * stride - 1) / stride + 1, (width - 1) / stride + 1, channels};
    in.push_back(type == DType::s16 ? Array::random(type, shape, d.seed(), -9000, 9000) : bytes(d, type, shape));
    if (added == Added::kInSums) in.push_back(Array::random(DType::s32, {channels}, d.seed(), 1, 1 << 20));
  }
  expect_equal(OpId::q_conv, a, in, {}, false);
}

ops::QuantBinaryAttrs sum_attrs(Draw& d) {
  ops::QuantBinaryAttrs a;
  a.mode = static_cast<uint32_t>(d.in(0, 1));
  a.a_zero = 3, a.b_zero = -2, a.y_zero = 1, a.left_shift = 20;
  a.a_multiplier = 1 << 30, a.b_multiplier = d.in(1 << 30, 0x7fffffff), a.y_multiplier = d.in(1 << 30, 0x7fffffff);
  a.b_shift = -1, a.y_shift = -18;
  a.a_scale = 0.02f, a.b_scale = 0.0313f, a.y_scale = 0.05f;
  return a;
}

// Codes of any type that the operators take; kernels may leave 16 bits to the portable ones.
Array codes(Draw& d, DType type, const Shape& shape) {
  return type == DType::s16 ? Array::random(type, shape, d.seed(), -32768, 32767) : bytes(d, type, shape);
}

void product(Draw& d, DType to, int32_t c, bool shared) {
  ops::q_matmul::Attrs a;
  const DType from = to == DType::u8 ? DType::u8 : DType::s8;
  a.to = static_cast<uint32_t>(to), a.input_zero = from == DType::u8 ? 131 : 4, a.output_zero = to == DType::u8 ? 120 : -3;
  expect_equal(OpId::q_matmul, a,
               {bytes(d, from, {width_for(c, 1, 6, shared), c}), packed(bytes(d, DType::s8, {c, c})),
                Array::random(DType::s32, {c}, d.seed(), -2000, 2000), Array::random(DType::f32, {c}, d.seed(), 0.0001, 0.01)},
               {}, false);
}

void sums_and_products(Draw& d, DType type, int32_t c, const Shape& other) {
  const Array x = codes(d, type, {2, 3, c}), y = codes(d, type, other);
  ops::QuantBinaryAttrs a = sum_attrs(d);
  if (type == DType::u8) a.a_zero = 131, a.b_zero = 120, a.y_zero = 127;
  if (type == DType::s16) a.left_shift = 12, a.a_zero = a.b_zero = a.y_zero = 0;
  expect_equal(OpId::q_add, a, {x, y}, {}, false);
  expect_equal(OpId::q_sub, a, {y, x}, {}, false);
  ops::q_mul::Attrs m;
  m.multiplier = a.y_multiplier, m.shift = type == DType::s16 ? -14 : -6;
  expect_equal(OpId::q_mul, m, {x, y}, {}, false);
}

void scales(Draw& d, DType type, int32_t c) {
  const Array scale = Array::scalar(DType::f32, 0.03), zero = Array::scalar(type, type == DType::s16 ? 0 : 3);
  ops::quantize::Attrs q;
  q.to = static_cast<uint32_t>(type);
  expect_equal(OpId::quantize, q, {d.f32({3, c}), scale, zero}, {}, false);
  expect_equal(OpId::dequantize, ops::dequantize::Attrs{}, {codes(d, type, {3, c}), scale, zero}, {}, false);
  ops::requantize::Attrs r;
  r.to = static_cast<uint32_t>(type);
  expect_equal(OpId::requantize, r, {codes(d, type, {3, c}), Array::scalar(DType::f32, 0.7)}, {}, false);
  if (type == DType::s16) return;
  expect_equal(OpId::q_lut, NoAttrs{}, {bytes(d, type, {3, c}), bytes(d, type, {256})}, {}, false);
  ops::q_softmax::Attrs s;
  s.to = static_cast<uint32_t>(type), s.multiplier = 1 << 30, s.shift = 22, s.diff_min = -200;
  expect_equal(OpId::q_softmax, s, {bytes(d, type, {3, c})}, {}, false);
}

void means(Draw& d, DType type, int32_t c, bool shared) {
  const int32_t zero = type == DType::u8 ? 7 : 0;
  ops::q_reduce::Attrs a;
  a.axes[0] = 1, a.axis_count = 1, a.input_zero = a.output_zero = zero;
  expect_equal(OpId::q_reduce, a, {codes(d, type, {2, shared ? 110000 / c + 1 : 5, c})}, {}, false);
  ops::q_avg_pool::Attrs p;
  for (int i = 0; i < 2; ++i) p.kernel[i] = 3, p.strides[i] = 2, p.pads_begin[i] = 1;
  p.input_zero = p.output_zero = zero;
  expect_equal(OpId::q_avg_pool, p, {codes(d, type, {1, 6, shared ? 7 + 9000 / c : 7, c})}, {}, false);
}

void joined(Draw& d, DType type, int32_t c) {
  ops::q_concat::Attrs a;
  a.axis = 1, a.output_scale = 0.02f, a.mode = static_cast<uint32_t>(d.in(0, 1));
  std::vector<Array> in{Array::of<float>({3}, {static_cast<double>(0.02f), 0.031, 0.011}), Array::from(DType::s32, {3}, {0, 1, 2})};
  for (const int32_t n : {c, 7, c}) in.push_back(codes(d, type, {3, n}));
  expect_equal(OpId::q_concat, a, in, {}, false);
}

}  // namespace

void add_quantized_families(std::vector<Family>* all) {
  const auto add = [&](const std::string& name, auto run, bool heavy = false) { all->push_back({name, run, heavy}); };
  const char* const ways[] = {"_alone", "_plus_fixed", "_plus_real", "_plus_in_sums"};
  const DType types[] = {DType::s8, DType::u8, DType::s16};
  for (const DType type : types) {
    const std::string of = std::string("_") + dtype_name(type);
    for (int way = 0; way < 4; ++way) {
      const Added added = static_cast<Added>(way);
      const auto window = [&](const std::string& name, int32_t kernel, int32_t stride, bool depthwise) {
        // Every number of channels with the usual type.
        add(
            name + ways[way] + of,
            [=](Draw& d, int32_t c, bool shared) { quantized_window(d, c, kernel, stride, depthwise, added, type, shared); },
            type != DType::s8);
      };
      window("q_depthwise_3x3", 3, 1, true);
      window("q_depthwise_3x3_by_2", 3, 2, true);
      window("q_depthwise_5x5", 5, 1, true);
      window("q_depthwise_7x7", 7, 1, true);
      window("q_conv_1x1", 1, 1, false);
      window("q_conv_3x3", 3, 1, false);
    }
    add(
        "q_matmul" + of, [=](Draw& d, int32_t c, bool shared) { product(d, type, c, shared); }, type != DType::s8);
    add("q_add" + of, [=](Draw& d, int32_t c, bool) { sums_and_products(d, type, c, {2, 3, c}); });
    add("q_add_row" + of, [=](Draw& d, int32_t c, bool) { sums_and_products(d, type, c, {c}); });
    add("scales" + of, [=](Draw& d, int32_t c, bool) { scales(d, type, c); });
    add("q_means" + of, [=](Draw& d, int32_t c, bool shared) { means(d, type, c, shared); });
    add("q_concat" + of, [=](Draw& d, int32_t c, bool) { joined(d, type, c); });
  }
  add("dynamic_quantize", [](Draw& d, int32_t c, bool) {
    RunOptions options;
    options.outputs = 3;
    for (uint32_t mode = 0; mode < 3; ++mode) {
      ops::dynamic_quantize::Attrs a;
      a.mode = mode, a.axis = 1;
      expect_equal(OpId::dynamic_quantize, a, {d.f32({3, c})}, options, false);
    }
  });
}

}  // namespace mote::kerneltest
