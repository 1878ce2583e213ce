#include "mote/core/tensor.h"

namespace mote {

bool is_dense(const TensorDesc& d) noexcept {
  if (d.layout != Layout::kPlain || d.ring_rows != 0) return false;
  int32_t stride = static_cast<int32_t>(dtype_bytes(d.dtype));
  for (int i = d.rank; i-- > 0;) {
    if (d.dims[i] != 1 && d.strides[i] != stride) return false;
    stride *= d.dims[i] > 0 ? d.dims[i] : 1;  // as set_dense_strides has it
  }
  return true;
}

void set_dense_strides(TensorDesc& d) noexcept {
  int32_t stride = static_cast<int32_t>(dtype_bytes(d.dtype));
  for (int i = kMaxRank; i-- > 0;) {
    d.strides[i] = i < d.rank ? stride : 0;
    if (i < d.rank) stride *= d.dims[i] > 0 ? d.dims[i] : 1;
  }
}

bool same_shape(const TensorDesc& a, const TensorDesc& b) noexcept {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (a.dims[i] != b.dims[i]) return false;
  return true;
}

}  // namespace mote
