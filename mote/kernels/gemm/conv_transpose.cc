// Transposed convolutions by gathering instead of scattering: the outputs of a phase (column modulo stride) use the same taps, so they are
// the rows of one GEMM per tap. Partial sums accumulate in the output tensor.

#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/kernels/common/nhwc_view.h"
#include "mote/kernels/common/window_geometry.h"
#include "mote/kernels/common/zeros.h"
#include "mote/kernels/gemm/gemm_f32.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {
namespace {

using ops::conv_transpose::Attrs;

// The epilogue of each tap's GEMM: bias and residual go with the first tap, the activation with the last.
struct TapEpilogues {
  EpilogueF32 only, first, middle, last;
  TapEpilogues(const float* bias, const float* scales, const Attrs& a)
      : only(bias, scales, 1, a.activation, a.act_a, a.act_b),
        first(bias, scales, 1, 0, 0, 0),
        middle(nullptr, scales, 1, 0, 0, 0),
        last(nullptr, scales, 1, a.activation, a.act_a, a.act_b) {}
  const EpilogueF32& of(int32_t tap, int32_t taps) const { return taps < 2 ? only : tap == 0 ? first : tap + 1 < taps ? middle : last; }
};

constexpr int32_t kMaxTaps = 64;

// One group of a transposed convolution.
class ConvTransposeF32 {
 public:
  ConvTransposeF32(const OpContext& c, int32_t group)
      : a_(c.attrs<Attrs>()), w_(c.input(1)), g_(a_, &w_.desc->dims[1], w_.rank() - 2), x_(c.input(0)), y_(c.output(0)) {
    channels_ = w_.dim(w_.rank() - 1);
    outputs_ = w_.dim(0) / a_.groups;
    const int32_t first = group * outputs_;
    weights_ = weights_of(w_, g_.kernel_h * g_.kernel_w * channels_, first);
    x_.data += int64_t{group} * channels_ * 4;
    y_.data += int64_t{first} * 4;
    if (c.has_input(3)) {
      residual_ = NhwcView(c.input(3));
      residual_.data += int64_t{first} * 4;
      has_residual_ = true;
    }
  }

  // The outputs of row oy whose columns are `phase` modulo the stride.
  void compute_phase(int32_t n, int32_t oy, int32_t phase, const TapEpilogues& epilogues) const {
    Taps taps(*this, oy, phase);
    const int32_t columns = (y_.w - phase + g_.stride_w - 1) / g_.stride_w;
    const RowTiles tiles(columns, weights_.every_height);
    for (int32_t i = 0; i < tiles.count; ++i)
      compute_tile(n, oy, phase + tiles.begin(i) * g_.stride_w, tiles.begin(i + 1) - tiles.begin(i), taps, epilogues);
  }
  int32_t stride_w() const { return g_.stride_w; }

 private:
  // The taps that contribute to an output position, and the input positions they read: row, and column for output column `phase`.
  struct Taps {
    int32_t count = 0, index[kMaxTaps], row[kMaxTaps], column[kMaxTaps];
    Taps(const ConvTransposeF32& t, int32_t oy, int32_t phase) {
      const WindowGeometry& g = t.g_;
      for (int32_t a = 0; a < g.kernel_h; ++a) {
        const int32_t from_y = oy + g.pad_h - a * g.dilation_h;
        if (from_y < 0 || from_y % g.stride_h != 0 || from_y / g.stride_h >= t.x_.h) continue;
        for (int32_t b = 0; b < g.kernel_w; ++b) {
          const int32_t from_x = phase + g.pad_w - b * g.dilation_w;
          if (from_x % g.stride_w != 0) continue;
          index[count] = a * g.kernel_w + b;
          row[count] = from_y / g.stride_h;
          column[count++] = from_x / g.stride_w;
        }
      }
    }
  };

  // `count` outputs of a phase from column ox on.
  void compute_tile(int32_t n, int32_t oy, int32_t ox, int32_t count, const Taps& taps, const TapEpilogues& epilogues) const {
    const float* lhs[kTileRows];
    float* out[kTileRows];
    const float* residual[kTileRows];
    for (int32_t i = 0; i < count; ++i) {
      out[i] = reinterpret_cast<float*>(y_.at(n, oy, ox + i * g_.stride_w));
      if (has_residual_) residual[i] = reinterpret_cast<const float*>(residual_.at(n, oy, ox + i * g_.stride_w));
    }
    TileArgs t;
    MicrokernelChoice micro(weights_);
    t.rows = lhs;
    t.runs = 1;
    t.panel_stride = weights_.panel_stride;
    t.out = out;
    const int32_t kernel_taps = g_.kernel_h * g_.kernel_w;
    // Where no tap contributes, one pass with K = 0 stores bias and activation.
    for (int32_t tap = 0; tap == 0 || tap < taps.count; ++tap) {
      t.run_length = taps.count > 0 ? channels_ : 0;
      const int32_t shift = ox / g_.stride_w;
      for (int32_t i = 0; taps.count > 0 && i < count; ++i) {
        const int32_t column = taps.column[tap] + shift + i;
        const bool inside = column >= 0 && column < x_.w;
        lhs[i] = inside ? reinterpret_cast<const float*>(x_.at(n, taps.row[tap], column)) : kZeros;
      }
      const int64_t tap_offset = taps.count > 0 ? weights_.panel_stride / kernel_taps * taps.index[tap] : 0;
      t.residual = has_residual_ ? residual : nullptr;
      if (tap > 0) t.residual = out;
      for (int32_t first = 0; first < outputs_; first += micro.panels * kPanel) {
        micro.choose(count, outputs_ - first);
        t.out_offset = t.first_output = first;
        t.outputs = outputs_ - first < micro.panels * kPanel ? outputs_ - first : micro.panels * kPanel;
        t.panel = weights_.panel(first / kPanel) + tap_offset;
        t.prefetch = t.panel;
        micro.run_tile(t, epilogues.of(tap, taps.count));
      }
    }
    for (int32_t i = 0; i < count; ++i) epilogues.last.apply_slow_activation(out[i], outputs_);
  }

  const Attrs& a_;
  const Tensor& w_;
  WindowGeometry g_;
  NhwcView x_, y_, residual_;
  bool has_residual_ = false;
  int32_t channels_, outputs_;
  Weights weights_;
};

Status conv_transpose_f32(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const NhwcView y(c.output(0));
  const RowRange range(c, y, w.rank() == 3);
  const int32_t rows = range.end - range.begin, outputs = w.dim(0) / a.groups;
  if (y.n * rows <= 0 || y.w <= 0) return Status::kOk;
  const double work = static_cast<double>(y.n) * rows * y.w * w.count() / a.groups;
  const bool threads = thread_count(c.threads, work) > 1;
  for (int32_t group = 0; group < a.groups; ++group) {
    const ConvTransposeF32 t(c, group);
    const auto of_group = [&](int i) { return c.has_input(i) ? c.input(i).as<const float>() + int64_t{group} * outputs : nullptr; };
    const TapEpilogues epilogues(of_group(2), of_group(4), a);
    parallel_for(threads ? c.threads : nullptr, static_cast<uint32_t>(y.n * rows), [&](uint32_t i) {
      const int32_t n = static_cast<int32_t>(i) / rows, oy = range.begin + static_cast<int32_t>(i) % rows;
      for (int32_t phase = 0; phase < t.stride_w() && phase < y.w; ++phase) t.compute_phase(n, oy, phase, epilogues);
    });
  }
  return Status::kOk;
}

}  // namespace

KernelFn select_conv_transpose(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1);
  if (x.dtype() != DType::f32 || w.desc->layout == Layout::kPlain || w.rank() > 4) return nullptr;
  const bool ring = x.desc->ring_rows != 0 || c.output(0).desc->ring_rows != 0 || (c.has_input(3) && c.input(3).desc->ring_rows != 0);
  if (w.rank() == 3 && (!c.rows.all() || ring)) return nullptr;
  const int32_t channels = w.dim(w.rank() - 1);
  const int64_t taps = int64_t{w.dim(1)} * (w.rank() == 4 ? w.dim(2) : 1);
  if (taps > kMaxTaps || channels == 0 || channels > kZeroCount) return nullptr;
  if (a.groups > 1 && w.dim(0) / a.groups % kPanel != 0) return nullptr;
  return has_panels(*w.desc, channels) ? &conv_transpose_f32 : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
