#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::pad {

enum Mode : int32_t { kConstant = 0, kReflect = 1, kEdge = 2, kWrap = 3, kSymmetric = 4, kModeCount = 5 };

struct Attrs {
  int32_t begin[8] = {};
  int32_t end[8] = {};
  int32_t mode = kConstant;
  float value = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Adds elements before and after along each axis; negative counts cut off instead.")
                                    .signature("x, value?, pads?, axes? -> y")
                                    .inputs(1, 4)
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact)
                                    .onnx("Pad");
inline constexpr auto kAttrs =
    std::make_tuple(attr("begin", &Attrs::begin, "elements added before, per axis; negative: cut off"),
                    attr("end", &Attrs::end, "elements added after, per axis; negative: cut off"),
                    attr("mode", &Attrs::mode, "0 constant, 1 reflect (without the border), 2 edge, 3 wrap, 4 symmetric (with the border)"),
                    attr("value", &Attrs::value, "of added elements in constant mode, unless it is an input"));

// Elements added (negative: cut off) on both sides of each axis. False while they depend on values that are not there yet.
inline Status resolve(const Attrs& a, const OpContext& c, int64_t* begin, int64_t* end, bool* known) noexcept {
  const int rank = c.input(0).rank();
  *known = true;
  for (int i = 0; i < rank; ++i) {
    begin[i] = c.has_input(2) ? 0 : a.begin[i];
    end[i] = c.has_input(2) ? 0 : a.end[i];
  }
  if (!c.has_input(2)) return Status::kOk;
  const IntList pads(c, 2, nullptr, 0), axes(c, 3, nullptr, rank);
  const int32_t n = axes.count();
  if (n > rank || pads.count() != 2 * n) return {Status::kShape, Why::kDimMismatch};
  *known = pads.known() && (!c.has_input(3) || axes.known());
  uint32_t seen = 0;
  for (int32_t k = 0; *known && k < n; ++k) {
    const int32_t axis = c.has_input(3) ? index_in(axes[k], rank) : k;
    if (axis < 0 || (seen >> axis & 1) != 0) return {Status::kShape, Why::kAxis};
    seen |= 1u << axis;
    begin[axis] = pads[k];
    end[axis] = pads[n + k];
  }
  return Status::kOk;
}

// Elements of the input that stay when the negative counts have been cut off; may be negative.
inline int64_t kept(int64_t size, int64_t begin, int64_t end) noexcept { return size + (begin < 0 ? begin : 0) + (end < 0 ? end : 0); }

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (a.mode < 0 || a.mode >= kModeCount) return c.reject(Why::kAttribute, kModeCount - 1, a.mode);
  if (c.has(1)) MOTE_TRY(require_one(c, 1, mask_of(x.dtype)));
  if (c.has(2)) MOTE_TRY(require_ints(c, 2, 2 * kMaxRank));
  if (c.has(3)) MOTE_TRY(require_ints(c, 3, kMaxRank));
  int64_t begin[kMaxRank], end[kMaxRank], dims[kMaxRank];
  bool known;
  if (const Status s = resolve(a, c.op(), begin, end, &known); !s.ok()) return c.reject(s.why());
  for (int i = 0; i < x.rank; ++i) {
    dims[i] = kDimUnknown;
    if (!known) continue;
    const int64_t left = kept(x.dims[i], begin[i], end[i]);
    dims[i] = x.dims[i] + begin[i] + end[i];
    if (left < 0) return c.reject(Why::kNegativeDim, 0, left);
    if (a.mode != kConstant && left == 0 && dims[i] > 0) return c.reject(Why::kDimMismatch, 1, 0);
  }
  return set_shape(c, 0, x.dtype, x.rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::pad
