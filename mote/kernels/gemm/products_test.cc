#include "mote/kernels/testing/differential.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/conv_winograd/conv_winograd.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::kerneltest {
namespace {

TEST(ProductKernels, MatmulOfTwoPlainMatrices) {
  many(120, [](Draw& d) {
    const int32_t m = d.size(), n = d.size(), k = d.one_in(6) ? d.in(250, 700) : d.in(1, 90);
    ops::matmul::Attrs a;
    a.transpose_b = static_cast<uint32_t>(d.in(0, 1));
    if (d.one_in(3)) a.alpha = 0.25f;
    const int kinds[] = {0, 2, 5, 9};
    a.activation = static_cast<uint32_t>(kinds[d.in(0, 3)]);
    Shape left = {m, k}, right = a.transpose_b != 0 ? Shape{n, k} : Shape{k, n}, out = {m, n};
    if (d.one_in(2)) {
      const int32_t batch = d.in(1, 3);
      left.insert(left.begin(), d.one_in(4) ? 1 : batch);
      if (d.one_in(2)) right.insert(right.begin(), batch);
      out.insert(out.begin(), left.size() == 3 && (left[0] == batch || right.size() == 3) ? batch : 1);
    }
    const Array bias = d.one_in(2) ? d.f32({n}) : Array::none(), residual = d.one_in(2) ? d.f32(out) : Array::none();
    expect_close(OpId::matmul, a, {d.f32(left, -1, 1), d.f32(right, -1, 1), bias, residual}, 2e-5);
  });
  Draw d(1);
  expect_close(OpId::matmul, ops::matmul::Attrs{}, {d.f32({2, 130, 300}, -1, 1), d.f32({2, 300, 70}, -1, 1)}, 5e-5);
}

// Packed weights of every type that f32 GEMMs take; s8 with a scale for each output.
struct PackedWeights {
  Array values, scales = Array::none();
  PackedWeights(Draw& d, const Shape& shape) : values(d.f32(shape, -1, 1)) {
    constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::s8};
    constexpr Layout kLayouts[] = {Layout::kPanel16, Layout::kPanel16, Layout::kPanel16k2, Layout::kPanel16k4};
    const int which = d.in(0, 3);
    const bool bytes = kTypes[which] == DType::s8;
    values = Array::random(kTypes[which], shape, d.seed(), bytes ? -127 : -1, bytes ? 127 : 1).packed(kLayouts[which]);
    if (bytes) scales = d.f32({shape[0]}, 0.001, 0.01);
  }
};

TEST(ProductKernels, MatmulWithWeightsOfEveryType) {
  many(160, [](Draw& d) {
    const int32_t m = d.size(), n = d.size(), k = d.one_in(6) ? d.in(250, 700) : d.in(1, 90);
    ops::matmul::Attrs a;
    a.transpose_b = 1;
    a.activation = d.one_in(2) ? 2 : 0;
    const PackedWeights w(d, {n, k});
    expect_close(
        OpId::matmul, a,
        {d.f32({m, k}, -1, 1), w.values, d.one_in(2) ? d.f32({n}) : Array::none(), d.one_in(2) ? d.f32({m, n}) : Array::none(), w.scales},
        2e-5);
  });
}

// Enough weights for threads to share, with partial panels at any place.
TEST(ProductKernels, FewRowsAreTheSameWithThreads) {
  many(60, [](Draw& d) {
    const int32_t m = d.one_in(2) ? 1 : d.in(2, 8), n = d.in(33, 500), k = d.in(600, 1000);
    ops::matmul::Attrs a;
    a.transpose_b = 1;
    a.activation = d.one_in(2) ? 2 : d.one_in(2) ? 7 : 0;
    const PackedWeights w(d, {n, k});
    expect_close(
        OpId::matmul, a,
        {d.f32({m, k}, -1, 1), w.values, d.one_in(2) ? d.f32({n}) : Array::none(), d.one_in(2) ? d.f32({m, n}) : Array::none(), w.scales},
        1e-4);
  });
}

TEST(ProductKernels, ConvolutionsWithWeightsOfEveryType) {
  many(160, [](Draw& d) {
    ops::conv::Attrs a;
    // s8 weights are packed in groups of four channels.
    const int32_t channels = 4 * d.in(1, 12), outputs = d.one_in(4) ? 32 : d.in(1, 50);
    if (outputs == 32 && d.one_in(2)) a.groups = 2;
    Shape x = {d.in(1, 2)}, w = {outputs};
    for (int i = 0; i < 2; ++i) {
      a.strides[i] = d.in(1, 2);
      a.dilations[i] = d.one_in(4) ? 2 : 1;
      a.pads_begin[i] = d.in(0, 1), a.pads_end[i] = d.in(0, 1);
      w.push_back(d.in(1, 4));
      x.push_back((w.back() - 1) * a.dilations[i] + d.in(1, 9));
    }
    x.push_back(channels * a.groups);
    w.push_back(channels);
    a.activation = d.one_in(2) ? 2 : 0;
    const PackedWeights weights(d, w);
    expect_close(OpId::conv, a,
                 {d.f32(x, -1, 1), weights.values, d.one_in(2) ? d.f32({outputs}) : Array::none(), Array::none(), weights.scales}, 2e-5);
  });
}

// More taps than there is room for indirection pointers, without padding: the taps of a kernel row form one run. Where rows have gaps the
// portable kernel computes instead, so values are integers and sums exact.
TEST(ProductKernels, LongWindows) {
  Draw d(3);
  const auto whole = [&](const Shape& shape) {
    Array a(DType::f32, shape);
    for (int64_t i = 0; i < a.count(); ++i) a.set(i, d.in(-3, 3));
    return a;
  };
  for (const int32_t channels : {1, 3}) {
    ops::conv::Attrs a;
    a.strides[0] = 7;
    const Array x = whole({1, 700, channels}), w = whole({20, 512, channels}).packed(Layout::kPanel16);
    expect_close(OpId::conv, a, {x, w}, 0, {}, false);
  }
}

TEST(ProductKernels, TransposedConvolutions) {
  many(120, [](Draw& d) {
    const int spatial = d.in(1, 2);
    ops::conv_transpose::Attrs a;
    Shape x = {d.in(1, 2)}, w = {d.in(1, 50)};
    for (int i = 0; i < spatial; ++i) {
      a.strides[i] = d.in(1, 3);
      a.dilations[i] = d.one_in(3) ? 2 : 1;
      a.pads_begin[i] = d.in(0, 2);
      a.pads_end[i] = d.in(0, 2);
      a.output_padding[i] = d.in(0, a.strides[i] - 1);
      x.push_back(d.in(3, 9));
      w.push_back(d.in(1, 4));
    }
    if (d.one_in(5)) {
      a.groups = 2;
      w[0] = 32 * d.in(1, 2);
    }
    const int32_t channels = d.in(1, 40);
    x.push_back(channels * a.groups);
    w.push_back(channels);
    a.activation = d.one_in(2) ? 2 : 0;
    const Array weights = d.f32(w, -1, 1).packed(Layout::kPanel16), bias = d.one_in(2) ? d.f32({w[0]}) : Array::none();
    std::vector<Array> inputs = {d.f32(x, -1, 1), weights, bias};
    if (d.one_in(3)) {
      optest::fast_kernels = nullptr;
      const RunResult shape = optest::run(OpId::conv_transpose, a, inputs);
      if (!shape.ok()) return;  // padding may leave no output
      inputs.push_back(d.f32(shape.outputs[0].shape()));
    } else if (!optest::run(OpId::conv_transpose, a, inputs).ok()) {
      return;
    }
    expect_close(OpId::conv_transpose, a, inputs, 1e-5);
  });
}

// Few and many weights, working memory for all tiles and for some: threads share tiles or points. The second output is scratch.
TEST(ProductKernels, WinogradIsTheSameWithThreads) {
  struct Case {
    int32_t height, width, channels, outputs;
  };
  for (const Case& t : {Case{9, 30, 20, 32}, Case{14, 14, 96, 112}, Case{30, 34, 96, 96}}) {
    SCOPED_TRACE(t.channels);
    Draw d(5);
    ops::conv_winograd::Attrs a;
    for (int i = 0; i < 2; ++i) a.pads_begin[i] = a.pads_end[i] = 1;
    const Array weights = d.f32({ops::winograd::kPoints * t.outputs, t.channels}, -0.1, 0.1).packed(Layout::kPanel16);
    const std::vector<Array> inputs = {d.f32({1, t.height, t.width, t.channels}, -1, 1), weights, d.f32({t.outputs})};
    optest::fast_kernels = nullptr;
    const Array expected = optest::run(OpId::conv_winograd, a, inputs, 2).outputs[0];
    for (uint8_t i = 1; i < static_cast<uint8_t>(Isa::kCount); ++i) {
      if (!kernels::can_run(static_cast<Isa>(i), cpu_features())) continue;
      SCOPED_TRACE(kernels::isa_name(static_cast<Isa>(i)));
      optest::fast_kernels = &select_from_source;
      source = {kernels::select_for(static_cast<Isa>(i)), false, nullptr};
      const RunResult alone = optest::run(OpId::conv_winograd, a, inputs, 2);
      source.threads = true;
      const RunResult shared = optest::run(OpId::conv_winograd, a, inputs, 2);
      optest::fast_kernels = nullptr;
      ASSERT_TRUE(alone.ok() && shared.ok() && source.kernel != nullptr);
      ASSERT_EQ(alone.outputs[0].bytes(), shared.outputs[0].bytes());
      for (int64_t k = 0; k < expected.count(); ++k)
        ASSERT_TRUE(near(alone.outputs[0].get(k), expected.get(k), 1e-3))
            << k << ": " << alone.outputs[0].get(k) << " for " << expected.get(k);
    }
  }
}

}  // namespace
}  // namespace mote::kerneltest
