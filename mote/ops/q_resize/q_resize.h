#pragma once

#include "mote/ops/common/quant.h"
#include "mote/ops/common/select.h"

namespace mote::ops::q_resize {

// Values are part of the program format.
enum class Method : uint32_t { kNearest = 0, kBilinear = 1 };

struct Attrs {
  int32_t height = 1;
  int32_t width = 1;
  uint32_t method = 1;
  uint32_t align_corners = 0;
  uint32_t half_pixel_centers = 0;
};
using Types = TypeList<int8_t, uint8_t, int16_t>;
inline constexpr OpInfo kInfo =
    OpInfo("Resizes the two spatial dimensions of a quantized tensor (N, H, W, C) with TFLite's arithmetic; scale and zero point stay.")
        .signature("x -> y")
        .types(mask_of_list(Types{}))
        .ranks(4, 4)
        .flags(kIntegerExact);
inline constexpr auto kAttrs =
    std::make_tuple(attr("height", &Attrs::height, "rows of the output"), attr("width", &Attrs::width, "columns of the output"),
                    attr("method", &Attrs::method, "0: nearest, 1: bilinear (s8 and s16 with 10 bits of fraction, u8 in float)"),
                    attr("align_corners", &Attrs::align_corners, "1: corner elements map onto corner elements"),
                    attr("half_pixel_centers", &Attrs::half_pixel_centers, "1: positions are those of element centres"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (x.rank != 4) return c.reject(Why::kRank, 4, x.rank);
  constexpr int32_t kMost = 1 << 20;  // positions with 10 bits of fraction then fit 32 bits
  for (const int32_t size : {a.height, a.width})
    if (size < 1 || size > kMost) return c.reject(Why::kAttribute, kMost, size);
  for (int i = 1; i < 3; ++i)
    if (x.dims[i] < 1 || x.dims[i] > kMost) return c.reject(Why::kWindow, kMost, x.dims[i]);
  if (a.method > 1 || a.align_corners > 1 || a.half_pixel_centers > 1) return c.reject(Why::kAttribute, 1, a.method);
  if (a.align_corners != 0 && a.half_pixel_centers != 0 && a.method == 1) return c.reject(Why::kAttribute, 0, 1);
  const int32_t dims[4] = {x.dims[0], a.height, a.width, x.dims[3]};
  return c.set(0, x.dtype, 4, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_resize
