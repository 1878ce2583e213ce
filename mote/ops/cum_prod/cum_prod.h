#pragma once

#include "mote/ops/common/scan.h"

namespace mote::ops::cum_prod {

using Attrs = ScanAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Gives the running product along an axis; integers wrap.")
                                    .signature("x, axis? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise)
                                    .aten("aten::cumprod.out")
                                    .onnx("CumProd");
inline constexpr auto kAttrs = kScanAttrs;

inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_scan(a, c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::cum_prod
