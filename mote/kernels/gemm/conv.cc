// f32 convolutions as a GEMM without im2col: the micro-kernel reads each tap of a window in place, through indirection pointers.

#include "mote/ops/conv/conv.h"
#include "mote/kernels/common/nhwc_view.h"
#include "mote/kernels/common/window_geometry.h"
#include "mote/kernels/common/zeros.h"
#include "mote/kernels/depthwise/depthwise.h"
#include "mote/kernels/gemm/gemm_f32.h"
#include "mote/kernels/weights/grouped.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {
namespace {

using ops::conv::Attrs;

// The LHS of a convolution's GEMM (see gemm_f32_range): row i is the window of output position i, its runs are the taps.
class ConvRows {
 public:
  // Channels [channel, channel + channels) of x, and outputs from `output` on.
  // merge: taps of a kernel row that are contiguous in memory may form one run.
  ConvRows(const WindowGeometry& g, const NhwcView& x, const NhwcView& y, const NhwcView* residual, RowRange rows, int32_t channel,
           int32_t channels, int32_t output, bool merge = true)
      : g_(g), x_(x), y_(y), rows_(rows), channels_(channels), area_((rows.end - rows.begin) * y.w) {
    x_.data += channel * 4;
    y_.data += output * 4;
    if (residual != nullptr) {
      residual_ = *residual;
      residual_.data += output * 4;
      has_residual_ = true;
    }
    merge_ = merge && g.dilation_w == 1 && x.column == channels * 4 && g.kernel_w * channels <= kZeroCount;
  }
  bool has_residual() const { return has_residual_; }
  int32_t count() const { return y_.n * area_; }
  // Overlapping windows share input values, so a further row adds less than a whole window.
  int64_t row_bytes() const {
    const auto step = [](int32_t stride, int32_t kernel) { return stride < kernel ? stride : kernel; };
    return int64_t{step(g_.stride_h, g_.kernel_h)} * step(g_.stride_w, g_.kernel_w) * channels_ * 4;
  }

  void row_pointers(int32_t first, int32_t count, const float** pointers, float** out, const float** residual, LhsTile* t) const {
    const int32_t n = y_.n == 1 ? 0 : first / area_, row = (first - n * area_) / y_.w, x = first - n * area_ - row * y_.w;
    const int32_t y = rows_.begin + row;
    if (x + count <= y_.w) return within_output_row(n, y, x, count, pointers, out, residual, t);
    across_output_rows(n, y, x, count, pointers, out, residual, t);
  }

 private:
  // All positions are in one output row, so outputs and windows are evenly spaced.
  void within_output_row(int32_t n, int32_t y, int32_t x, int32_t count, const float** pointers, float** out, const float** residual,
                         LhsTile* t) const {
    strided_pointers(y_.at(n, y, x), y_.column, count, out);
    if (has_residual_) strided_pointers(residual_.at(n, y, x), residual_.column, count, residual);
    const int32_t top = y * g_.stride_h - g_.pad_h, first_x = x * g_.stride_w - g_.pad_w, last_x = first_x + (count - 1) * g_.stride_w;
    const int64_t step = g_.stride_w * x_.column;
    const bool merged = merge_ && first_x >= 0 && last_x + g_.kernel_w <= x_.w;
    const int32_t taps = set_runs(merged, t);
    for (int32_t ky = 0; ky < g_.kernel_h; ++ky) {
      const int32_t iy = top + ky * g_.dilation_h;
      const bool in = static_cast<uint32_t>(iy) < static_cast<uint32_t>(x_.h);
      for (int32_t kx = 0; kx < taps; ++kx, pointers += count) {
        const int32_t ix = first_x + kx * g_.dilation_w;
        if (!in) {
          for (int32_t i = 0; i < count; ++i) pointers[i] = kZeros;
          continue;
        }
        strided_pointers(x_.at(n, iy, ix), step, count, pointers);
        if (ix >= 0 && last_x - first_x + ix < x_.w) continue;
        for (int32_t i = 0; i < count; ++i)
          if (static_cast<uint32_t>(ix + i * g_.stride_w) >= static_cast<uint32_t>(x_.w)) pointers[i] = kZeros;
      }
    }
  }

  // Positions of several output rows, or images.
  void across_output_rows(int32_t n, int32_t y, int32_t x, int32_t count, const float** pointers, float** out, const float** residual,
                          LhsTile* t) const {
    struct WindowOrigin {
      int32_t n, y, x;
    } origin[kTileRows];
    bool inside = true;
    for (int32_t i = 0; i < count; ++i) {
      origin[i] = {n, y * g_.stride_h - g_.pad_h, x * g_.stride_w - g_.pad_w};
      inside &= origin[i].x >= 0 && origin[i].x + g_.kernel_w <= x_.w;
      out[i] = reinterpret_cast<float*>(y_.at(n, y, x));
      if (has_residual_) residual[i] = reinterpret_cast<const float*>(residual_.at(n, y, x));
      if (++x == y_.w) {
        x = 0;
        if (++y == rows_.end) y = rows_.begin, ++n;
      }
    }
    const bool merged = merge_ && inside;
    const int32_t taps = set_runs(merged, t);
    for (int32_t ky = 0; ky < g_.kernel_h; ++ky) {
      for (int32_t kx = 0; kx < taps; ++kx) {
        for (int32_t i = 0; i < count; ++i) {
          const int32_t iy = origin[i].y + ky * g_.dilation_h, ix = origin[i].x + kx * g_.dilation_w;
          const bool in = static_cast<uint32_t>(iy) < static_cast<uint32_t>(x_.h) &&
                          (merged || static_cast<uint32_t>(ix) < static_cast<uint32_t>(x_.w));
          *pointers++ = in ? reinterpret_cast<const float*>(x_.at(origin[i].n, iy, ix)) : kZeros;
        }
      }
    }
  }

  // Sets the runs of a window; merged: each kernel row is one run. Returns the runs of a kernel row.
  int32_t set_runs(bool merged, LhsTile* t) const {
    const int32_t taps = merged ? 1 : g_.kernel_w;
    t->runs = g_.kernel_h * taps;
    t->run_length = merged ? g_.kernel_w * channels_ : channels_;
    return taps;
  }

  template <class T>
  static void strided_pointers(uint8_t* first, int64_t step, int32_t count, T** pointers) {
    for (int32_t i = 0; i < count; ++i) pointers[i] = reinterpret_cast<T*>(first + i * step);
  }

  WindowGeometry g_;
  NhwcView x_, y_, residual_;
  RowRange rows_;
  int32_t channels_, area_;
  bool has_residual_ = false, merge_ = false;
};

// Pointwise convolutions of dense tensors: merges all images and rows into one long row, so that tiles are full.
void merge_rows_if_pointwise(const WindowGeometry& g, RowRange* rows, NhwcView* x, NhwcView* y, NhwcView* residual) {
  if (g.pad_h != 0 || g.pad_w != 0 || g.kernel_h != 1 || g.kernel_w != 1 || g.stride_h != 1 || g.stride_w != 1 || x->h != y->h ||
      x->w != y->w)
    return;
  if (rows->begin != 0 || rows->end != y->h) return;
  NhwcView* const planes[] = {x, y, residual};
  for (const NhwcView* p : planes)
    if (p->ring != 0 || p->row != p->w * p->column || (p->n > 1 && p->batch != p->h * p->row)) return;
  for (NhwcView* p : planes) p->w *= p->n * p->h, p->n = p->h = 1;
  rows->end = 1;
}

Status conv_f32(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const bool flat = w.rank() == 3;
  NhwcView x(c.input(0)), y(c.output(0)), residual(c.has_input(3) ? c.input(3) : c.output(0));
  const WindowGeometry g(a, &w.desc->dims[1], w.rank() - 2);
  RowRange rows(c, y, flat);
  merge_rows_if_pointwise(g, &rows, &x, &y, &residual);
  const int32_t channels = w.dim(w.rank() - 1), outputs = w.dim(0) / a.groups;
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const float* scales = c.has_input(4) ? c.input(4).as<const float>() : nullptr;
  for (int32_t group = 0; group < a.groups; ++group) {
    const int32_t first = group * outputs;
    const ConvRows lhs(g, x, y, c.has_input(3) ? &residual : nullptr, rows, group * channels, channels, first);
    const int32_t k = g.kernel_h * g.kernel_w * channels;
    const GemmShape p{lhs.count(), outputs, k, weights_of(w, k, first)};
    const EpilogueF32 epilogue(bias != nullptr ? bias + first : nullptr, scales != nullptr ? scales + first : nullptr, 1, a.activation,
                               a.act_a, a.act_b);
    gemm_f32(p, lhs, epilogue, c.threads);
  }
  return Status::kOk;
}

// True when the taps of a kernel row are one run for every window: no padding at the sides, no dilation, contiguous channels.
bool kernel_rows_are_runs(const OpContext& c, const WindowGeometry& g) {
  const Tensor &x = c.input(0), &w = c.input(1);
  const int32_t channels = w.dim(w.rank() - 1);
  return g.pad_w == 0 && c.attrs<Attrs>().pads_end[w.rank() - 3] == 0 && g.dilation_w == 1 && x.stride(x.rank() - 2) == channels * 4 &&
         int64_t{g.kernel_w} * channels <= kZeroCount;
}

Status conv_f32_group_scaled(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const NhwcView x(c.input(0)), y(c.output(0)), residual(c.has_input(3) ? c.input(3) : c.output(0));
  const WindowGeometry g(a, &w.desc->dims[1], w.rank() - 2);
  const int32_t channels = w.dim(w.rank() - 1);
  const bool merged = kernel_rows_are_runs(c, g);
  const int32_t taps = merged ? 1 : g.kernel_w;
  const ConvRows lhs(g, x, y, c.has_input(3) ? &residual : nullptr, RowRange(c, y, w.rank() == 3), 0, channels, 0, merged);
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const EpilogueF32 last(bias, nullptr, 1, a.activation, a.act_a, a.act_b), plain(nullptr, nullptr, 1, 0, 0, 0);
  weights::gemm_f32_group_scaled(c, weights::lhs_rows_of(lhs, lhs.count(), g.kernel_h * taps, g.kernel_w / taps * channels), a.group_size,
                                 last, plain);
  return Status::kOk;
}

}  // namespace

KernelFn select_conv(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1);
  if (x.dtype() != DType::f32 || w.desc->layout == Layout::kPlain || w.rank() > 4) return nullptr;
  const bool flat = w.rank() == 3;
  const auto ring = [&](const Tensor& t) { return t.desc->ring_rows != 0; };
  if (flat && (!c.rows.all() || ring(x) || ring(c.output(0)) || (c.has_input(3) && ring(c.input(3))))) return nullptr;
  const int32_t channels = w.dim(w.rank() - 1);
  if (channels == 0 || w.dim(0) == 0) return nullptr;
  if (a.group_size > 0 || w.dtype() == DType::s4) {
    if (w.dtype() == DType::s8 && channels == 1 && w.dim(0) == a.groups && a.groups > 1) return depthwise::select_depthwise(c);
    if (a.groups > 1 || channels > kZeroCount) return nullptr;
    const WindowGeometry g(a, &w.desc->dims[1], w.rank() - 2);
    const int32_t taps = kernel_rows_are_runs(c, g) ? 1 : g.kernel_w;
    return weights::supports_group_scales(c, a.group_size, g.kernel_h * taps, g.kernel_w / taps * channels) ? &conv_f32_group_scaled
                                                                                                            : nullptr;
  }
  if (a.groups > 1 && w.dim(0) / a.groups % kPanel != 0) {
    if (w.dtype() != DType::f32) return nullptr;
    return channels == 1 && w.dim(0) == a.groups ? depthwise::select_depthwise(c) : depthwise::select_grouped(c);
  }
  const WindowGeometry g(a, &w.desc->dims[1], w.rank() - 2);
  const bool merged = kernel_rows_are_runs(c, g);
  if (channels > kZeroCount || int64_t{g.kernel_h} * (merged ? 1 : g.kernel_w) > kMaxTileRuns) return nullptr;
  const int32_t run = w.count() == w.dim(0) * channels ? 0 : channels;  // a single tap is the last run: it may end within a k group
  return has_panels(*w.desc, run) ? &conv_f32 : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
