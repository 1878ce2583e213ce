// Convolutions as products without a copy of the input: the micro-kernel reads each tap of a window where it lies.

#include "mote/ops/conv/conv.h"
#include "mote/kernels/common/geometry.h"
#include "mote/kernels/common/plane.h"
#include "mote/kernels/common/zeros.h"
#include "mote/kernels/depthwise/depthwise.h"
#include "mote/kernels/gemm/product.h"
#include "mote/kernels/weights/grouped.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::conv::Attrs;

class ConvRows {
 public:
  // Channels [channel, channel + channels) of x and outputs from `output` on.
  // merge: neighbouring taps that lie side by side may be one run.
  ConvRows(const Geometry& g, const Plane& x, const Plane& y, const Plane* residual, RowRange rows, int32_t channel, int32_t channels,
           int32_t output, bool merge = true)
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
  // Windows that lie closer together than they are wide share their values.
  int64_t row_bytes() const {
    const auto step = [](int32_t stride, int32_t kernel) { return stride < kernel ? stride : kernel; };
    return int64_t{step(g_.stride_h, g_.kernel_h)} * step(g_.stride_w, g_.kernel_w) * channels_ * 4;
  }

  void rows(int32_t first, int32_t count, const float** pointers, float** out, const float** residual, TileRows* t) const {
    const int32_t n = y_.n == 1 ? 0 : first / area_, line = (first - n * area_) / y_.w, x = first - n * area_ - line * y_.w;
    const int32_t y = rows_.begin + line;
    if (x + count <= y_.w) return rows_of_line(n, y, x, count, pointers, out, residual, t);
    rows_of_lines(n, y, x, count, pointers, out, residual, t);
  }

 private:
  // Outputs of one line: they lie side by side, and so do their windows.
  void rows_of_line(int32_t n, int32_t y, int32_t x, int32_t count, const float** pointers, float** out, const float** residual,
                    TileRows* t) const {
    line_of(y_.at(n, y, x), y_.column, count, out);
    if (has_residual_) line_of(residual_.at(n, y, x), residual_.column, count, residual);
    const int32_t top = y * g_.stride_h - g_.pad_h, left = x * g_.stride_w - g_.pad_w, right = left + (count - 1) * g_.stride_w;
    const int64_t step = g_.stride_w * x_.column;
    const bool whole = merge_ && left >= 0 && right + g_.kernel_w <= x_.w;
    const int32_t taps = cut(whole, t);
    for (int32_t ky = 0; ky < g_.kernel_h; ++ky) {
      const int32_t iy = top + ky * g_.dilation_h;
      const bool in = static_cast<uint32_t>(iy) < static_cast<uint32_t>(x_.h);
      for (int32_t kx = 0; kx < taps; ++kx, pointers += count) {
        const int32_t ix = left + kx * g_.dilation_w;
        if (!in) {
          for (int32_t i = 0; i < count; ++i) pointers[i] = kZeros;
          continue;
        }
        line_of(x_.at(n, iy, ix), step, count, pointers);
        if (ix >= 0 && right - left + ix < x_.w) continue;
        for (int32_t i = 0; i < count; ++i)
          if (static_cast<uint32_t>(ix + i * g_.stride_w) >= static_cast<uint32_t>(x_.w)) pointers[i] = kZeros;
      }
    }
  }

  void rows_of_lines(int32_t n, int32_t y, int32_t x, int32_t count, const float** pointers, float** out, const float** residual,
                     TileRows* t) const {
    struct At {
      int32_t n, y, x;
    } at[kTileRows];
    bool inside = true;
    for (int32_t i = 0; i < count; ++i) {
      at[i] = {n, y * g_.stride_h - g_.pad_h, x * g_.stride_w - g_.pad_w};
      inside &= at[i].x >= 0 && at[i].x + g_.kernel_w <= x_.w;
      out[i] = reinterpret_cast<float*>(y_.at(n, y, x));
      if (has_residual_) residual[i] = reinterpret_cast<const float*>(residual_.at(n, y, x));
      if (++x == y_.w) {
        x = 0;
        if (++y == rows_.end) y = rows_.begin, ++n;
      }
    }
    const bool whole = merge_ && inside;
    const int32_t taps = cut(whole, t);
    for (int32_t ky = 0; ky < g_.kernel_h; ++ky) {
      for (int32_t kx = 0; kx < taps; ++kx) {
        for (int32_t i = 0; i < count; ++i) {
          const int32_t iy = at[i].y + ky * g_.dilation_h, ix = at[i].x + kx * g_.dilation_w;
          const bool in =
              static_cast<uint32_t>(iy) < static_cast<uint32_t>(x_.h) && (whole || static_cast<uint32_t>(ix) < static_cast<uint32_t>(x_.w));
          *pointers++ = in ? reinterpret_cast<const float*>(x_.at(at[i].n, iy, ix)) : kZeros;
        }
      }
    }
  }

  // Runs of a window; returns how many each of its lines is cut into.
  int32_t cut(bool whole, TileRows* t) const {
    const int32_t taps = whole ? 1 : g_.kernel_w;
    t->runs = g_.kernel_h * taps;
    t->run_length = whole ? g_.kernel_w * channels_ : channels_;
    return taps;
  }

  template <class T>
  static void line_of(uint8_t* first, int64_t step, int32_t count, T** pointers) {
    for (int32_t i = 0; i < count; ++i) pointers[i] = reinterpret_cast<T*>(first + i * step);
  }

  Geometry g_;
  Plane x_, y_, residual_;
  RowRange rows_;
  int32_t channels_, area_;
  bool has_residual_ = false, merge_ = false;
};

// Lines that lie one behind the other are one long line, where windows are single values.
void join_lines(const Geometry& g, RowRange* rows, Plane* x, Plane* y, Plane* residual) {
  if (g.pad_h != 0 || g.pad_w != 0 || g.kernel_h != 1 || g.kernel_w != 1 || g.stride_h != 1 || g.stride_w != 1 || x->h != y->h ||
      x->w != y->w)
    return;
  if (rows->begin != 0 || rows->end != y->h) return;
  Plane* const planes[] = {x, y, residual};
  for (const Plane* p : planes)
    if (p->ring != 0 || p->row != p->w * p->column || (p->n > 1 && p->batch != p->h * p->row)) return;
  for (Plane* p : planes) p->w *= p->n * p->h, p->n = p->h = 1;
  rows->end = 1;
}

Status run_conv(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const bool flat = w.rank() == 3;
  Plane x(c.input(0)), y(c.output(0)), residual(c.has_input(3) ? c.input(3) : c.output(0));
  const Geometry g(a, &w.desc->dims[1], w.rank() - 2);
  RowRange rows(c, y, flat);
  join_lines(g, &rows, &x, &y, &residual);
  const int32_t channels = w.dim(w.rank() - 1), outputs = w.dim(0) / a.groups;
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const float* scales = c.has_input(4) ? c.input(4).as<const float>() : nullptr;
  for (int32_t group = 0; group < a.groups; ++group) {
    const int32_t first = group * outputs;
    const ConvRows left(g, x, y, c.has_input(3) ? &residual : nullptr, rows, group * channels, channels, first);
    const int32_t k = g.kernel_h * g.kernel_w * channels;
    const Product p{left.count(), outputs, k, weights_of(w, k, first)};
    const Finish finish(bias != nullptr ? bias + first : nullptr, scales != nullptr ? scales + first : nullptr, 1, a.activation, a.act_a,
                        a.act_b);
    multiply(p, left, finish, c.threads);
  }
  return Status::kOk;
}

// Without padding at the sides the taps of a row are always one run.
bool rows_are_whole(const OpContext& c, const Geometry& g) {
  const Tensor &x = c.input(0), &w = c.input(1);
  const int32_t channels = w.dim(w.rank() - 1);
  return g.pad_w == 0 && c.attrs<Attrs>().pads_end[w.rank() - 3] == 0 && g.dilation_w == 1 && x.stride(x.rank() - 2) == channels * 4 &&
         int64_t{g.kernel_w} * channels <= kZeroCount;
}

Status run_conv_grouped(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const Plane x(c.input(0)), y(c.output(0)), residual(c.has_input(3) ? c.input(3) : c.output(0));
  const Geometry g(a, &w.desc->dims[1], w.rank() - 2);
  const int32_t channels = w.dim(w.rank() - 1);
  const bool whole = rows_are_whole(c, g);
  const int32_t taps = whole ? 1 : g.kernel_w;
  const ConvRows left(g, x, y, c.has_input(3) ? &residual : nullptr, RowRange(c, y, w.rank() == 3), 0, channels, 0, whole);
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const Finish last(bias, nullptr, 1, a.activation, a.act_a, a.act_b), plain(nullptr, nullptr, 1, 0, 0, 0);
  multiply_grouped(c, by_address(left, left.count(), g.kernel_h * taps, g.kernel_w / taps * channels), a.group_size, last, plain);
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
    if (w.dtype() == DType::s8 && channels == 1 && w.dim(0) == a.groups && a.groups > 1) return select_depthwise(c);
    if (a.groups > 1 || channels > kZeroCount) return nullptr;
    const Geometry g(a, &w.desc->dims[1], w.rank() - 2);
    const int32_t taps = rows_are_whole(c, g) ? 1 : g.kernel_w;
    return reads_groups(c, a.group_size, g.kernel_h * taps, g.kernel_w / taps * channels) ? &run_conv_grouped : nullptr;
  }
  if (a.groups > 1 && w.dim(0) / a.groups % kPanel != 0) {
    if (w.dtype() != DType::f32) return nullptr;
    return channels == 1 && w.dim(0) == a.groups ? select_depthwise(c) : select_grouped(c);
  }
  const Geometry g(a, &w.desc->dims[1], w.rank() - 2);
  const bool rows_whole = rows_are_whole(c, g);
  if (channels > kZeroCount || int64_t{g.kernel_h} * (rows_whole ? 1 : g.kernel_w) > kMaxTileRuns) return nullptr;
  const int32_t run = w.count() == w.dim(0) * channels ? 0 : channels;  // one tap may end within a group
  return has_panels(*w.desc, run) ? &run_conv : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
