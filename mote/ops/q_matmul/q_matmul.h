#pragma once

#include "mote/ops/common/quant_epilogue.h"
#include "mote/ops/common/select.h"

namespace mote::ops::q_matmul {

struct Attrs {
  uint32_t to = 0;
  int32_t input_zero = 0;
  int32_t weight_zero = 0;
  int32_t output_zero = 0;
  int32_t clamp_lo = kNoClampLo;
  int32_t clamp_hi = kNoClampHi;
  uint32_t wide = 0;
};
using Types = TypeList<int8_t, uint8_t, int16_t>;
constexpr DTypeMask kWeightTypes = kQuant | mask_of(DType::s4);
inline constexpr OpInfo kInfo =
    OpInfo("Multiplies quantized matrices (..., M, K) and (..., N, K), adds a bias and scales the sums to the output's type.")
        .signature(kEpilogueSignature)
        .inputs(2, 8)
        .types(mask_of_list(Types{}))
        .ranks(2, kMaxRank)
        .flags(kIntegerExact | kPackedWeights)
        .onnx("MatMulInteger, QLinearMatMul");
inline constexpr auto kAttrs = epilogue_fields<Attrs>();

// x_zero and x_scale have one element or one per row of x; bias, multiplier, shift and w_zero one or N.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, kWeightTypes));
  const TensorDesc &x = c.in(0), &w = c.in(1);
  const bool packed = w.layout != Layout::kPlain;
  if (x.layout != Layout::kPlain || (packed && (panel_shape(w.layout, w.dtype).types & mask_of(w.dtype)) == 0))
    return c.reject(Why::kLayout);
  if (x.rank < 2 || w.rank < 2 || ((packed || w.dtype == DType::s4) && w.rank != 2))
    return c.reject(Why::kRank, 2, x.rank < 2 ? x.rank : w.rank);
  if (x.dims[x.rank - 1] != w.dims[w.rank - 1]) return c.reject(Why::kDimMismatch, x.dims[x.rank - 1], w.dims[w.rank - 1]);
  int64_t rows = 1;
  for (int i = 0; i + 1 < x.rank; ++i) {
    rows *= x.dims[i];
    if (rows > std::numeric_limits<int32_t>::max()) return c.reject(Why::kShapeOverflow);
  }
  const int32_t n = w.dims[w.rank - 2];
  MOTE_TRY(check_epilogue(a, c, n, rows));
  const int rank = x.rank > w.rank ? x.rank : w.rank;
  int32_t dims[kMaxRank] = {};
  for (int i = 0; i < rank - 2; ++i) {
    const int xi = i - (rank - x.rank), wi = i - (rank - w.rank);
    const int32_t p = xi < 0 ? 1 : x.dims[xi], q = wi < 0 ? 1 : w.dims[wi];
    if (p != q && p != 1 && q != 1) return c.reject(Why::kBroadcast, p, q);
    dims[i] = p == 1 ? q : p;
  }
  dims[rank - 2] = x.dims[x.rank - 2];
  dims[rank - 1] = n;
  return c.set(0, epilogue_type(a, x.dtype), rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_matmul
