#pragma once

#include <cmath>

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::window {

enum Kind : int32_t { kHann, kHamming, kBlackman, kCosine };

struct Attrs {
  int32_t kind = kHann;
  int32_t size = 0;
  int32_t periodic = 1;
  int32_t dtype = static_cast<int32_t>(DType::f32);
  float a0 = 0;
  float a1 = 0;
  float a2 = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Makes a window function, a sum of cosines; a window of one element is 1.")
                                    .signature("-> y")
                                    .inputs(0)
                                    .types(mask_of_list(Types{}), kOfOutput)
                                    .ranks(1, 1)
                                    .onnx("HannWindow, HammingWindow, BlackmanWindow");
inline constexpr auto kAttrs = std::make_tuple(
    attr("kind", &Attrs::kind, "0 Hann, 1 Hamming (25/46, 21/46, as ONNX has it), 2 Blackman, 3 a0 - a1 cos(t) + a2 cos(2 t)"),
    attr("size", &Attrs::size, "elements"),
    attr("periodic", &Attrs::periodic, "1: the window would repeat after `size`, 0: it is symmetric"),
    attr("dtype", &Attrs::dtype, "element type of y"), attr("a0", &Attrs::a0, "constant of kind 3"),
    attr("a1", &Attrs::a1, "weight of the first cosine of kind 3"), attr("a2", &Attrs::a2, "weight of the second cosine of kind 3"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(require_range(c, a.kind, kHann, kCosine));
  MOTE_TRY(require_range(c, a.size, 0, 0x7fffffff));
  MOTE_TRY(require_range(c, a.periodic, 0, 1));
  if (a.dtype < 0 || a.dtype >= kDTypeCount || (1u << a.dtype & kFloat) == 0) return c.reject(Why::kDType, kFloat, a.dtype);
  const DType dtype = static_cast<DType>(a.dtype);
  MOTE_TRY(require_elements(c, dtype, {a.size}));
  return c.set(0, dtype, 1, &a.size);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::window
