#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::eye {

struct Attrs {
  int32_t rows = 0;
  int32_t cols = 0;
  int32_t k = 0;
  int32_t dtype = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Makes a matrix with ones on one diagonal and zeros elsewhere.")
                                    .signature("like? -> y")
                                    .inputs(0, 1)
                                    .types(mask_of_list(Types{}), kOfOutput)
                                    .ranks(2, 2)
                                    .aten("aten::eye.m_out")
                                    .onnx("EyeLike");
inline constexpr auto kAttrs =
    std::make_tuple(attr("rows", &Attrs::rows, "rows; not read when a matrix to take the shape of is an input"),
                    attr("cols", &Attrs::cols, "columns; not read when a matrix to take the shape of is an input"),
                    attr("k", &Attrs::k, "diagonal: 0 is the main one, 1 the one above"),
                    attr("dtype", &Attrs::dtype, "element type of the result (its DType value); 0: the input's, f32 without one"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  if (a.dtype != 0 && !names_type(a.dtype, kInfo.types_)) return c.reject(Why::kAttribute, kInfo.types_, a.dtype);
  int64_t dims[2] = {a.rows, a.cols};
  DType type = a.dtype != 0 ? static_cast<DType>(a.dtype) : DType::f32;
  if (c.has(0)) {
    MOTE_TRY(c.require(0, kInfo.types_));
    if (c.in(0).rank != 2) return c.reject(Why::kRank, 2, c.in(0).rank);
    dims[0] = c.in(0).dims[0];
    dims[1] = c.in(0).dims[1];
    if (a.dtype == 0) type = c.in(0).dtype;
  }
  if (dims[0] < 0 || dims[1] < 0) return c.reject(Why::kNegativeDim, 0, dims[0] < 0 ? dims[0] : dims[1]);
  return set_shape(c, 0, type, 2, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::eye
