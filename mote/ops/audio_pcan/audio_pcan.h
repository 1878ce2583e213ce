#pragma once

#include "mote/ops/common/audio.h"
#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::audio_pcan {

struct Attrs {
  uint32_t even_smoothing = 410;  // 0.025
  uint32_t odd_smoothing = 983;   // 0.06
  uint32_t least = 819;           // 0.05
  uint32_t strength = 0;
  uint32_t offset = 0;
  int32_t bias = 0;
};
using Types = TypeList<uint32_t>;
inline constexpr OpInfo kInfo =
    OpInfo("Takes the steady noise away from magnitudes of frequency bands and evens out their loudness (PCAN), frame by frame.")
        .signature("noise, x -> noise, y")
        .inputs(2)
        .outputs(2)
        .types(mask_of_list(Types{}), 1)
        .ranks(2, 2)
        .flags(kStateUpdate | kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple(
    attr("even_smoothing", &Attrs::even_smoothing, "what a frame counts in the estimate of the noise, times 2^14: bands 0, 2, 4..."),
    attr("odd_smoothing", &Attrs::odd_smoothing, "the same for bands 1, 3, 5..."),
    attr("least", &Attrs::least, "part of the signal that remains at least, times 2^14"),
    attr("strength", &Attrs::strength, "exponent of the gain control, times 2^15; 0: none"),
    attr("offset", &Attrs::offset, "added to the noise before it is raised to that power, times 2^16"),
    attr("bias", &Attrs::bias, "logarithm to base 2 of a factor of the gain, times 2^16"));

// noise u32 (C): the estimate, magnitudes times 2^16. x u32 (frames, C): magnitudes times 2^12, as audio_mel gives them. y the same without
// gain control; with it, 2^6 * shrunk(2^bias * magnitude * (noise + offset)^-strength), where shrunk(r) is r^2 / 4 below 2, else r - 1.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(1, kInfo.types_));
  MOTE_TRY(require_rank(c, 1, 2));
  MOTE_TRY(require_operand(c, 0, DType::u32, {c.in(1).dims[1]}));
  for (const uint32_t v : {a.even_smoothing, a.odd_smoothing, a.least}) MOTE_TRY(require_range(c, v, 0, 1 << 14));
  MOTE_TRY(require_range(c, a.strength, 0, 1 << 16));
  c.same_as(0, 0, DType::u32);
  c.same_as(1, 1, DType::u32);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::audio_pcan
