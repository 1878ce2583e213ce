// Quantized convolutions as products: the window of each output is gathered into a row of the left side.

#include "mote/ops/q_conv/q_conv.h"

#include "mote/kernels/common/geometry.h"
#include "mote/kernels/common/plane.h"
#include "mote/kernels/int8/depthwise.h"
#include "mote/kernels/int8/product.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::q_conv::Attrs;
using ops::q_conv::kResidual;

class WindowLeft {
 public:
  // Channels [channel, channel + channels) of x.
  WindowLeft(const Geometry& g, const Plane& x, const Plane& y, const Plane* residual, RowRange rows, int32_t channel, int32_t channels)
      : g_(g), x_(x), y_(y), rows_(rows), channels_(channels), area_((rows.end - rows.begin) * y.w) {
    x_.data += channel;
    if (residual != nullptr) residual_ = *residual, has_residual_ = true;
    // Neighbouring taps that lie side by side are copied together.
    merge_ = g.dilation_w == 1 && x.column == channels;
    flatten();
  }
  bool has_residual() const { return has_residual_; }
  int32_t count() const { return y_.n * area_; }

  // Outputs of a row read neighbouring columns of the same input rows.
  Strip strip() const {
    if (!merge_ || g_.stride_w > 2 || (point() && g_.stride_w > 1)) return {};
    return {g_.kernel_h, g_.kernel_w * channels_, g_.stride_w * channels_, y_.w};
  }
  template <class W>
  void write_run(int32_t first, int32_t count, int32_t run, W& writer) const {
    const int32_t n = first / area_, y = rows_.begin + first % area_ / y_.w, x = first % y_.w;
    const int32_t iy = y * g_.stride_h - g_.pad_h + run * g_.dilation_h, ix = x * g_.stride_w - g_.pad_w;
    put_columns(n, iy, ix, (count - 1) * g_.stride_w + g_.kernel_w, [&](const uint8_t* from, int32_t length) { writer.put(from, length); });
  }

  template <class F>
  MOTE_INLINE void visit(int32_t first, int32_t count, int32_t k_begin, int32_t k_end, const F& f) const {
    int32_t n = first / area_, y = rows_.begin + first % area_ / y_.w, x = first % y_.w;
    for (int32_t i = 0; i < count; ++i) {
      const Origin at{n, y * g_.stride_h - g_.pad_h, x * g_.stride_w - g_.pad_w};
      f(i, y_.at(n, y, x), has_residual_ ? residual_.at(n, y, x) : nullptr, n, [&](auto& writer) {
        if (point() && inside(at)) writer.put(x_.at(n, at.y, at.x) + k_begin, k_end - k_begin);
        else gather(at, k_begin, k_end, writer);
      });
      if (++x == y_.w) {
        x = 0;
        if (++y == rows_.end) y = rows_.begin, ++n;
      }
    }
  }

 private:
  struct Origin {
    int32_t n, y, x;
  };
  bool point() const { return g_.kernel_h == 1 && g_.kernel_w == 1; }
  // A window of one tap sees rows that lie one behind the other as one long row.
  void flatten() {
    const auto dense = [](const Plane& p) { return p.ring == 0 && p.row == int64_t{p.w} * p.column; };
    const int32_t height = rows_.end - rows_.begin;
    if (!point() || g_.stride_w != 1 || g_.stride_h != 1 || g_.pad_w != 0 || g_.pad_h != 0 || x_.w != y_.w || height <= 1) return;
    if (!dense(x_) || !dense(y_) || (has_residual_ && !dense(residual_))) return;
    for (Plane* p : {&x_, &y_, &residual_}) {
      p->data += rows_.begin * p->row;
      p->w *= height;
      p->h = 1;
    }
    rows_.begin = 0;
    rows_.end = 1;
  }
  MOTE_INLINE bool inside(const Origin& at) const {
    return static_cast<uint32_t>(at.y) < static_cast<uint32_t>(x_.h) && static_cast<uint32_t>(at.x) < static_cast<uint32_t>(x_.w);
  }

  // Elements [begin, end) of a window; what is outside of the input reads as the zero point.
  template <class W>
  MOTE_INLINE void gather(const Origin& at, int32_t begin, int32_t end, W& writer) const {
    int32_t k = 0;
    const auto put = [&](const uint8_t* from, int32_t length) {
      const int32_t first = k > begin ? k : begin, last = k + length < end ? k + length : end;
      if (first < last) writer.put(from != nullptr ? from + (first - k) : nullptr, last - first);
      k += length;
    };
    for (int32_t ky = 0; ky < g_.kernel_h; ++ky) {
      const int32_t iy = at.y + ky * g_.dilation_h;
      if (merge_ || static_cast<uint32_t>(iy) >= static_cast<uint32_t>(x_.h)) {
        put_columns(at.n, iy, at.x, g_.kernel_w, put);
      } else {
        for (int32_t kx = 0; kx < g_.kernel_w; ++kx) {
          const int32_t ix = at.x + kx * g_.dilation_w;
          put(static_cast<uint32_t>(ix) < static_cast<uint32_t>(x_.w) ? x_.at(at.n, iy, ix) : nullptr, channels_);
        }
      }
    }
  }

  // Columns [ix, ix + columns) of an input row; null: zero points.
  template <class P>
  MOTE_INLINE void put_columns(int32_t n, int32_t iy, int32_t ix, int32_t columns, const P& put) const {
    const bool row = static_cast<uint32_t>(iy) < static_cast<uint32_t>(x_.h);
    const int32_t before = !row ? columns : ix < 0 ? (-ix < columns ? -ix : columns) : 0, room = x_.w - ix;
    const int32_t last = room < columns ? (room > before ? room : before) : columns;
    if (before > 0) put(nullptr, before * channels_);
    if (last > before) put(x_.at(n, iy, ix + before), (last - before) * channels_);
    if (last < columns && before < columns) put(nullptr, (columns - last) * channels_);
  }

  Geometry g_;
  Plane x_, y_, residual_;
  RowRange rows_;
  int32_t channels_, area_;
  bool has_residual_ = false, merge_;
};

Status run(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const int spatial = w.rank() - 2;
  const Plane x(c.input(0)), y(c.output(0));
  const Geometry g(a, w.desc->dims + 1, spatial);
  Plane residual;
  ops::QuantBinaryAttrs sum;
  const bool add = c.has_input(kResidual);
  if (add) residual = Plane(c.input(kResidual)), sum = ops::q_conv::sum_attrs(a);
  const Stage stage(c, a, &sum);
  const int32_t channels = w.dim(w.rank() - 1), outputs = w.dim(0) / a.groups, k = g.kernel_h * g.kernel_w * channels;
  const int64_t panel_bytes = int64_t{(k + 3) / 4} * kStepBytes;
  for (int32_t group = 0; group < a.groups; ++group) {
    const WindowLeft left(g, x, y, add ? &residual : nullptr, RowRange(c, y, spatial == 1), group * channels, channels);
    const int8_t* weights = w.as<const int8_t>() + group * outputs / kPanel * panel_bytes;
    multiply(Product{left.count(), outputs, k, weights, group * outputs, c.input(0).dtype() == DType::s8}, left, stage, c.threads);
  }
  return Status::kOk;
}

}  // namespace

KernelFn select_q_conv(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1);
  if (w.desc->layout != Layout::kPanel16k4 || w.rank() > 4 || !Stage::can(c, a)) return nullptr;
  const auto ring = [&](const Tensor& t) { return t.desc->ring_rows != 0; };
  const bool add = c.has_input(kResidual);
  if (w.rank() == 3 && (!c.rows.all() || ring(x) || ring(c.output(0)) || (add && ring(c.input(kResidual))))) return nullptr;
  if (add && !SumOf<1>::can(ops::q_conv::sum_attrs(a))) return nullptr;
  const int32_t channels = w.dim(w.rank() - 1);
  const KernelFn depthwise = a.groups > 1 && channels == 1 ? select_q_depthwise(c) : nullptr;
  if (depthwise != nullptr) return depthwise;
  if (channels == 0 || (a.groups > 1 && w.dim(0) / a.groups % kPanel != 0)) return nullptr;
  return &run;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
