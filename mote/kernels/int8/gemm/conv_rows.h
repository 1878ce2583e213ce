#pragma once

// The LHS of a convolution (im2col): the window of each output position is a row. Windows are read in place or packed, never materialised
// as a whole.

#include "mote/kernels/common/nhwc_view.h"
#include "mote/kernels/common/window_geometry.h"
#include "mote/kernels/int8/gemm/gemm_s8.h"
#include "mote/kernels/int8/gemm/padded_rows.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

class ConvRowSource {
 public:
  // Channels [channel, channel + channels) of x.
  ConvRowSource(const WindowGeometry& g, const NhwcView& x, const NhwcView& y, const NhwcView* residual, RowRange rows, int32_t channel,
                int32_t channels)
      : g_(g), x_(x), y_(y), rows_(rows), channels_(channels), area_((rows.end - rows.begin) * y.w) {
    x_.data += channel;
    if (residual != nullptr) residual_ = *residual, has_residual_ = true;
    // Taps that are adjacent in the input are copied together.
    contiguous_taps_ = g.dilation_w == 1 && x.column == channels;
    flatten();
    in_place_ = is_pointwise() && g.pad_h == 0 && g.pad_w == 0 && g.stride_w == 1 && y_.w == x_.w && (rows_.end - 1) * g.stride_h < x_.h;
  }
  bool has_residual() const { return has_residual_; }
  int32_t count() const { return y_.n * area_; }

  // The windows of an output row read overlapping or adjacent columns of the same input rows.
  RunLayout run_layout() const {
    if (!contiguous_taps_ || g_.stride_w > 2 || (is_pointwise() && g_.stride_w > 1)) return {};
    return {g_.kernel_h, g_.kernel_w * channels_, g_.stride_w * channels_, y_.w, in_place_};
  }
  RowCursor cursor(int32_t first) const {
    const int32_t n = first / area_, rest = first % area_, y = rows_.begin + rest / y_.w, x = rest % y_.w;
    return {in_place_ ? x_.at(n, y * g_.stride_h, x) : nullptr,
            y_.at(n, y, x),
            has_residual_ ? residual_.at(n, y, x) : nullptr,
            y_.column,
            residual_.column,
            n};
  }
  // How many rows from `first` on, up to `count`, lie `stride` bytes apart with `bytes` readable in each.
  int32_t rows_in_place(int32_t first, int32_t count, int32_t bytes, const uint8_t** first_row, int64_t* stride) const {
    if (!is_pointwise() || g_.pad_h != 0 || g_.pad_w != 0) return 0;
    const int32_t n = first / area_, y = rows_.begin + first % area_ / y_.w, x = first % y_.w;
    if (y * g_.stride_h >= x_.h || (y_.w - 1) * g_.stride_w >= x_.w) return 0;
    *first_row = x_.at(n, y * g_.stride_h, x * g_.stride_w);
    *stride = g_.stride_w * x_.column;
    if (count > y_.w - x) count = y_.w - x;
    // Reads behind the last channel of a row end in the next row, except at the end of the input.
    const uint8_t* end =
        x_.data + (x_.n - 1) * x_.batch + ((x_.ring > 0 ? x_.ring : x_.h) - 1) * x_.row + (x_.w - 1) * x_.column + channels_;
    while (count > 0 && *first_row + (count - 1) * *stride + bytes > end) --count;
    return count;
  }

  PaddedRowsShape padded_shape() const {
    if (!contiguous_taps_ || is_pointwise()) return {};
    const int32_t columns = ((y_.w - 1) * g_.stride_w + g_.kernel_w + g_.stride_w - 1) / g_.stride_w * g_.stride_w;
    return {g_.kernel_h, g_.kernel_w * channels_, columns, channels_, g_.stride_w, g_.stride_h, g_.dilation_h,
            y_.w,        rows_.end - rows_.begin};
  }
  // Puts input row `padded_row`, counted from the first one that LHS row `first` reads, with its horizontal padding.
  template <class Packer>
  void write_padded_row(int32_t first, int32_t padded_row, int32_t columns, Packer& packer) const {
    const int32_t n = first / area_, y = rows_.begin + first % area_ / y_.w;
    put_columns(n, y * g_.stride_h - g_.pad_h + padded_row, -g_.pad_w, columns,
                [&](const uint8_t* from, int32_t length) { packer.put(from, length); });
  }

  template <class Packer>
  void write_run(int32_t first, int32_t count, int32_t run, Packer& packer) const {
    const int32_t n = first / area_, y = rows_.begin + first % area_ / y_.w, x = first % y_.w;
    const int32_t iy = y * g_.stride_h - g_.pad_h + run * g_.dilation_h, ix = x * g_.stride_w - g_.pad_w;
    put_columns(n, iy, ix, (count - 1) * g_.stride_w + g_.kernel_w, [&](const uint8_t* from, int32_t length) { packer.put(from, length); });
  }

  template <class F>
  MOTE_INLINE void visit_rows(int32_t first, int32_t count, int32_t k_begin, int32_t k_end, const F& f) const {
    int32_t n = first / area_, y = rows_.begin + first % area_ / y_.w, x = first % y_.w;
    for (int32_t i = 0; i < count; ++i) {
      const Origin origin{n, y * g_.stride_h - g_.pad_h, x * g_.stride_w - g_.pad_w};
      f(i, y_.at(n, y, x), has_residual_ ? residual_.at(n, y, x) : nullptr, n, [&](auto& packer) {
        if (is_pointwise() && inside(origin)) packer.put(x_.at(n, origin.y, origin.x) + k_begin, k_end - k_begin);
        else gather(origin, k_begin, k_end, packer);
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
  bool is_pointwise() const { return g_.kernel_h == 1 && g_.kernel_w == 1; }
  // 1x1 convolutions without stride and padding: rows of a dense plane are taken as one long row.
  void flatten() {
    const auto dense = [](const NhwcView& p) { return p.ring == 0 && p.row == int64_t{p.w} * p.column; };
    const int32_t height = rows_.end - rows_.begin;
    if (!is_pointwise() || g_.stride_w != 1 || g_.stride_h != 1 || g_.pad_w != 0 || g_.pad_h != 0 || x_.w != y_.w || rows_.end > x_.h ||
        height <= 1)
      return;
    if (!dense(x_) || !dense(y_) || (has_residual_ && !dense(residual_))) return;
    for (NhwcView* p : {&x_, &y_, &residual_}) {
      p->data += rows_.begin * p->row;
      p->w *= height;
      p->h = 1;
    }
    rows_.begin = 0;
    rows_.end = 1;
  }
  MOTE_INLINE bool inside(const Origin& origin) const {
    return static_cast<uint32_t>(origin.y) < static_cast<uint32_t>(x_.h) && static_cast<uint32_t>(origin.x) < static_cast<uint32_t>(x_.w);
  }

  // Puts elements [begin, end) of a window; outside of the input they are the zero point.
  template <class Packer>
  MOTE_INLINE void gather(const Origin& origin, int32_t begin, int32_t end, Packer& packer) const {
    const int32_t run_length = g_.kernel_w * channels_;
    if (contiguous_taps_ && begin == 0 && end == g_.kernel_h * run_length && origin.x >= 0 && origin.x + g_.kernel_w <= x_.w &&
        origin.y >= 0 && origin.y + (g_.kernel_h - 1) * g_.dilation_h < x_.h) {
      for (int32_t ky = 0; ky < g_.kernel_h; ++ky) packer.put(x_.at(origin.n, origin.y + ky * g_.dilation_h, origin.x), run_length);
      return;
    }
    int32_t k = 0;
    const auto put = [&](const uint8_t* from, int32_t length) {
      const int32_t first = k > begin ? k : begin, last = k + length < end ? k + length : end;
      if (first < last) packer.put(from != nullptr ? from + (first - k) : nullptr, last - first);
      k += length;
    };
    for (int32_t ky = 0; ky < g_.kernel_h; ++ky) {
      const int32_t iy = origin.y + ky * g_.dilation_h;
      if (contiguous_taps_ || static_cast<uint32_t>(iy) >= static_cast<uint32_t>(x_.h)) {
        put_columns(origin.n, iy, origin.x, g_.kernel_w, put);
      } else {
        for (int32_t kx = 0; kx < g_.kernel_w; ++kx) {
          const int32_t ix = origin.x + kx * g_.dilation_w;
          put(static_cast<uint32_t>(ix) < static_cast<uint32_t>(x_.w) ? x_.at(origin.n, iy, ix) : nullptr, channels_);
        }
      }
    }
  }

  // Columns [ix, ix + columns) of an input row, as at most three pieces put(from, length); `from` is null for padding.
  template <class P>
  MOTE_INLINE void put_columns(int32_t n, int32_t iy, int32_t ix, int32_t columns, const P& put) const {
    const bool row_exists = static_cast<uint32_t>(iy) < static_cast<uint32_t>(x_.h);
    const int32_t padding_before = !row_exists ? columns : ix < 0 ? (-ix < columns ? -ix : columns) : 0, available = x_.w - ix;
    const int32_t last = available < columns ? (available > padding_before ? available : padding_before) : columns;
    if (padding_before > 0) put(nullptr, padding_before * channels_);
    if (last > padding_before) put(x_.at(n, iy, ix + padding_before), (last - padding_before) * channels_);
    if (last < columns && padding_before < columns) put(nullptr, (columns - last) * channels_);
  }

  WindowGeometry g_;
  NhwcView x_, y_, residual_;
  RowRange rows_;
  int32_t channels_, area_;
  bool has_residual_ = false, contiguous_taps_, in_place_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
