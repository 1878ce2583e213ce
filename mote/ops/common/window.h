#pragma once

// Geometry of operators that slide a window over channels-last tensors (N, 1 to 3 spatial dimensions, C): convolutions and pools,
// and their transposes. Nothing here knows element types.
//
//   infer:   MOTE_TRY(require_spatial(c, 0));
//            Window w = make_window(a, c.in(0), kernel);          // a has strides, dilations, pads_begin, pads_end
//            MOTE_TRY(infer_window(c, ceil_mode, &w));
//            return set_spatial(c, 0, dtype, c.in(0).dims[0], w, channels);
//   kernel:  const Window w = make_window(a, *x.desc, kernel, *y.desc);
//            WindowWalk walk(w, *y.desc, c.rows);
//            while (walk.next()) {
//              T* out = y.at<T>(walk.output_offset(*y.desc));     // channel 0 of this position
//              walk.taps([&](const Tap& t) { const T* in = x.at<const T>(walk.input_offset(*x.desc, t)); ... weight t.index ... });
//            }

#include "mote/core/op.h"

namespace mote::ops {

constexpr int kMaxSpatial = 3;
constexpr int64_t kMaxExtent = 1 << 30;  // of a padded dimension or a window, so that every position fits 32 bits

struct WindowDim {
  int32_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;
  int64_t extent() const { return static_cast<int64_t>(kernel - 1) * dilation + 1; }
};

// Dimensions past `rank` have one position and one tap, so that loops may always be three deep.
struct Window {
  int rank = 0;
  bool transposed = false;  // an input position spreads over the output: out = in * stride + tap * dilation - pad_begin
  WindowDim dim[kMaxSpatial];
};

// The attribute table entries that all windowed operators share. A: an attribute struct with these fields, int32_t[3] each.
template <class A>
constexpr auto window_fields() {
  return std::make_tuple(attr("strides", &A::strides, "step of the window per spatial dimension; unused entries are ignored"),
                         attr("dilations", &A::dilations, "distance between neighbouring taps of the window"),
                         attr("pads_begin", &A::pads_begin, "positions added before each spatial dimension"),
                         attr("pads_end", &A::pads_end, "positions added after each spatial dimension"));
}

// The window with its output sizes still open. `kernel`: one size per spatial dimension of x.
template <class A>
Window make_window(const A& a, const TensorDesc& x, const int32_t* kernel) {
  Window w;
  w.rank = x.rank - 2;
  for (int i = 0; i < w.rank; ++i) w.dim[i] = {x.dims[i + 1], 0, kernel[i], a.strides[i], a.dilations[i], a.pads_begin[i], a.pads_end[i]};
  return w;
}

// The window of an operator whose output exists: what kernels use, after infer() has accepted the attributes.
template <class A>
Window make_window(const A& a, const TensorDesc& x, const int32_t* kernel, const TensorDesc& y) {
  Window w = make_window(a, x, kernel);
  for (int i = 0; i < w.rank; ++i) w.dim[i].out = y.dims[i + 1];
  return w;
}

inline Status require_spatial(const InferContext& c, int i) noexcept {
  const int rank = c.in(i).rank;
  return rank >= 3 && rank <= 2 + kMaxSpatial ? Status(Status::kOk) : c.reject(Why::kRank, 2 + kMaxSpatial, rank);
}

// Refuses windows that make no sense or whose positions would not fit 32 bits.
inline Status check_window(const InferContext& c, const Window& w) noexcept {
  int64_t taps = 1;
  for (int i = 0; i < w.rank; ++i) {
    const WindowDim& d = w.dim[i];
    if (d.kernel < 1 || d.stride < 1 || d.dilation < 1)
      return c.reject(Why::kWindow, 1, d.kernel < 1 ? d.kernel : d.stride < 1 ? d.stride : d.dilation);
    if (d.pad_begin < 0 || d.pad_end < 0) return c.reject(Why::kWindow, 0, d.pad_begin < 0 ? d.pad_begin : d.pad_end);
    const int64_t padded = static_cast<int64_t>(d.in) + d.pad_begin + d.pad_end;
    if (d.extent() > kMaxExtent) return c.reject(Why::kWindow, kMaxExtent, d.extent());
    if (padded > kMaxExtent) return c.reject(Why::kWindow, kMaxExtent, padded);
    taps *= d.kernel;
    if (taps > kMaxExtent) return c.reject(Why::kWindow, kMaxExtent, taps);
  }
  return Status::kOk;
}

// Checks a window and sets the output sizes of a convolution or pool. With ceil_mode a last, partial window counts too, unless it
// would start behind the input and its leading padding (as ATen and ONNX have it); a window larger than all of the padded input is such a
// one where less than a stride is missing.
inline Status infer_window(const InferContext& c, bool ceil_mode, Window* w) noexcept {
  MOTE_TRY(check_window(c, *w));
  for (int i = 0; i < w->rank; ++i) {
    WindowDim& d = w->dim[i];
    // After check_window everything fits 32 bits, whose division is one instruction where that of 64 bits is a function.
    const int32_t padded = d.in + d.pad_begin + d.pad_end, extent = (d.kernel - 1) * d.dilation + 1;
    if (padded < extent) {
      const int32_t missing = extent - padded;
      if (!ceil_mode || missing / d.stride > 1) return c.reject(Why::kWindow, extent, padded);
      d.out = missing < d.stride && d.in + d.pad_begin > 0 ? 1 : 0;
      continue;
    }
    const uint32_t stride = static_cast<uint32_t>(d.stride), room = static_cast<uint32_t>(padded - extent);
    uint32_t last = (room + (ceil_mode ? stride - 1 : 0)) / stride;
    if (ceil_mode && last * stride >= static_cast<uint32_t>(d.in + d.pad_begin)) --last;
    d.out = static_cast<int32_t>(last + 1);
  }
  return Status::kOk;
}

// Checks a window and sets the output sizes of a transposed convolution. `output_padding`: positions added at the end.
inline Status infer_transposed_window(const InferContext& c, const int32_t* output_padding, Window* w) noexcept {
  w->transposed = true;
  MOTE_TRY(check_window(c, *w));
  for (int i = 0; i < w->rank; ++i) {
    WindowDim& d = w->dim[i];
    if (output_padding[i] < 0 || output_padding[i] > kMaxExtent) return c.reject(Why::kWindow, 0, output_padding[i]);
    const int64_t spread = (static_cast<int64_t>(d.in) - 1) * d.stride + d.extent() + output_padding[i];
    const int64_t out = spread - d.pad_begin - d.pad_end;
    if (out < 0 || spread > kMaxExtent) return c.reject(Why::kWindow, kMaxExtent, out < 0 ? out : spread);
    d.out = static_cast<int32_t>(out);
  }
  return Status::kOk;
}

// Sets output o to (batch, the window's outputs, channels).
inline Status set_spatial(const InferContext& c, int o, DType dtype, int32_t batch, const Window& w, int32_t channels) noexcept {
  int32_t dims[kMaxSpatial + 2] = {batch};
  for (int i = 0; i < w.rank; ++i) dims[i + 1] = w.dim[i].out;
  dims[w.rank + 1] = channels;
  return c.set(o, dtype, w.rank + 2, dims);
}

// One tap of the window that lies inside the input.
struct Tap {
  int32_t index;            // among the kernel's taps, row major
  int32_t at[kMaxSpatial];  // position in the input
};

// Visits the positions of an output (N, spatial, C), batch by batch, only the given rows of dimension 1. For each position, taps()
// visits the taps that lie inside the input, in row-major order. Rows of ring buffers are addressed modulo the ring.
class WindowWalk {
 public:
  WindowWalk(const Window& w, const TensorDesc& y, Rows rows = {}) : w_(w), batches_(y.dims[0]) {
    for (int i = 0; i < kMaxSpatial; ++i) end_[i] = w.dim[i].out;
    if (rows.begin > 0) begin_ = rows.begin;
    if (rows.end < end_[0]) end_[0] = rows.end;
    done_ = batches_ <= 0 || begin_ >= end_[0] || end_[1] <= 0 || end_[2] <= 0 || y.dims[y.rank - 1] == 0;
    at_[0] = begin_;
    at_[2] = -1;
  }

  // Moves to the first, then to each following position. False when there is none left.
  bool next() {
    if (done_) return false;
    if (++at_[2] < end_[2]) return true;
    at_[2] = 0;
    if (++at_[1] < end_[1]) return true;
    at_[1] = 0;
    if (++at_[0] < end_[0]) return true;
    at_[0] = begin_;
    done_ = ++batch_ >= batches_;
    return !done_;
  }

  int32_t batch() const { return batch_; }
  const int32_t* position() const { return at_; }  // in the output

  // Byte offset of channel 0 at this position, in a tensor of the output's shape.
  int32_t output_offset(const TensorDesc& d) const { return offset(d, at_); }
  // Byte offset of channel 0 under a tap, in a tensor of the input's shape.
  int32_t input_offset(const TensorDesc& d, const Tap& t) const { return offset(d, t.at); }
  // Flat index of a tap's position within the input's spatial dimensions.
  int32_t plane_index(const Tap& t) const { return (t.at[0] * w_.dim[1].in + t.at[1]) * w_.dim[2].in + t.at[2]; }

  template <class Visit>
  void taps(Visit&& visit) const {
    int32_t first[kMaxSpatial], last[kMaxSpatial];
    for (int i = 0; i < kMaxSpatial; ++i) {
      first[i] = first_tap(i);
      last[i] = end_tap(i, w_.dim[i].in);
      if (first[i] >= last[i]) return;
    }
    Tap t;
    for (int32_t a = first[0]; a < last[0]; ++a) {
      if ((t.at[0] = source(0, a)) < 0) continue;
      for (int32_t b = first[1]; b < last[1]; ++b) {
        if ((t.at[1] = source(1, b)) < 0) continue;
        for (int32_t k = first[2]; k < last[2]; ++k) {
          if ((t.at[2] = source(2, k)) < 0) continue;
          t.index = (a * w_.dim[1].kernel + b) * w_.dim[2].kernel + k;
          visit(static_cast<const Tap&>(t));
        }
      }
    }
  }

  // Number of taps inside the input; not for transposed windows.
  int32_t valid_taps() const {
    int32_t n = 1;
    for (int i = 0; i < kMaxSpatial; ++i) n *= at_least_0(end_tap(i, w_.dim[i].in) - first_tap(i));
    return n;
  }
  // Number of taps inside the input or its padding (a partial window of ceil_mode reaches beyond); not for transposed windows.
  int32_t padded_taps() const {
    int32_t n = 1;
    for (int i = 0; i < kMaxSpatial; ++i) n *= at_least_0(end_tap(i, w_.dim[i].in + w_.dim[i].pad_end));
    return n;
  }

 private:
  static int32_t at_least_0(int32_t n) { return n > 0 ? n : 0; }
  int32_t offset(const TensorDesc& d, const int32_t* at) const {
    const int32_t row = d.ring_rows != 0 ? at[0] % d.ring_rows : at[0];
    int32_t bytes = batch_ * d.strides[0] + row * d.strides[1];
    for (int i = 1; i < d.rank - 2; ++i) bytes += at[i] * d.strides[i + 1];
    return bytes;
  }

  // Input position of tap 0.
  int32_t origin(int i) const { return at_[i] * w_.dim[i].stride - w_.dim[i].pad_begin; }
  int32_t first_tap(int i) const {
    const WindowDim& d = w_.dim[i];
    if (w_.transposed || origin(i) >= 0) return 0;
    return (-origin(i) - 1) / d.dilation + 1;
  }
  // One past the last tap whose position is below `limit`.
  int32_t end_tap(int i, int32_t limit) const {
    const WindowDim& d = w_.dim[i];
    if (w_.transposed) return d.kernel;
    const int32_t room = limit - origin(i);
    if (room <= 0) return 0;
    const int32_t taps = (room - 1) / d.dilation + 1;
    return taps < d.kernel ? taps : d.kernel;
  }
  // Input position under tap k, or -1 where a transposed window has none.
  int32_t source(int i, int32_t k) const {
    const WindowDim& d = w_.dim[i];
    if (!w_.transposed) return origin(i) + k * d.dilation;
    const int32_t spread = at_[i] + d.pad_begin - k * d.dilation;
    return spread < 0 || spread % d.stride != 0 || spread / d.stride >= d.in ? -1 : spread / d.stride;
  }

  const Window& w_;
  int32_t batches_;
  int32_t batch_ = 0;
  int32_t begin_ = 0;
  int32_t end_[kMaxSpatial];
  int32_t at_[kMaxSpatial] = {};
  bool done_;
};

}  // namespace mote::ops
