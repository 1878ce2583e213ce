#pragma once

#include "mote/ops/common/scan.h"

namespace mote::ops::log_softmax {

struct Attrs {
  int32_t axis = -1;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Gives the logarithm of softmax along one axis, without overflow.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise)
                                    .aten("aten::_log_softmax.out")
                                    .onnx("LogSoftmax");
inline constexpr auto kAttrs = std::make_tuple(attr("axis", &Attrs::axis, "axis to normalise; negative counts from the end"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_along_axis(a.axis, c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::log_softmax
