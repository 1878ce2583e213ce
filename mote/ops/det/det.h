#pragma once

#include "mote/ops/common/select.h"

namespace mote::ops::det {

using Attrs = NoAttrs;
using Types = TypeList<float, double>;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo = OpInfo("Computes the determinant of each square matrix in the last two dimensions.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .ranks(2, kMaxRank)
                                    .scratch(&scratch)
                                    .aten("aten::linalg_det.out")
                                    .onnx("Det");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (x.rank < 2) return c.reject(Why::kRank, 2, x.rank);
  if (x.dims[x.rank - 1] != x.dims[x.rank - 2]) return c.reject(Why::kDimMismatch, x.dims[x.rank - 2], x.dims[x.rank - 1]);
  return c.set(0, x.dtype, x.rank - 2, x.dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::det
