// Depthwise convolutions of f32. Several adjacent outputs of one or two rows are computed together, a vector of channels at a time, so that
// an input value is loaded once for all windows that contain it.

#include "mote/kernels/depthwise/depthwise.h"

#include "mote/kernels/common/epilogue.h"
#include "mote/kernels/common/nhwc_view.h"
#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/window_geometry.h"
#include "mote/kernels/common/zeros.h"
#include "mote/kernels/depthwise/window3x3.h"
#include "mote/kernels/weights/widen.h"
#include "mote/ops/conv/conv.h"

namespace mote::kernels::MOTE_ISA_NAME::depthwise {
namespace {

using ops::conv::Attrs;

constexpr int kMaxKernel = 64;  // kernel rows whose pointers fit the stack

struct DepthwiseConv {
  WindowGeometry g;
  NhwcView x, y, residual;
  bool has_residual;
  const float* weights;  // (C/16, kernel_h * kernel_w, 16)
  EpilogueF32 epilogue;
};

// Indirection pointers of a block of Rows x Outputs outputs.
template <int Kernel, int Stride, int Outputs, int Rows>
struct OutputBlock {
  static constexpr int kColumns = (Outputs - 1) * Stride + Kernel;
  int32_t begin, end;                                // input rows inside the input, counted from the top of the first window
  const float* in[kMaxKernel + Rows - 1][kColumns];  // columns outside the input point to zeros
  float* out[Rows][Outputs];
  const float* residual[Rows][Outputs];  // where there is one
};

// Partial vectors of channels: where masks are free, every load and store has one; elsewhere partial_channels() computes the tail.
constexpr bool kMasks = HWY_ARCH_X86 && kLanes == 16;
class ChannelVector {
 public:
  MOTE_INLINE explicit ChannelVector(int32_t count) : mask_(hn::FirstN(F32(), static_cast<size_t>(count))) {}
  MOTE_INLINE VF load(const float* p) const {
    if constexpr (kMasks) return hn::MaskedLoad(mask_, F32(), p);
    else return hn::LoadU(F32(), p);
  }
  MOTE_INLINE void store(VF v, float* p) const {
    if constexpr (kMasks) hn::BlendedStore(v, mask_, F32(), p);
    else hn::StoreU(v, F32(), p);
  }

 private:
  hn::Mask<F32> mask_;
};

// Generic epilogue, for accumulators that need more than bias and clamp: spills them and stores row by row.
template <int Kernel, int Stride, int Outputs, int Rows>
MOTE_INLINE void store_partial_tile(const DepthwiseConv& conv, const OutputBlock<Kernel, Stride, Outputs, Rows>& block, int32_t c,
                                    int32_t remaining, const VF (&acc)[Rows][Outputs]) {
  alignas(64) float v[Rows][Outputs][kLanes];
  unroll<Rows>([&](auto r) MOTE_LAMBDA { unroll<Outputs>([&](auto o) MOTE_LAMBDA { hn::Store(acc[r][o], F32(), v[r][o]); }); });
  for (int r = 0; r < Rows; ++r) {
    for (int o = 0; o < Outputs; ++o) {
      const float* residual = conv.has_residual ? block.residual[r][o] + c : nullptr;
      conv.epilogue.store_row(v[r][o], c, remaining, residual, block.out[r][o] + c);
    }
  }
}

// Channels [c, c + remaining), one vector, of a block. Two rows of outputs have windows one input row apart (stride 1).
template <int Kernel, int Stride, int Outputs, int Rows>
MOTE_INLINE void block_vector(const DepthwiseConv& conv, const OutputBlock<Kernel, Stride, Outputs, Rows>& block, int32_t c,
                              int32_t remaining) {
  const ChannelVector vector(remaining);
  constexpr int kColumns = (Outputs - 1) * Stride + Kernel;
  const int32_t height = conv.g.kernel_h;
  const float* w = conv.weights + int64_t{c / kPanel} * (height * Kernel * kPanel) + c % kPanel;
  const bool simple = conv.epilogue.simple();
  const VF start = simple && conv.epilogue.bias() != nullptr ? vector.load(conv.epilogue.bias() + c) : hn::Zero(F32());
  VF acc[Rows][Outputs];
  unroll<Rows>([&](auto r) MOTE_LAMBDA { unroll<Outputs>([&](auto o) MOTE_LAMBDA { acc[r][o] = start; }); });
  // Adds input rows [begin, end), which belong to the windows of output rows `first` to `last`.
  const auto add_rows = [&](int32_t begin, int32_t end, auto first, auto last) MOTE_LAMBDA {
    constexpr int kFirst = decltype(first)::value, kCount = decltype(last)::value - kFirst + 1;
    if (begin < block.begin) begin = block.begin;
    if (end > block.end) end = block.end;
    for (int32_t i = begin; i < end; ++i) {
      VF weights[kCount][Kernel];
      unroll<kCount>([&](auto r) MOTE_LAMBDA {
        unroll<Kernel>([&](auto k) MOTE_LAMBDA { weights[r][k] = load(w + ((i - kFirst - r) * Kernel + k) * kPanel); });
      });
      unroll<kColumns>([&](auto j) MOTE_LAMBDA {
        const VF x = vector.load(block.in[i][j] + c);
        unroll<Outputs>([&](auto o) MOTE_LAMBDA {
          constexpr int kTap = decltype(j)::value - decltype(o)::value * Stride;
          if constexpr (kTap >= 0 && kTap < Kernel)
            unroll<kCount>([&](auto r) MOTE_LAMBDA { add_product(acc[kFirst + r][o], x, weights[r][kTap]); });
        });
      });
    }
  };
  if constexpr (Rows == 1) {
    add_rows(0, height, Index<0>{}, Index<0>{});
  } else {
    add_rows(0, 1, Index<0>{}, Index<0>{});
    add_rows(1, height, Index<0>{}, Index<1>{});
    add_rows(height, height + 1, Index<1>{}, Index<1>{});
  }
  if (!simple) return store_partial_tile(conv, block, c, remaining, acc);
  const auto each = [&](const auto& f)
                        MOTE_LAMBDA { unroll<Rows>([&](auto r) MOTE_LAMBDA { unroll<Outputs>([&](auto o) MOTE_LAMBDA { f(r, o); }); }); };
  // Loaded before the first store, which the compiler must assume to alias them.
  const VF lo = conv.epilogue.lowest(), hi = conv.epilogue.highest();
  if (conv.has_residual) each([&](auto r, auto o) MOTE_LAMBDA { acc[r][o] = hn::Add(acc[r][o], vector.load(block.residual[r][o] + c)); });
  each([&](auto r, auto o) MOTE_LAMBDA { vector.store(clamp(acc[r][o], lo, hi), block.out[r][o] + c); });
}

// The input rows inside the input that the windows of `rows` output rows from oy on read: first + i * dilation for i in [begin, end).
struct TapRows {
  TapRows(const WindowGeometry& g, int32_t height, int32_t oy, int32_t rows = 1) : first(oy * g.stride_h - g.pad_h) {
    end = g.kernel_h + rows - 1;
    while (begin < end && first + begin * g.dilation_h < 0) ++begin;
    while (end > begin && first + (end - 1) * g.dilation_h >= height) --end;
  }
  int32_t first, begin = 0, end;
};

// Channels [c, c + remaining) of one output, for any window. bias_first: accumulators start at the bias, as in block_vector(), so that the
// channel tail rounds as full vectors do.
void partial_channels(const DepthwiseConv& conv, const TapRows& rows, int32_t n, int32_t oy, int32_t ox, int32_t c, int32_t remaining,
                      bool bias_first) {
  const WindowGeometry& g = conv.g;
  const float* w = conv.weights + int64_t{c / kPanel} * g.kernel_h * g.kernel_w * kPanel + c % kPanel;
  const auto* residual = conv.has_residual ? reinterpret_cast<const float*>(conv.residual.at(n, oy, ox)) + c : nullptr;
  bias_first = bias_first && conv.epilogue.simple();
  VF acc = bias_first && conv.epilogue.bias() != nullptr ? load_partial(conv.epilogue.bias() + c, remaining) : hn::Zero(F32());
  for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
    for (int32_t kx = 0; kx < g.kernel_w; ++kx) {
      const int32_t ix = ox * g.stride_w - g.pad_w + kx * g.dilation_w;
      if (ix < 0 || ix >= conv.x.w) continue;
      const auto* in = reinterpret_cast<const float*>(conv.x.at(n, rows.first + ky * g.dilation_h, ix));
      acc = hn::MulAdd(load_partial(in + c, remaining), load(w + (ky * g.kernel_w + kx) * kPanel), acc);
    }
  }
  if (bias_first) acc = conv.epilogue.clamped(residual != nullptr ? hn::Add(acc, load_partial(residual, remaining)) : acc);
  else acc = conv.epilogue.value(acc, c, remaining, residual);
  store_partial(acc, remaining, reinterpret_cast<float*>(conv.y.at(n, oy, ox)) + c);
}

// Addresses of the input, output and residual rows that Rows output rows from oy on need.
template <int Rows>
struct RowPointers {
  RowPointers(const DepthwiseConv& conv, int32_t n, int32_t oy) : taps(conv.g, conv.x.h, oy, Rows) {
    for (int32_t i = taps.begin; i < taps.end; ++i) in[i] = conv.x.at(n, taps.first + i * conv.g.dilation_h, 0);
    for (int32_t r = 0; r < Rows; ++r) {
      out[r] = conv.y.at(n, oy + r, 0);
      if (conv.has_residual) residual[r] = conv.residual.at(n, oy + r, 0);
    }
  }
  TapRows taps;
  const uint8_t* in[kMaxKernel + Rows - 1];
  uint8_t *out[Rows], *residual[Rows];
};

// Outputs [ox, ox + Outputs) of the rows [oy, oy + Rows).
template <int Kernel, int Stride, int Outputs, int Rows>
void compute_outputs(const DepthwiseConv& conv, const RowPointers<Rows>& pointers, int32_t n, int32_t oy, int32_t ox) {
  using B = OutputBlock<Kernel, Stride, Outputs, Rows>;
  const WindowGeometry& g = conv.g;
  const int32_t first = ox * Stride - g.pad_w;
  B block;
  block.begin = pointers.taps.begin;
  block.end = pointers.taps.end;
  const auto columns = [&](uint8_t* row, int64_t step, auto* addresses, int32_t count) {
    using T = std::remove_reference_t<decltype(*addresses)>;
    for (int32_t i = 0; i < count; ++i) addresses[i] = reinterpret_cast<T>(row + i * step);
  };
  for (int r = 0; r < Rows; ++r) {
    columns(pointers.out[r] + ox * conv.y.column, conv.y.column, block.out[r], Outputs);
    if (conv.has_residual) columns(pointers.residual[r] + ox * conv.residual.column, conv.residual.column, block.residual[r], Outputs);
  }
  for (int32_t i = block.begin; i < block.end; ++i) {
    const uint8_t* row = pointers.in[i] + first * conv.x.column;
    for (int32_t j = 0; j < B::kColumns; ++j) block.in[i][j] = reinterpret_cast<const float*>(row + j * conv.x.column);
    for (int32_t j = 0; j < B::kColumns && first + j < 0; ++j) block.in[i][j] = kZeros;
    for (int32_t j = B::kColumns; j > 0 && first + j > conv.x.w; --j) block.in[i][j - 1] = kZeros;
  }
  const int32_t channels = conv.y.c;
  int32_t c = 0;
  for (; c + (kMasks ? 1 : kLanes) <= channels; c += kLanes) block_vector(conv, block, c, channels - c < kLanes ? channels - c : kLanes);
  for (int32_t r = 0; c < channels && r < Rows; ++r) {
    const TapRows own(g, conv.x.h, oy + r);
    for (int32_t o = 0; o < Outputs; ++o) partial_channels(conv, own, n, oy + r, ox + o, c, channels - c, true);
  }
  for (int r = 0; conv.epilogue.has_slow_activation() && r < Rows; ++r)
    conv.epilogue.apply_slow_activation(block.out[r], Outputs, 0, channels);
}

// Rows [oy, oy + count), one or two, for a kernel width and stride known at compile time.
template <int Kernel, int Stride>
void fixed_window_rows(const DepthwiseConv& conv, int32_t n, int32_t oy, int32_t count) {
  constexpr int kOutputs = kRegisters == 32 ? 7 : 4;  // the widths of most images are multiples of 7
  const int32_t width = conv.y.w;
  int32_t begin = 0;
  // The last block of a row starts early and overlaps the one before. Not with a residual: it may alias the output, and outputs that are
  // computed twice would add it twice.
  const auto next = [&](int32_t x) {
    return x + kOutputs < width && width < x + 2 * kOutputs && !conv.has_residual ? width - kOutputs : x + kOutputs;
  };
  if constexpr (Stride == 1) {
    if (count == 2 && conv.g.stride_h == 1 && conv.g.dilation_h == 1 && width >= kOutputs) {
      const RowPointers<2> pointers(conv, n, oy);
      for (; begin + kOutputs <= width; begin = next(begin)) compute_outputs<Kernel, Stride, kOutputs, 2>(conv, pointers, n, oy, begin);
    }
    if (begin == width) return;
  }
  constexpr int kNarrowOutputs = 3;
  for (int32_t y = oy; y < oy + count; ++y) {
    int32_t ox = begin;
    const RowPointers<1> pointers(conv, n, y);
    if constexpr (kOutputs > 2 * kNarrowOutputs) {
      if (width >= kNarrowOutputs && width < kOutputs && !conv.has_residual) {
        compute_outputs<Kernel, Stride, kNarrowOutputs, 1>(conv, pointers, n, y, 0);
        if (width > kNarrowOutputs) compute_outputs<Kernel, Stride, kNarrowOutputs, 1>(conv, pointers, n, y, width - kNarrowOutputs);
        continue;
      }
    }
    for (; ox + kOutputs <= width; ox = next(ox)) compute_outputs<Kernel, Stride, kOutputs, 1>(conv, pointers, n, y, ox);
    for (; ox < width; ++ox) compute_outputs<Kernel, Stride, 1, 1>(conv, pointers, n, y, ox);
  }
}

// Generic path: any window, one output at a time.
void generic_row(const DepthwiseConv& conv, int32_t n, int32_t oy) {
  const TapRows rows(conv.g, conv.x.h, oy);
  const int32_t channels = conv.y.c;
  for (int32_t ox = 0; ox < conv.y.w; ++ox) {
    for (int32_t c = 0; c < channels; c += kLanes)
      partial_channels(conv, rows, n, oy, ox, c, channels - c < kLanes ? channels - c : kLanes, false);
    conv.epilogue.apply_slow_activation(reinterpret_cast<float*>(conv.y.at(n, oy, ox)), channels);
  }
}

void generic_rows(const DepthwiseConv& conv, int32_t n, int32_t oy, int32_t count) {
  for (int32_t y = oy; y < oy + count; ++y) generic_row(conv, n, y);
}

using RowsFn = void (*)(const DepthwiseConv&, int32_t n, int32_t oy, int32_t count);

RowsFn rows_fn_for(const WindowGeometry& g, int32_t channels) {
  if (g.dilation_w != 1 || g.kernel_h > kMaxKernel || channels > kZeroCount) return &generic_rows;
  if (g.kernel_w == 3) return g.stride_w == 1 ? &fixed_window_rows<3, 1> : g.stride_w == 2 ? &fixed_window_rows<3, 2> : &generic_rows;
  if (g.kernel_w == 5) return g.stride_w == 1 ? &fixed_window_rows<5, 1> : g.stride_w == 2 ? &fixed_window_rows<5, 2> : &generic_rows;
  if (g.kernel_w == 7) return g.stride_w == 1 ? &fixed_window_rows<7, 1> : &generic_rows;
  return &generic_rows;
}

void depthwise_conv(const OpContext& c, const float* weights, const float* scales) {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const NhwcView y(c.output(0));
  const DepthwiseConv conv{WindowGeometry(a, &w.desc->dims[1], w.rank() - 2),           NhwcView(c.input(0)), y,
                           c.has_input(3) ? NhwcView(c.input(3)) : NhwcView(),          c.has_input(3),       weights,
                           EpilogueF32(bias, scales, 1, a.activation, a.act_a, a.act_b)};
  const RowRange rows(c, y, w.rank() == 3);
  const RowsFn function = rows_fn_for(conv.g, y.c);
  const int32_t height = rows.end - rows.begin, pairs = (height + 1) / 2;
  // Loads limit this to half the multiply-add rate.
  const double work = 2.0 * y.n * height * y.w * y.c * conv.g.kernel_h * conv.g.kernel_w;
  split_rows(c.threads, y.n * pairs, work, [&](int32_t i) MOTE_LAMBDA {
    const int32_t oy = rows.begin + i % pairs * 2;
    function(conv, i / pairs, oy, oy + 1 < rows.end ? 2 : 1);
  });
}

Status depthwise_f32(const OpContext& c) noexcept {
  depthwise_conv(c, c.input(1).as<const float>(), c.has_input(4) ? c.input(4).as<const float>() : nullptr);
  return Status::kOk;
}

// s8 weights: dequantized to f32 in scratch memory first. The last step of a panel may write into the next panel, which is written after
// it.
Status depthwise_f32_f32_s8(const OpContext& c) noexcept {
  const Tensor &w = c.input(1), &scales = c.input(4);
  const int32_t channels = w.dim(0), taps = w.count() / channels, panels = (channels + kPanel - 1) / kPanel;
  const int64_t words = int64_t{(taps + weights::BytesOfWord::kStep - 1) / weights::BytesOfWord::kStep} * kPanel;
  if (c.scratch.size < (uint64_t{static_cast<uint32_t>(panels)} * static_cast<uint32_t>(taps) + 3) * kPanel * sizeof(float))
    return {Status::kOutOfMemory, Why::kScratch};
  auto* wide = reinterpret_cast<float*>(c.scratch.data);
  const weights::GroupScales s(scales, nullptr, taps);
  for (int32_t p = 0; p < panels; ++p) {
    const int32_t first = p * kPanel, count = channels - first < kPanel ? channels - first : kPanel;
    weights::widen_panel<weights::BytesOfWord>(w.as<const int32_t>() + p * words, s, 0, taps, first, count, wide + int64_t{first} * taps);
  }
  depthwise_conv(c, wide, nullptr);
  return Status::kOk;
}

}  // namespace

KernelFn select_depthwise(const OpContext& c) noexcept {
  const Tensor& w = c.input(1);
  if (w.dtype() == DType::s8) {
    const bool one_group = c.attrs<Attrs>().group_size >= w.count() / w.dim(0) && !c.has_input(5);
    return one_group && is_panel16k4(w.desc->layout) ? &depthwise_f32_f32_s8 : nullptr;
  }
  const KernelFn other = select_depthwise_3x3(c);
  return other != nullptr ? other : &depthwise_f32;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::depthwise
