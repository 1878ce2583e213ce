#pragma once

// One call of every family of kernels that is no product of packed weights. Operations are counted as if a function of one number (exp,
// tanh) took 20, a quotient or a root 4.

#include "bench/ops/call.h"
#include "mote/ops/attention/attention.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/conv_winograd/conv_winograd.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/lstm/lstm.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/resize/resize.h"
#include "mote/ops/rms_norm/rms_norm.h"
#include "mote/ops/softmax/softmax.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::bench {

struct NoAttrs {};
inline constexpr double kFunction = 20, kQuotient = 4;

template <class A>
Call one_input(OpId op, const A& attrs, const std::vector<int32_t>& dims, double per_element) {
  double count = 1;
  for (const int32_t d : dims) count *= d;
  return Call(op, attrs, {{dims}, {dims}}, per_element * count);
}

template <class A>
Call pool(OpId op, int32_t size, int32_t channels) {
  A a;
  for (int i = 0; i < 2; ++i) a.kernel[i] = 3, a.strides[i] = 2, a.pads_begin[i] = 1, a.pads_end[i] = 0;
  const int32_t out = size / 2;
  return Call(op, a, {{{1, size, size, channels}}, {{1, out, out, channels}}}, 9.0 * out * out * channels);
}

inline Call reduce(OpId op, int32_t rows, int32_t columns, int32_t axis) {
  ops::ReduceAttrs a;
  a.axes[0] = axis;
  a.axis_count = 1;
  return Call(op, a, {{{rows, columns}}, axis == 0 ? Operand{{1, columns}} : Operand{{rows, 1}}}, 1.0 * rows * columns);
}

template <class A>
Call norm(OpId op, int32_t rows, int32_t columns, double per_element) {
  return Call(op, A{}, {{{rows, columns}}, {{columns}}, {{rows, columns}}}, per_element * rows * columns);
}

inline Call attention(int32_t heads, int32_t length, int32_t depth) {
  const Operand all{{1, heads, length, depth}};
  return Call(OpId::attention, ops::attention::Attrs{}, {all, all, all, all},
              1.0 * heads * length * length * (4 * depth + kFunction + kQuotient));
}

inline Call lstm(int32_t steps, int32_t batch, int32_t hidden) {
  const double products = 2.0 * 4 * hidden * 2 * hidden, functions = 5 * (kFunction + kQuotient) * hidden;
  return Call(OpId::lstm, ops::lstm::Attrs{},
              {{{steps, batch, hidden}}, {{1, 4 * hidden, hidden}}, {{1, 4 * hidden, hidden}}, {{steps, 1, batch, hidden}}},
              steps * batch * (products + functions));
}

inline Call resize(int32_t size, int32_t channels) {
  ops::resize::Attrs a;
  a.mode = ops::resize::kLinear;
  a.sizes[0] = a.sizes[1] = 2 * size;
  return Call(OpId::resize, a, {{{1, size, size, channels}}, {{1, 2 * size, 2 * size, channels}}}, 4.0 * size * size * channels * 6);
}

inline Call transpose(int32_t rows, int32_t columns) {
  ops::transpose::Attrs a;
  a.rank = 2;
  a.perm[0] = 1;
  return Call(OpId::transpose, a, {{{rows, columns}}, {{columns, rows}}}, 1.0 * rows * columns);
}

// Multiplications of the transformed values alone.
inline Call winograd(int32_t size, int32_t channels) {
  ops::conv_winograd::Attrs a;
  for (int i = 0; i < 2; ++i) a.pads_begin[i] = a.pads_end[i] = 1;
  const int32_t tiles = (size + 3) / 4 * ((size + 3) / 4);
  const auto work = static_cast<int32_t>(ops::winograd::work_floats(channels, channels, tiles));
  return Call(
      OpId::conv_winograd, a,
      {{{1, size, size, channels}}, {{36 * channels, channels}, DType::f32, Layout::kPanel16}, {{1, size, size, channels}}, {{work}}},
      2.0 * 36 * tiles * channels * channels, 2);
}

// f(name, call) for each.
template <class F>
void each_family(const F& f) {
  const std::vector<int32_t> plane{1, 28, 28, 96};
  f("winograd 28x28 64 -> 64", winograd(28, 64));
  f("add", Call(OpId::add, NoAttrs{}, {{plane}, {plane}, {plane}}, 28.0 * 28 * 96));
  f("relu", one_input(OpId::relu, NoAttrs{}, plane, 1));
  f("sigmoid", one_input(OpId::sigmoid, NoAttrs{}, plane, kFunction + kQuotient));
  f("gelu", one_input(OpId::gelu, ops::gelu::Attrs{}, plane, kFunction + kQuotient));
  f("max_pool 3x3 /2 56x56 32", pool<ops::max_pool::Attrs>(OpId::max_pool, 56, 32));
  f("avg_pool 3x3 /2 56x56 32", pool<ops::avg_pool::Attrs>(OpId::avg_pool, 56, 32));
  f("reduce_mean 128 x 512, rows", reduce(OpId::reduce_mean, 128, 512, 1));
  f("reduce_mean 128 x 512, columns", reduce(OpId::reduce_mean, 128, 512, 0));
  f("softmax 128 x 512", one_input(OpId::softmax, ops::softmax::Attrs{}, {128, 512}, kFunction + 4));
  f("layer_norm 128 x 384", norm<ops::layer_norm::Attrs>(OpId::layer_norm, 128, 384, 7));
  f("rms_norm 128 x 384", norm<ops::rms_norm::Attrs>(OpId::rms_norm, 128, 384, 4));
  f("attention 12 heads 128 x 32", attention(12, 128, 32));
  f("attention 4 heads 256 x 64", attention(4, 256, 64));
  f("lstm 16 steps, batch 1, 128", lstm(16, 1, 128));
  f("lstm 16 steps, batch 8, 128", lstm(16, 8, 128));
  f("resize linear 28x28 -> 56x56 32", resize(28, 32));
  f("transpose 256 x 384", transpose(256, 384));
}

}  // namespace mote::bench
