#pragma once

#include "mote/ops/common/fourier.h"
#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::dft {

struct Attrs {
  int32_t axis = -2;
  int32_t inverse = 0;
  int32_t onesided = 0;
  int32_t length = 0;
};
using Types = FloatTypes;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo =
    OpInfo("Takes the discrete Fourier transform along one axis; the last dimension holds real and imaginary parts.")
        .signature("x -> y")
        .types(mask_of_list(Types{}))
        .ranks(2, kMaxRank)
        .scratch(&scratch)
        .onnx("DFT");
inline constexpr auto kAttrs = std::make_tuple(
    attr("axis", &Attrs::axis, "axis to transform, not the last; negative counts from the end"),
    attr("inverse", &Attrs::inverse, "1: the inverse transform, divided by the length"),
    attr("onesided", &Attrs::onesided, "1: only length/2 + 1 frequencies come out (forward) or go in (inverse; a real signal comes out)"),
    attr("length", &Attrs::length,
         "points of the transform, at most 2^24; x is cut or padded with zeros; 0: as x has (onesided inverse: 2 * (size - 1))"));

// Points of the transform of an axis of `size`.
inline int64_t points(const Attrs& a, int32_t size) noexcept {
  if (a.length != 0) return a.length;
  return a.inverse != 0 && a.onesided != 0 ? 2 * (int64_t{size} - 1) : size;
}

// x (..., n, ..., 1 or 2): real or complex.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (x.rank < 2) return c.reject(Why::kRank, 2, x.rank);
  int axis;
  MOTE_TRY(c.axis(a.axis, x.rank, &axis));
  if (axis == x.rank - 1) return c.reject(Why::kAxis, x.rank - 2, axis);
  if (x.dims[x.rank - 1] != 1 && x.dims[x.rank - 1] != 2) return c.reject(Why::kDimMismatch, 2, x.dims[x.rank - 1]);
  MOTE_TRY(require_range(c, a.inverse, 0, 1));
  MOTE_TRY(require_range(c, a.onesided, 0, 1));
  const int64_t n = points(a, x.dims[axis]);
  if (n < 1 || n > kMaxFourier) return c.reject(Why::kWindow, n < 1 ? 1 : kMaxFourier, n);
  int32_t dims[kMaxRank];
  for (int i = 0; i < x.rank; ++i) dims[i] = x.dims[i];
  const bool half = a.onesided != 0 && a.inverse == 0, real = a.onesided != 0 && a.inverse != 0;
  dims[axis] = static_cast<int32_t>(half ? n / 2 + 1 : n);
  dims[x.rank - 1] = real ? 1 : 2;
  return c.set(0, x.dtype, x.rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::dft
