#pragma once

#include "mote/ops/common/int_list.h"

namespace mote::ops {

// Byte offset in t of the element or slice that a tuple of indices names; the tuple lies dense at `at` and counts along the axes from
// `first` on. -1 when an index points outside.
inline int64_t tuple_offset(const TensorDesc& t, int first, const Tensor& indices, int32_t at) noexcept {
  const int32_t length = indices.dim(indices.rank() - 1), width = static_cast<int32_t>(dtype_bytes(indices.dtype()));
  int64_t bytes = 0;
  for (int32_t k = 0; k < length; ++k) {
    const int32_t i = index_in(load_int(indices.dtype(), indices.at<uint8_t>(at + k * width)), t.dims[first + k]);
    if (i < 0) return -1;
    bytes += static_cast<int64_t>(i) * t.strides[first + k];
  }
  return bytes;
}

}  // namespace mote::ops
