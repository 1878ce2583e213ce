#pragma once

#include "mote/ops/common/audio.h"
#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/quant.h"
#include "mote/ops/common/select.h"

namespace mote::ops::audio_log {

struct Attrs {
  uint32_t to = static_cast<uint32_t>(DType::s8);
  uint32_t add = 0;
  int32_t bias = 0;
  int32_t multiplier = 1;
  int32_t shift = 16;
  int32_t zero = 0;
  int32_t clamp_lo = kNoClampLo;
  int32_t clamp_hi = kNoClampHi;
};
using Types = TypeList<uint32_t>;
constexpr DTypeMask kResults = mask_of(DType::s8) | mask_of(DType::u8) | mask_of(DType::s16);
inline constexpr OpInfo kInfo = OpInfo("Takes logarithms of magnitudes and quantizes them: (log2(x + add) + bias) * multiplier + zero.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact);
inline constexpr auto kAttrs =
    std::make_tuple(attr("to", &Attrs::to, "element type of the output: s8, u8 or s16"),
                    attr("add", &Attrs::add, "added to x, so that silence has a logarithm; 0 becomes the least output value"),
                    attr("bias", &Attrs::bias, "added to the logarithm, times 2^16"),
                    attr("multiplier", &Attrs::multiplier, "of the logarithm with its 16 fractional bits"),
                    attr("shift", &Attrs::shift, "the product is divided by 2^shift and rounded, ties up; 1 to 62"),
                    attr("zero", &Attrs::zero, "zero point of the output"), attr("clamp_lo", &Attrs::clamp_lo, "least output value"),
                    attr("clamp_hi", &Attrs::clamp_hi, "greatest output value"));

inline audio::Log log_of(const Attrs& a) noexcept {
  const IntRange r = clamp_range(a.clamp_lo, a.clamp_hi, static_cast<DType>(a.to));
  return {{a.multiplier, a.shift, a.zero, r.lo, r.hi}, a.add, a.bias};
}

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const DType to = named_type(a.to, kResults);
  if (to == DType::kNone) return c.reject(Why::kDType, kResults, a.to);
  MOTE_TRY(require_range(c, a.shift, 1, 62));
  MOTE_TRY(check_zero(c, a.zero, to));
  MOTE_TRY(check_clamp(c, a.clamp_lo, a.clamp_hi, to));
  c.same_as(0, 0, to);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::audio_log
