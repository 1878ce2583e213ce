#pragma once

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::rotary_embedding {

struct Attrs {
  int32_t interleaved = 0;
  int32_t rotary_dim = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Rotates pairs of features by an angle that grows with the position in the sequence.")
                                    .signature("x, cos, sin, positions? -> y")
                                    .inputs(3, 4)
                                    .types(mask_of_list(Types{}))
                                    .ranks(4, 4)
                                    .onnx("RotaryEmbedding");
inline constexpr auto kAttrs =
    std::make_tuple(attr("interleaved", &Attrs::interleaved, "0: feature i pairs with i + R/2; 1: 2i pairs with 2i + 1"),
                    attr("rotary_dim", &Attrs::rotary_dim, "leading features R that are rotated, even; 0: all"));

// Features that are rotated.
inline int32_t rotated(const Attrs& a, int32_t features) noexcept { return a.rotary_dim != 0 ? a.rotary_dim : features; }

// x (B, H, S, D). With positions (B, S): cos and sin are (P, R/2), one row per position. Without: (S, R/2) or (B, S, R/2).
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_rank(c, 0, 4));
  const int32_t* x = c.in(0).dims;
  MOTE_TRY(require_range(c, a.interleaved, 0, 1));
  MOTE_TRY(require_range(c, a.rotary_dim, 0, x[3]));
  if (rotated(a, x[3]) % 2 != 0) return c.reject(Why::kAttribute, rotated(a, x[3]) - 1, rotated(a, x[3]));
  const int64_t half = rotated(a, x[3]) / 2;
  for (int i = 1; i <= 2; ++i) {
    MOTE_TRY(require_type(c, i, c.in(0).dtype));
    const TensorDesc& d = c.in(i);
    if (c.has(3)) MOTE_TRY(require_dims(c, i, {c.in(1).dims[0], half}));
    else if (d.rank == 2) MOTE_TRY(require_dims(c, i, {x[2], half}));
    else MOTE_TRY(require_dims(c, i, {x[0], x[2], half}));
  }
  if (c.has(3)) {
    MOTE_TRY(c.require(3, kIndex));
    MOTE_TRY(require_dims(c, 3, {x[0], x[2]}));
  }
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::rotary_embedding
