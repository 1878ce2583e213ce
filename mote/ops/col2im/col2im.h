#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/select.h"
#include "mote/ops/common/window.h"

namespace mote::ops::col2im {

struct Attrs {
  int32_t spatial = 2;
  int32_t dims[3] = {};
  int32_t kernel[3] = {1, 1, 1};
  int32_t strides[3] = {1, 1, 1};
  int32_t dilations[3] = {1, 1, 1};
  int32_t pads_begin[3] = {};
  int32_t pads_end[3] = {};
};
using Types = NumberTypes;
// x is channels-last: (N, L, K, C), L window positions and K taps, both row major. ONNX has (N, C*K, L).
inline constexpr OpInfo kInfo =
    OpInfo("Adds up the windows (N, positions, taps, C) of an image where they overlap, giving (N, dims, C); integers wrap.")
        .signature("x, dims?, kernel? -> y")
        .inputs(1, 3)
        .types(mask_of_list(Types{}))
        .ranks(4, 4)
        .onnx("Col2Im");
inline constexpr auto kAttrs = std::tuple_cat(
    std::make_tuple(
        attr("spatial", &Attrs::spatial, "number of spatial dimensions, 1 to 3"),
        attr("dims", &Attrs::dims, "spatial sizes of the image; unused entries are ignored; input 1, where present, replaces them"),
        attr("kernel", &Attrs::kernel, "size of the window per spatial dimension; input 2, where present, replaces it")),
    window_fields<Attrs>());

// The attributes with what the inputs say. False in *known while their values are not there yet.
inline Attrs resolve(const OpContext& c, const Attrs& a, bool* known) noexcept {
  Attrs r = a;
  const IntList dims(c, 1, a.dims, a.spatial), kernel(c, 2, a.kernel, a.spatial);
  *known = dims.known() && kernel.known();
  for (int i = 0; *known && i < a.spatial; ++i) {
    r.dims[i] = static_cast<int32_t>(dims[i]);
    r.kernel[i] = static_cast<int32_t>(kernel[i]);
  }
  return r;
}

// The image that x was cut from, as a tensor that a window slides over.
inline TensorDesc image_of(const Attrs& a, const TensorDesc& x) {
  TensorDesc image{};
  image.rank = static_cast<uint8_t>(a.spatial + 2);
  image.dims[0] = x.dims[0];
  for (int i = 0; i < a.spatial; ++i) image.dims[i + 1] = a.dims[i];
  image.dims[a.spatial + 1] = x.dims[3];
  return image;
}

inline Status infer(const Attrs& attrs, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (x.rank != 4) return c.reject(Why::kRank, 4, x.rank);
  if (attrs.spatial < 1 || attrs.spatial > kMaxSpatial) return c.reject(Why::kAttribute, kMaxSpatial, attrs.spatial);
  for (int i = 1; i <= 2; ++i) {
    if (!c.has(i)) continue;
    MOTE_TRY(require_ints(c, i, attrs.spatial));
    const int32_t count = c.in(i).rank == 0 ? 1 : c.in(i).dims[0];
    if (count != attrs.spatial) return c.reject(Why::kDimMismatch, attrs.spatial, count);
  }
  bool known;
  const Attrs a = resolve(c.op(), attrs, &known);
  if (!known) {
    int32_t dims[kMaxSpatial + 2] = {x.dims[0], kDimUnknown, kDimUnknown, kDimUnknown, kDimUnknown};
    dims[a.spatial + 1] = x.dims[3];
    return c.set(0, x.dtype, a.spatial + 2, dims);
  }
  for (int i = 0; i < a.spatial; ++i)
    if (a.dims[i] < 0) return c.reject(Why::kNegativeDim, 0, a.dims[i]);
  const TensorDesc image = image_of(a, x);
  Window w = make_window(a, image, a.kernel);
  MOTE_TRY(infer_window(c, false, &w));
  int64_t positions = 1, taps = 1;
  for (const WindowDim& d : w.dim) {
    taps *= d.kernel;
    positions *= d.out;
    if (positions > kMaxExtent) return c.reject(Why::kShapeOverflow, kMaxExtent, positions);
  }
  if (x.dims[1] != positions) return c.reject(Why::kDimMismatch, positions, x.dims[1]);
  if (x.dims[2] != taps) return c.reject(Why::kDimMismatch, taps, x.dims[2]);
  return c.set(0, x.dtype, image.rank, image.dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::col2im
