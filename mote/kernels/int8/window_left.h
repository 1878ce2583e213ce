#pragma once

// The left side of a convolution: the window of each output is a row.

#include "mote/kernels/common/geometry.h"
#include "mote/kernels/common/plane.h"
#include "mote/kernels/int8/lines.h"
#include "mote/kernels/int8/product.h"

namespace mote::kernels::MOTE_ISA_NAME {

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
  Line line(int32_t first) const {
    const int32_t n = first / area_, rest = first % area_, y = rows_.begin + rest / y_.w, x = rest % y_.w;
    const bool in_place = point() && g_.pad_h == 0 && g_.pad_w == 0 && g_.stride_w == 1 && y_.w == x_.w && y * g_.stride_h < x_.h;
    return {in_place ? x_.at(n, y * g_.stride_h, x) : nullptr,
            y_.at(n, y, x),
            has_residual_ ? residual_.at(n, y, x) : nullptr,
            y_.column,
            residual_.column,
            n};
  }
  // Up to `count` rows from `first` on that lie `stride` bytes apart, with `bytes` to read in each; returns how many there are.
  int32_t direct(int32_t first, int32_t count, int32_t bytes, const uint8_t** at, int64_t* stride) const {
    if (!point() || g_.pad_h != 0 || g_.pad_w != 0) return 0;
    const int32_t n = first / area_, y = rows_.begin + first % area_ / y_.w, x = first % y_.w;
    if (y * g_.stride_h >= x_.h || (y_.w - 1) * g_.stride_w >= x_.w) return 0;
    *at = x_.at(n, y * g_.stride_h, x * g_.stride_w);
    *stride = g_.stride_w * x_.column;
    if (count > y_.w - x) count = y_.w - x;
    // Reading on behind the last channel stays within the input but for its last rows.
    const uint8_t* end =
        x_.data + (x_.n - 1) * x_.batch + ((x_.ring > 0 ? x_.ring : x_.h) - 1) * x_.row + (x_.w - 1) * x_.column + channels_;
    while (count > 0 && *at + (count - 1) * *stride + bytes > end) --count;
    return count;
  }

  LineShape lines() const {
    if (!merge_ || point()) return {};
    const int32_t columns = ((y_.w - 1) * g_.stride_w + g_.kernel_w + g_.stride_w - 1) / g_.stride_w * g_.stride_w;
    return {g_.kernel_h, g_.kernel_w * channels_, columns, channels_, g_.stride_w, g_.stride_h, g_.dilation_h,
            y_.w,        rows_.end - rows_.begin};
  }
  // Line `line` of those that the outputs from `first` on read.
  template <class W>
  void write_line(int32_t first, int32_t line, int32_t columns, W& writer) const {
    const int32_t n = first / area_, y = rows_.begin + first % area_ / y_.w;
    put_columns(n, y * g_.stride_h - g_.pad_h + line, -g_.pad_w, columns,
                [&](const uint8_t* from, int32_t length) { writer.put(from, length); });
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
    if (!point() || g_.stride_w != 1 || g_.stride_h != 1 || g_.pad_w != 0 || g_.pad_h != 0 || x_.w != y_.w || rows_.end > x_.h ||
        height <= 1)
      return;
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
    const int32_t line = g_.kernel_w * channels_;
    if (merge_ && begin == 0 && end == g_.kernel_h * line && at.x >= 0 && at.x + g_.kernel_w <= x_.w && at.y >= 0 &&
        at.y + (g_.kernel_h - 1) * g_.dilation_h < x_.h) {
      for (int32_t ky = 0; ky < g_.kernel_h; ++ky) writer.put(x_.at(at.n, at.y + ky * g_.dilation_h, at.x), line);
      return;
    }
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

}  // namespace mote::kernels::MOTE_ISA_NAME
