// Families: convolutions and products of floats, attention, recurrent layers.

#include "mote/kernels/testing/families.h"
#include "mote/ops/attention/attention.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/conv_winograd/conv_winograd.h"
#include "mote/ops/embedding/embedding.h"
#include "mote/ops/gru/gru.h"
#include "mote/ops/lstm/lstm.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::kerneltest {
namespace {

void real_window(Draw& d, int32_t channels, int32_t kernel, bool depthwise, bool residual, bool shared) {
  ops::conv::Attrs a;
  a.groups = depthwise ? channels : 1;
  a.activation = residual ? 2 : 0;
  for (int i = 0; i < 2; ++i) a.pads_begin[i] = a.pads_end[i] = kernel / 2;
  const int32_t height = 4, deep = depthwise ? 1 : 9, width = width_for(channels, height, depthwise ? 18 : 9, shared);
  std::vector<Array> in{d.f32({1, height, width, deep * a.groups}, -1, 1),
                        d.f32({channels, kernel, kernel, deep}, -1, 1).packed(Layout::kPanel16), d.f32({channels})};
  if (residual) in.push_back(d.f32({1, height, width, channels}));
  expect_close(OpId::conv, a, in, 2e-5, {}, false);
}

// Groups of several channels each.
void grouped_window(Draw& d, int32_t channels, int32_t kernel, bool residual, bool shared) {
  ops::conv::Attrs a;
  a.groups = d.in(2, 3);
  for (int i = 0; i < 2; ++i) a.pads_begin[i] = a.pads_end[i] = kernel / 2;
  const int32_t height = 4, deep = 4, all = channels * a.groups, width = width_for(all, height, 9, shared);
  std::vector<Array> in{d.f32({1, height, width, deep * a.groups}, -1, 1),
                        d.f32({all, kernel, kernel, deep}, -1, 1).packed(Layout::kPanel16), d.f32({all})};
  if (residual) in.push_back(d.f32({1, height, width, all}));
  expect_close(OpId::conv, a, in, 2e-5, {}, false);
}

void transposed_window(Draw& d, int32_t channels, bool residual, bool shared) {
  ops::conv_transpose::Attrs a;
  for (int i = 0; i < 2; ++i) a.strides[i] = 2, a.pads_begin[i] = 1;
  const int32_t width = shared ? width_for(channels, 4, 30, true) : 5;
  std::vector<Array> in{d.f32({1, 4, width, 7}, -1, 1), d.f32({channels, 3, 3, 7}, -1, 1).packed(Layout::kPanel16), d.f32({channels})};
  if (residual) in.push_back(d.f32({1, 8, 2 * width, channels}));
  expect_close(OpId::conv_transpose, a, in, 2e-5, {}, false);
}

void winograd(Draw& d, int32_t channels, bool residual, bool shared) {
  ops::conv_winograd::Attrs a;
  a.activation = residual ? 2 : 0;
  for (int i = 0; i < 2; ++i) a.pads_begin[i] = a.pads_end[i] = 1;
  // Outputs come in panels; the other case has any number of channels to add.
  const int32_t outputs = residual ? 32 : (channels + 15) / 16 * 16, deep = residual ? channels : 12;
  const int32_t width = shared ? width_for(channels, 9, 120, true) : 10;
  std::vector<Array> in{d.f32({1, 9, width, deep}, -1, 1),
                        d.f32({ops::winograd::kPoints * outputs, deep}, -0.1, 0.1).packed(Layout::kPanel16), d.f32({outputs})};
  if (residual) in.push_back(d.f32({1, 9, width, outputs}));
  RunOptions options;
  options.outputs = 2;
  expect_close(OpId::conv_winograd, a, in, 1e-3, options, false, 1);
}

// Weights of every type that products of floats take.
void weights_of(Draw& d, DType type, Layout layout, int32_t group, int32_t channels, bool window, bool shared) {
  const bool bytes = type == DType::s8 || type == DType::s4;
  const double most = type == DType::s4 ? 7 : bytes ? 127 : 1;
  const int32_t deep = group == 0 ? 20 : window ? 32 : 64;
  const Shape shape = window ? Shape{channels, 3, 3, deep} : Shape{channels, deep};
  const int32_t groups = (window ? 9 * deep : deep) / std::max(group, 1);
  const Array w = Array::random(type, shape, d.seed(), -most, most).packed(layout);
  const Array scales = bytes ? d.f32(group == 0 ? Shape{channels}
                                     : window   ? Shape{groups, channels}
                                                : Shape{channels, groups},
                                     0.001, 0.01)
                             : Array::none();
  const int32_t rows = shared ? width_for(channels, 1, window ? 9 * deep : deep, true) : 3;
  if (window) {
    ops::conv::Attrs a;
    a.group_size = group;
    for (int i = 0; i < 2; ++i) a.pads_begin[i] = a.pads_end[i] = 1;
    expect_close(OpId::conv, a, {d.f32({1, 3, rows, deep}, -1, 1), w, d.f32({channels}), Array::none(), scales}, 1e-4, {}, false);
  } else {
    ops::matmul::Attrs a;
    a.transpose_b = 1, a.group_size = group;
    expect_close(OpId::matmul, a, {d.f32({rows, deep}, -1, 1), w, d.f32({channels}), d.f32({rows, channels}), scales}, 5e-5, {}, false);
  }
}

void attention(Draw& d, int32_t channels, bool by_depth, bool shared) {
  ops::attention::Attrs a;
  a.is_causal = d.in(0, 1);
  const int32_t s = shared ? 40 : d.in(1, 6), t = by_depth ? d.in(6, 20) : channels, depth = by_depth ? channels : 12;
  const int32_t heads = shared ? 4 : 2;
  expect_close(OpId::attention, a,
               {d.f32({1, heads, s, depth}, -1, 1), d.f32({1, heads, t, depth}, -1, 1), d.f32({1, heads, t, depth}),
                d.one_in(2) ? Array::none() : d.f32({1, 1, s, t})},
               1e-5, {}, false);
}

template <class A>
void recurrent(Draw& d, OpId op, int32_t gates, int32_t outputs, int32_t channels, bool shared) {
  A a;
  const int32_t steps = 2, batch = shared ? 4 : 2, input = 9;
  RunOptions options;
  options.outputs = outputs;
  std::vector<Array> in{d.f32({steps, batch, input}, -1, 1),
                        d.f32({1, gates * channels, input}, -0.3, 0.3),
                        d.f32({1, gates * channels, channels}, -0.3, 0.3),
                        d.f32({1, 2 * gates * channels}, -1, 1),
                        Array::none(),
                        d.f32({1, batch, channels}, -1, 1)};
  expect_close(op, a, in, 2e-5, options, false);
}

void embed(Draw& d, DType type, int32_t channels) {
  const double most = type == DType::s4 ? 7 : type == DType::s8 ? 127 : 1;
  const int32_t width = type == DType::s4 ? 2 * channels : channels;
  const bool whole = type == DType::s4 || type == DType::s8;
  std::vector<Array> in{Array::random(type, {11, width}, d.seed(), -most, most), Array::random(DType::s64, {2, 3}, d.seed(), -11, 10)};
  if (whole) in.push_back(d.f32({11}, 0.001, 0.1));
  expect_close(OpId::embedding, ops::embedding::Attrs{}, in, 1e-6, {}, false);
}

}  // namespace

void add_product_families(std::vector<Family>* all) {
  const auto add = [&](const std::string& name, auto run, bool heavy = false) { all->push_back({name, run, heavy}); };
  for (const bool residual : {false, true}) {
    const std::string plus = residual ? "_plus" : "";
    add("depthwise_3x3" + plus, [=](Draw& d, int32_t c, bool shared) { real_window(d, c, 3, true, residual, shared); });
    add("depthwise_5x5" + plus, [=](Draw& d, int32_t c, bool shared) { real_window(d, c, 5, true, residual, shared); });
    add("conv_1x1" + plus, [=](Draw& d, int32_t c, bool shared) { real_window(d, c, 1, false, residual, shared); });
    add("conv_3x3" + plus, [=](Draw& d, int32_t c, bool shared) { real_window(d, c, 3, false, residual, shared); });
    add(
        "conv_grouped" + plus, [=](Draw& d, int32_t c, bool shared) { grouped_window(d, c, 3, residual, shared); }, true);
    add(
        "conv_transpose" + plus, [=](Draw& d, int32_t c, bool shared) { transposed_window(d, c, residual, shared); }, true);
    add(
        "winograd" + plus, [=](Draw& d, int32_t c, bool shared) { winograd(d, c, residual, shared); }, true);
  }
  add("matmul", [](Draw& d, int32_t c, bool shared) {
    expect_close(OpId::matmul, ops::matmul::Attrs{}, {d.f32({width_for(c, 1, c, shared), c}, -1, 1), d.f32({c, c}, -1, 1)}, 3e-5, {},
                 false);
  });
  struct Weights {
    const char* name;
    DType type;
    Layout layout;
    int32_t group;
  };
  for (const Weights& w :
       {Weights{"f32", DType::f32, Layout::kPanel16, 0}, Weights{"f16", DType::f16, Layout::kPanel16, 0},
        Weights{"bf16", DType::bf16, Layout::kPanel16k2, 0}, Weights{"s8", DType::s8, Layout::kPanel16k4, 0},
        Weights{"s8_in_groups", DType::s8, Layout::kPanel16k4, 32}, Weights{"s4_in_groups", DType::s4, Layout::kPanel16k8, 32}})
    for (const bool window : {false, true})
      add((window ? "conv_weights_" : "matmul_weights_") + std::string(w.name),
          [=](Draw& d, int32_t c, bool shared) { weights_of(d, w.type, w.layout, w.group, c, window, shared); }, true);
  add(
      "attention_depth", [](Draw& d, int32_t c, bool shared) { attention(d, c, true, shared); }, true);
  add(
      "attention_keys", [](Draw& d, int32_t c, bool shared) { attention(d, c, false, shared); }, true);
  add(
      "lstm", [](Draw& d, int32_t c, bool shared) { recurrent<ops::lstm::Attrs>(d, OpId::lstm, 4, 3, c, shared); }, true);
  add(
      "gru", [](Draw& d, int32_t c, bool shared) { recurrent<ops::gru::Attrs>(d, OpId::gru, 3, 2, c, shared); }, true);
  add("embedding", [](Draw& d, int32_t c, bool) {
    // Kernels take rows of whole vectors.
    for (const DType type : {DType::f16, DType::bf16, DType::s8, DType::s4}) embed(d, type, c), embed(d, type, (c + 15) / 16 * 16);
  });
}

}  // namespace mote::kerneltest
