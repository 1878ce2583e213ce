#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"
#include "mote/ops/common/number.h"

namespace mote::ops::range {

using Attrs = NoAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Counts from start towards limit, which is left out: start, start + delta, start + 2 delta, ...")
                                    .signature("start, limit, delta -> y")
                                    .inputs(3)
                                    .types(mask_of_list(Types{}))
                                    .aten("aten::arange.start_out")
                                    .onnx("Range");
inline constexpr auto kAttrs = std::make_tuple();

// Number of elements, kMaxTensorBytes + 1 when there are more than a tensor may have; -1 when delta leads nowhere.
inline int64_t count(const Number& start, const Number& limit, const Number& delta) noexcept {
  constexpr int64_t kTooMany = int64_t{kMaxTensorBytes} + 1;
  if (start.kind == Number::kReal) {
    const double steps = (limit.real - start.real) / delta.real;
    if (delta.real == 0 || delta.real - delta.real != 0 || steps != steps) return -1;
    if (steps > static_cast<double>(kMaxTensorBytes)) return kTooMany;
    const int64_t whole = steps > 0 ? static_cast<int64_t>(steps) : 0;
    return static_cast<double>(whole) < steps ? whole + 1 : whole;
  }
  if (delta.u == 0) return -1;
  const bool down = delta.kind == Number::kSigned && delta.i < 0;
  const bool ahead = start.kind == Number::kSigned ? (down ? limit.i < start.i : limit.i > start.i) : limit.u > start.u;
  if (!ahead) return 0;
  const uint64_t way = down ? start.u - limit.u : limit.u - start.u, step = down ? 0 - delta.u : delta.u;
  const uint64_t steps = (way - 1) / step + 1;
  return steps > kMaxTensorBytes ? kTooMany : static_cast<int64_t>(steps);
}

inline Status infer(const Attrs&, const InferContext& c) noexcept {
  MOTE_TRY(require_one(c, 0, kInfo.types_));
  const DType type = c.in(0).dtype;
  MOTE_TRY(require_same_type(c, 1, 0));
  MOTE_TRY(require_same_type(c, 2, 0));
  MOTE_TRY(require_one(c, 1, kInfo.types_));
  MOTE_TRY(require_one(c, 2, kInfo.types_));
  int64_t size = kDimUnknown;
  if (c.known(0) && c.known(1) && c.known(2)) {
    const OpContext& op = c.op();
    size = count(load_number(type, op.input(0).data), load_number(type, op.input(1).data), load_number(type, op.input(2).data));
    if (size < 0) return c.reject(Why::kValue);
  }
  return set_shape(c, 0, type, 1, &size);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::range
