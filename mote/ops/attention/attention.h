#pragma once

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::attention {

struct Attrs {
  float scale = 0;
  float softcap = 0;
  int32_t is_causal = 0;
  int32_t cached = 0;
  int32_t left_window = -1;
  int32_t right_window = -1;
};
using Types = FloatTypes;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo =
    OpInfo("Mixes values by the softmax of scaled query-key products; a query that may attend to no key gives 0.")
        .signature("q, k, v, mask?, lengths? -> y")
        .inputs(3, 5)
        .types(mask_of_list(Types{}))
        .ranks(4, 4)
        .scratch(&scratch)
        .onnx("Attention");
inline constexpr auto kAttrs = std::make_tuple(
    attr("scale", &Attrs::scale, "factor of the products; 0: 1 / sqrt(D)"),
    attr("softcap", &Attrs::softcap, "bounds the products to softcap * tanh(product / softcap) before the mask; 0: not"),
    attr("is_causal", &Attrs::is_causal, "1: query i attends to keys 0 .. i + offset only"),
    attr("cached", &Attrs::cached,
         "the offset, place of query 0 among the keys: 0: 0; 1: T - S, queries are the last keys. With `lengths` it is lengths[b] - S"),
    attr("left_window", &Attrs::left_window, "keys more than this many positions before the query are left out; -1: none"),
    attr("right_window", &Attrs::right_window, "keys more than this many positions after the query are left out; -1: none"));

// q (B, Hq, S, D), k (B, Hk, T, D), v (B, Hk, T, Dv) -> (B, Hq, S, Dv); each Hq / Hk query heads share a key head.
// mask broadcasts to (B, Hq, S, T): bool (true: attend) or q's type (added). lengths (B): keys in use.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const DType dtype = c.in(0).dtype;
  MOTE_TRY(require_rank(c, 0, 4));
  const int32_t* q = c.in(0).dims;
  MOTE_TRY(require_type(c, 1, dtype));
  MOTE_TRY(require_rank(c, 1, 4));
  const int32_t* k = c.in(1).dims;
  MOTE_TRY(require_dims(c, 1, {q[0], k[1], k[2], q[3]}));
  MOTE_TRY(require_type(c, 2, dtype));
  MOTE_TRY(require_rank(c, 2, 4));
  const int32_t* v = c.in(2).dims;
  MOTE_TRY(require_dims(c, 2, {q[0], k[1], k[2], v[3]}));
  if (k[1] == 0 ? q[1] != 0 : q[1] % k[1] != 0) return c.reject(Why::kGroups, k[1], q[1]);
  MOTE_TRY(require_range(c, a.is_causal, 0, 1));
  MOTE_TRY(require_range(c, a.cached, 0, 1));
  MOTE_TRY(require_range(c, a.left_window, -1, 0x7fffffff));
  MOTE_TRY(require_range(c, a.right_window, -1, 0x7fffffff));
  if (!(a.softcap >= 0)) return c.reject(Why::kAttribute, 0, -1);
  if (c.has(3)) {
    const TensorDesc& m = c.in(3);
    if (m.dtype != DType::boolean) MOTE_TRY(require_type(c, 3, dtype));
    if (m.rank > 4) return c.reject(Why::kRank, 4, m.rank);
    const int32_t full[4] = {q[0], q[1], q[2], k[2]};
    for (int i = 0; i < m.rank; ++i)
      if (const int32_t want = full[4 - m.rank + i]; m.dims[i] != want && m.dims[i] != 1) return c.reject(Why::kBroadcast, want, m.dims[i]);
  }
  if (c.has(4)) {
    MOTE_TRY(c.require(4, kIndex));
    MOTE_TRY(require_dims(c, 4, {q[0]}));
  }
  MOTE_TRY(require_elements(c, dtype, {q[0], q[1], q[2], v[3]}));
  const int32_t dims[] = {q[0], q[1], q[2], v[3]};
  return c.set(0, dtype, 4, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::attention
