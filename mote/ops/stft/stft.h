#pragma once

#include "mote/ops/common/fourier.h"
#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::stft {

struct Attrs {
  int32_t frame_step = 1;
  int32_t frame_length = 0;
  int32_t onesided = 1;
};
using Types = FloatTypes;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo = OpInfo("Takes the discrete Fourier transform of overlapping frames of a signal.")
                                    .signature("signal, window? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .ranks(2, 3)
                                    .scratch(&scratch)
                                    .onnx("STFT");
inline constexpr auto kAttrs = std::make_tuple(
    attr("frame_step", &Attrs::frame_step, "samples from one frame to the next"),
    attr("frame_length", &Attrs::frame_length, "samples of a frame, at most 2^24; 0: as many as the window, else the signal has"),
    attr("onesided", &Attrs::onesided, "1: only frame_length/2 + 1 frequencies come out"));

inline int32_t frame_length(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  return a.frame_length != 0 ? a.frame_length : c.has_input(1) ? c.input(1).dim(0) : c.input(0).dim(1);
}

// signal (B, L), (B, L, 1) or complex (B, L, 2), window (frame_length) -> (B, frames, frequencies, 2); only whole frames count.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (x.rank != 2 && x.rank != 3) return c.reject(Why::kRank, 3, x.rank);
  if (x.rank == 3 && x.dims[2] != 1 && x.dims[2] != 2) return c.reject(Why::kDimMismatch, 2, x.dims[2]);
  if (c.has(1)) {
    MOTE_TRY(require_type(c, 1, x.dtype));
    MOTE_TRY(require_rank(c, 1, 1));
  }
  MOTE_TRY(require_range(c, a.frame_step, 1, 0x7fffffff));
  MOTE_TRY(require_range(c, a.onesided, 0, 1));
  const int64_t n = frame_length(c.op());
  if (n < 1 || n > kMaxFourier) return c.reject(Why::kWindow, n < 1 ? 1 : kMaxFourier, n);
  if (c.has(1)) MOTE_TRY(require_dims(c, 1, {n}));
  const int64_t frames = x.dims[1] < n ? 0 : (x.dims[1] - n) / a.frame_step + 1, bins = a.onesided != 0 ? n / 2 + 1 : n;
  MOTE_TRY(require_elements(c, x.dtype, {x.dims[0], frames, bins, 2}));
  const int32_t dims[] = {x.dims[0], static_cast<int32_t>(frames), static_cast<int32_t>(bins), 2};
  return c.set(0, x.dtype, 4, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::stft
