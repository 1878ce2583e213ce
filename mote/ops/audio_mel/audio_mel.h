#pragma once

#include "mote/ops/common/audio.h"
#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::audio_mel {

struct Attrs {
  int32_t step = 1;
  int32_t magnitude = 0;
  int32_t preemphasis = 0;
  int32_t lead = 0;
};
using Types = TypeList<int16_t>;
inline constexpr OpInfo kInfo =
    OpInfo("Turns frames of 16-bit samples into magnitudes of frequency bands: window, Fourier transform, filter bank; integers alone.")
        .signature("samples, window, cosines, bands, weights -> y, work")
        .inputs(5)
        .outputs(2)
        .types(mask_of_list(Types{}))
        .ranks(1, 1)
        .flags(kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple(
    attr("step", &Attrs::step, "samples from one frame to the next"),
    attr("magnitude", &Attrs::magnitude, "1: bands add up magnitudes; 0: powers, and a band's value is the square root of the sum"),
    attr("preemphasis", &Attrs::preemphasis, "part of the sample before that is taken away from each, times 2^15"),
    attr("lead", &Attrs::lead, "1: the first sample only stands before the first frame; 0: silence does"));

constexpr int32_t kMostTransform = 1 << 14;

// samples s16 (N), window s16 (W) with 15 fractional bits, cosines s32 (F/4 + 1) of a quarter turn with 31, F a power of two and at least
// W; bands s32 (C, 2): first frequency and how many; weights u16 (M) with 12 fractional bits, a band's behind those of the one before.
// y u32 (frames, C): 2^12 * magnitudes of the transform divided by F. Only whole frames count. work s32 (F + 2) is where frames are
// transformed, an output so that it has a place in planned memory; nobody reads it.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_type(c, 1, DType::s16));
  MOTE_TRY(require_type(c, 2, DType::s32));
  MOTE_TRY(require_type(c, 3, DType::s32));
  MOTE_TRY(require_type(c, 4, DType::u16));
  for (const int i : {0, 1, 2, 4}) MOTE_TRY(require_rank(c, i, 1));
  MOTE_TRY(require_rank(c, 3, 2));
  MOTE_TRY(require_range(c, a.step, 1, 0x7fffffff));
  MOTE_TRY(require_range(c, a.magnitude, 0, 1));
  MOTE_TRY(require_range(c, a.preemphasis, 0, 1 << 15));
  MOTE_TRY(require_range(c, a.lead, 0, 1));
  if (c.in(3).dims[1] != 2) return c.reject(Why::kDimMismatch, 2, c.in(3).dims[1]);
  const int64_t window = c.in(1).dims[0], size = (int64_t{c.in(2).dims[0]} - 1) * 4;
  if (size < 8 || size > kMostTransform || (size & (size - 1)) != 0) return c.reject(Why::kWindow, kMostTransform, size);
  if (window < 1 || window > size) return c.reject(Why::kWindow, size, window);
  const int64_t samples = int64_t{c.in(0).dims[0]} - a.lead, frames = samples < window ? 0 : (samples - window) / a.step + 1;
  MOTE_TRY(require_elements(c, DType::u32, {frames, c.in(3).dims[0]}));
  const int32_t dims[2] = {static_cast<int32_t>(frames), c.in(3).dims[0]};
  const int32_t work[1] = {static_cast<int32_t>(size) + 2};
  MOTE_TRY(c.set(1, DType::s32, 1, work));
  return c.set(0, DType::u32, 2, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::audio_mel
