// Depthwise convolutions: each channel has its own window. Several neighbouring outputs of one or two rows are computed at once, a vector
// of channels at a time, so that an input is loaded once for all windows that it lies in.

#include "mote/kernels/depthwise/depthwise.h"

#include "mote/kernels/common/finish.h"
#include "mote/kernels/common/geometry.h"
#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/plane.h"
#include "mote/kernels/common/zeros.h"
#include "mote/kernels/depthwise/window3x3.h"
#include "mote/kernels/weights/widen.h"
#include "mote/ops/conv/conv.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::conv::Attrs;

constexpr int kMaxKernel = 64;  // taps of a row or column that have pointers on the stack

struct Job {
  Geometry g;
  Plane x, y, residual;
  bool has_residual;
  const float* weights;  // (C/16, kernel_h * kernel_w, 16)
  Finish finish;
};

// The inputs and outputs of a block of Rows x Outputs outputs.
template <int Kernel, int Stride, int Outputs, int Rows>
struct Block {
  static constexpr int kColumns = (Outputs - 1) * Stride + Kernel;
  int32_t begin, end;                                // input rows that exist, counted from the top of the uppermost window
  const float* in[kMaxKernel + Rows - 1][kColumns];  // columns outside of the input are zeros
  float* out[Rows][Outputs];
  const float* residual[Rows][Outputs];  // where there is one
};

// Vectors with fewer channels: where masks cost nothing, every vector has one; elsewhere there are loops of their own (some_channels).
constexpr bool kMasks = HWY_ARCH_X86 && kLanes == 16;
class Some {
 public:
  MOTE_INLINE explicit Some(int32_t count) : mask_(hn::FirstN(F32(), static_cast<size_t>(count))) {}
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

// Where sums need more than a clamp, they are stored from memory.
template <int Kernel, int Stride, int Outputs, int Rows>
MOTE_INLINE void store_by_rows(const Job& job, const Block<Kernel, Stride, Outputs, Rows>& block, int32_t c, int32_t left,
                               const VF (&sum)[Rows][Outputs]) {
  alignas(64) float v[Rows][Outputs][kLanes];
  unroll<Rows>([&](auto r) MOTE_LAMBDA { unroll<Outputs>([&](auto o) MOTE_LAMBDA { hn::Store(sum[r][o], F32(), v[r][o]); }); });
  for (int r = 0; r < Rows; ++r) {
    for (int o = 0; o < Outputs; ++o) {
      const float* more = job.has_residual ? block.residual[r][o] + c : nullptr;
      job.finish.store_row(v[r][o], c, left, more, block.out[r][o] + c);
    }
  }
}

// One vector of channels [c, c + left) of a block; two rows of outputs lie one input row apart.
template <int Kernel, int Stride, int Outputs, int Rows>
MOTE_INLINE void vector_of_block(const Job& job, const Block<Kernel, Stride, Outputs, Rows>& block, int32_t c, int32_t left) {
  const Some some(left);
  constexpr int kColumns = (Outputs - 1) * Stride + Kernel;
  const int32_t height = job.g.kernel_h;
  const float* w = job.weights + int64_t{c / kPanel} * (height * Kernel * kPanel) + c % kPanel;
  const bool simple = job.finish.simple();
  const VF start = simple && job.finish.bias() != nullptr ? some.load(job.finish.bias() + c) : hn::Zero(F32());
  VF sum[Rows][Outputs];
  unroll<Rows>([&](auto r) MOTE_LAMBDA { unroll<Outputs>([&](auto o) MOTE_LAMBDA { sum[r][o] = start; }); });
  // Input rows [begin, end), which lie in the windows of the output rows First to Last.
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
        const VF x = some.load(block.in[i][j] + c);
        unroll<Outputs>([&](auto o) MOTE_LAMBDA {
          constexpr int kTap = decltype(j)::value - decltype(o)::value * Stride;
          if constexpr (kTap >= 0 && kTap < Kernel)
            unroll<kCount>([&](auto r) MOTE_LAMBDA { add_product(sum[kFirst + r][o], x, weights[r][kTap]); });
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
  if (!simple) return store_by_rows(job, block, c, left, sum);
  const auto each = [&](const auto& f)
                        MOTE_LAMBDA { unroll<Rows>([&](auto r) MOTE_LAMBDA { unroll<Outputs>([&](auto o) MOTE_LAMBDA { f(r, o); }); }); };
  // Read before the first store: what the stores reach, the compiler cannot know.
  const VF lo = job.finish.lowest(), hi = job.finish.highest();
  if (job.has_residual) each([&](auto r, auto o) MOTE_LAMBDA { sum[r][o] = hn::Add(sum[r][o], some.load(block.residual[r][o] + c)); });
  each([&](auto r, auto o) MOTE_LAMBDA { some.store(clamp(sum[r][o], lo, hi), block.out[r][o] + c); });
}

// The rows of the windows of Rows rows of outputs from oy on that lie inside the input.
struct TapRows {
  TapRows(const Geometry& g, int32_t height, int32_t oy, int32_t rows = 1) : first(oy * g.stride_h - g.pad_h) {
    end = g.kernel_h + rows - 1;
    while (begin < end && first + begin * g.dilation_h < 0) ++begin;
    while (end > begin && first + (end - 1) * g.dilation_h >= height) --end;
  }
  int32_t first, begin = 0, end;
};

// Channels [c, c + left) of one output of any window, from the taps that lie inside. bias_first: rounded as vector_of_block does it.
void some_channels(const Job& job, const TapRows& rows, int32_t n, int32_t oy, int32_t ox, int32_t c, int32_t left, bool bias_first) {
  const Geometry& g = job.g;
  const float* w = job.weights + int64_t{c / kPanel} * g.kernel_h * g.kernel_w * kPanel + c % kPanel;
  const auto* more = job.has_residual ? reinterpret_cast<const float*>(job.residual.at(n, oy, ox)) + c : nullptr;
  bias_first = bias_first && job.finish.simple();
  VF sum = bias_first && job.finish.bias() != nullptr ? load_some(job.finish.bias() + c, left) : hn::Zero(F32());
  for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
    for (int32_t kx = 0; kx < g.kernel_w; ++kx) {
      const int32_t ix = ox * g.stride_w - g.pad_w + kx * g.dilation_w;
      if (ix < 0 || ix >= job.x.w) continue;
      const auto* in = reinterpret_cast<const float*>(job.x.at(n, rows.first + ky * g.dilation_h, ix));
      sum = hn::MulAdd(load_some(in + c, left), load(w + (ky * g.kernel_w + kx) * kPanel), sum);
    }
  }
  if (bias_first) sum = job.finish.clamped(more != nullptr ? hn::Add(sum, load_some(more, left)) : sum);
  else sum = job.finish.value(sum, c, left, more);
  store_some(sum, left, reinterpret_cast<float*>(job.y.at(n, oy, ox)) + c);
}

// Where the rows that Rows rows of outputs from oy on need begin.
template <int Rows>
struct Lines {
  Lines(const Job& job, int32_t n, int32_t oy) : taps(job.g, job.x.h, oy, Rows) {
    for (int32_t i = taps.begin; i < taps.end; ++i) in[i] = job.x.at(n, taps.first + i * job.g.dilation_h, 0);
    for (int32_t r = 0; r < Rows; ++r) {
      out[r] = job.y.at(n, oy + r, 0);
      if (job.has_residual) residual[r] = job.residual.at(n, oy + r, 0);
    }
  }
  TapRows taps;
  const uint8_t* in[kMaxKernel + Rows - 1];
  uint8_t *out[Rows], *residual[Rows];
};

// Outputs [ox, ox + Outputs) of the rows [oy, oy + Rows).
template <int Kernel, int Stride, int Outputs, int Rows>
void some_outputs(const Job& job, const Lines<Rows>& lines, int32_t n, int32_t oy, int32_t ox) {
  using B = Block<Kernel, Stride, Outputs, Rows>;
  const Geometry& g = job.g;
  const int32_t first = ox * Stride - g.pad_w;
  B block;
  block.begin = lines.taps.begin;
  block.end = lines.taps.end;
  const auto columns = [&](uint8_t* row, int64_t step, auto* pointers, int32_t count) {
    using T = std::remove_reference_t<decltype(*pointers)>;
    for (int32_t i = 0; i < count; ++i) pointers[i] = reinterpret_cast<T>(row + i * step);
  };
  for (int r = 0; r < Rows; ++r) {
    columns(lines.out[r] + ox * job.y.column, job.y.column, block.out[r], Outputs);
    if (job.has_residual) columns(lines.residual[r] + ox * job.residual.column, job.residual.column, block.residual[r], Outputs);
  }
  for (int32_t i = block.begin; i < block.end; ++i) {
    const uint8_t* row = lines.in[i] + first * job.x.column;
    for (int32_t j = 0; j < B::kColumns; ++j) block.in[i][j] = reinterpret_cast<const float*>(row + j * job.x.column);
    for (int32_t j = 0; j < B::kColumns && first + j < 0; ++j) block.in[i][j] = kZeros;
    for (int32_t j = B::kColumns; j > 0 && first + j > job.x.w; --j) block.in[i][j - 1] = kZeros;
  }
  const int32_t channels = job.y.c;
  int32_t c = 0;
  for (; c + (kMasks ? 1 : kLanes) <= channels; c += kLanes) vector_of_block(job, block, c, channels - c < kLanes ? channels - c : kLanes);
  for (int32_t r = 0; c < channels && r < Rows; ++r) {
    const TapRows own(g, job.x.h, oy + r);
    for (int32_t o = 0; o < Outputs; ++o) some_channels(job, own, n, oy + r, ox + o, c, channels - c, true);
  }
  for (int r = 0; job.finish.has_after() && r < Rows; ++r) job.finish.activate_after(block.out[r], Outputs, 0, channels);
}

// Rows [oy, oy + count), one or two.
template <int Kernel, int Stride>
void fixed_rows(const Job& job, int32_t n, int32_t oy, int32_t count) {
  constexpr int kOutputs = kRegisters == 32 ? 7 : 4;  // the widths of most images are multiples of 7
  const int32_t width = job.y.w;
  int32_t begin = 0;
  // The last block begins early where outputs are missing: they are computed twice, which a residual that lies where they go would not
  // bear.
  const auto next = [&](int32_t x) {
    return x + kOutputs < width && width < x + 2 * kOutputs && !job.has_residual ? width - kOutputs : x + kOutputs;
  };
  if constexpr (Stride == 1) {
    if (count == 2 && job.g.stride_h == 1 && job.g.dilation_h == 1 && width >= kOutputs) {
      const Lines<2> lines(job, n, oy);
      for (; begin + kOutputs <= width; begin = next(begin)) some_outputs<Kernel, Stride, kOutputs, 2>(job, lines, n, oy, begin);
    }
    if (begin == width) return;
  }
  constexpr int kFew = 3;
  for (int32_t y = oy; y < oy + count; ++y) {
    int32_t ox = begin;
    const Lines<1> lines(job, n, y);
    if constexpr (kOutputs > 2 * kFew) {
      if (width >= kFew && width < kOutputs && !job.has_residual) {
        some_outputs<Kernel, Stride, kFew, 1>(job, lines, n, y, 0);
        if (width > kFew) some_outputs<Kernel, Stride, kFew, 1>(job, lines, n, y, width - kFew);
        continue;
      }
    }
    for (; ox + kOutputs <= width; ox = next(ox)) some_outputs<Kernel, Stride, kOutputs, 1>(job, lines, n, y, ox);
    for (; ox < width; ++ox) some_outputs<Kernel, Stride, 1, 1>(job, lines, n, y, ox);
  }
}

// Any window: one output at a time, the taps that lie inside.
void any_row(const Job& job, int32_t n, int32_t oy) {
  const TapRows rows(job.g, job.x.h, oy);
  const int32_t channels = job.y.c;
  for (int32_t ox = 0; ox < job.y.w; ++ox) {
    for (int32_t c = 0; c < channels; c += kLanes)
      some_channels(job, rows, n, oy, ox, c, channels - c < kLanes ? channels - c : kLanes, false);
    job.finish.activate_after(reinterpret_cast<float*>(job.y.at(n, oy, ox)), channels);
  }
}

void any_rows(const Job& job, int32_t n, int32_t oy, int32_t count) {
  for (int32_t y = oy; y < oy + count; ++y) any_row(job, n, y);
}

using RowsFn = void (*)(const Job&, int32_t n, int32_t oy, int32_t count);

RowsFn rows_function(const Geometry& g, int32_t channels) {
  if (g.dilation_w != 1 || g.kernel_h > kMaxKernel || channels > kZeroCount) return &any_rows;
  if (g.kernel_w == 3) return g.stride_w == 1 ? &fixed_rows<3, 1> : g.stride_w == 2 ? &fixed_rows<3, 2> : &any_rows;
  if (g.kernel_w == 5) return g.stride_w == 1 ? &fixed_rows<5, 1> : g.stride_w == 2 ? &fixed_rows<5, 2> : &any_rows;
  if (g.kernel_w == 7) return g.stride_w == 1 ? &fixed_rows<7, 1> : &any_rows;
  return &any_rows;
}

void multiply_depthwise(const OpContext& c, const float* weights, const float* scales) {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const Plane y(c.output(0));
  const Job job{Geometry(a, &w.desc->dims[1], w.rank() - 2),
                Plane(c.input(0)),
                y,
                c.has_input(3) ? Plane(c.input(3)) : Plane(),
                c.has_input(3),
                weights,
                Finish(bias, scales, 1, a.activation, a.act_a, a.act_b)};
  const RowRange rows(c, y, w.rank() == 3);
  const RowsFn function = rows_function(job.g, y.c);
  const int32_t height = rows.end - rows.begin, pairs = (height + 1) / 2;
  // Loads keep up with half of the products.
  const double work = 2.0 * y.n * height * y.w * y.c * job.g.kernel_h * job.g.kernel_w;
  split_rows(c.threads, y.n * pairs, work, [&](int32_t i) MOTE_LAMBDA {
    const int32_t oy = rows.begin + i % pairs * 2;
    function(job, i / pairs, oy, oy + 1 < rows.end ? 2 : 1);
  });
}

Status run_depthwise(const OpContext& c) noexcept {
  multiply_depthwise(c, c.input(1).as<const float>(), c.has_input(4) ? c.input(4).as<const float>() : nullptr);
  return Status::kOk;
}

// Weights of bytes, scaled while they are widened. The last step of a panel may reach into the next, which is written after it.
Status run_depthwise_bytes(const OpContext& c) noexcept {
  const Tensor &w = c.input(1), &scales = c.input(4);
  const int32_t channels = w.dim(0), taps = w.count() / channels, panels = (channels + kPanel - 1) / kPanel;
  const int64_t words = int64_t{(taps + BytesOfWord::kStep - 1) / BytesOfWord::kStep} * kPanel;
  if (c.scratch.size < (uint64_t{static_cast<uint32_t>(panels)} * static_cast<uint32_t>(taps) + 3) * kPanel * sizeof(float))
    return {Status::kOutOfMemory, Why::kScratch};
  auto* wide = reinterpret_cast<float*>(c.scratch.data);
  const GroupScales s(scales, nullptr, taps);
  for (int32_t p = 0; p < panels; ++p) {
    const int32_t first = p * kPanel, count = channels - first < kPanel ? channels - first : kPanel;
    widen_panel<BytesOfWord>(w.as<const int32_t>() + p * words, s, 0, taps, first, count, wide + int64_t{first} * taps);
  }
  multiply_depthwise(c, wide, nullptr);
  return Status::kOk;
}

}  // namespace

KernelFn select_depthwise(const OpContext& c) noexcept {
  const Tensor& w = c.input(1);
  if (w.dtype() == DType::s8) {
    const bool one_group = c.attrs<Attrs>().group_size >= w.count() / w.dim(0) && !c.has_input(5);
    return one_group && is_panel16k4(w.desc->layout) ? &run_depthwise_bytes : nullptr;
  }
  const KernelFn other = select_depthwise_3x3(c);
  return other != nullptr ? other : &run_depthwise;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
