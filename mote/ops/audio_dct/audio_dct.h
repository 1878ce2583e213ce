#pragma once

#include "mote/ops/common/audio.h"
#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/quant.h"
#include "mote/ops/common/select.h"

namespace mote::ops::audio_dct {

struct Attrs {
  uint32_t to = static_cast<uint32_t>(DType::s8);
  int32_t multiplier = 1;
  int32_t shift = 15;
  int32_t zero = 0;
};
using Types = TypeList<int16_t>;
constexpr DTypeMask kResults = mask_of(DType::s8) | mask_of(DType::u8) | mask_of(DType::s16);
inline constexpr OpInfo kInfo =
    OpInfo("Multiplies rows of 16-bit numbers by a matrix and quantizes the sums, as cepstral coefficients (MFCC) are made of logarithms.")
        .signature("x, matrix -> y")
        .inputs(2)
        .types(mask_of_list(Types{}))
        .ranks(2, 2)
        .flags(kIntegerExact);
inline constexpr auto kAttrs =
    std::make_tuple(attr("to", &Attrs::to, "element type of the output: s8, u8 or s16"),
                    attr("multiplier", &Attrs::multiplier, "of the sums, which have 64 bits and wrap"),
                    attr("shift", &Attrs::shift, "the product is divided by 2^shift and rounded, ties up; 1 to 62"),
                    attr("zero", &Attrs::zero, "zero point of the output"));

inline audio::Scale scale_of(const Attrs& a) noexcept {
  const IntRange r = int_range(static_cast<DType>(a.to));
  return {a.multiplier, a.shift, a.zero, r.lo, r.hi};
}

// x s16 (rows, C), matrix s16 (K, C) -> y (rows, K).
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_type(c, 1, DType::s16));
  MOTE_TRY(require_rank(c, 0, 2));
  MOTE_TRY(require_rank(c, 1, 2));
  if (c.in(1).dims[1] != c.in(0).dims[1]) return c.reject(Why::kDimMismatch, c.in(0).dims[1], c.in(1).dims[1]);
  const DType to = named_type(a.to, kResults);
  if (to == DType::kNone) return c.reject(Why::kDType, kResults, a.to);
  MOTE_TRY(require_range(c, a.shift, 1, 62));
  MOTE_TRY(check_zero(c, a.zero, to));
  MOTE_TRY(require_elements(c, to, {c.in(0).dims[0], c.in(1).dims[0]}));
  const int32_t dims[2] = {c.in(0).dims[0], c.in(1).dims[0]};
  return c.set(0, to, 2, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::audio_dct
