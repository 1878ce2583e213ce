#include "mote/backends/common/rows.h"

#include <cstring>

#include "mote/core/tensor.h"

namespace mote::backends {

bool is_dense(const mote_backend_tensor& t, uint32_t element_bytes) {
  int64_t step = element_bytes;
  for (int i = t.rank - 1; i >= 0; --i) {
    if (t.dims[i] != 1 && t.strides[i] != step) return false;
    step *= t.dims[i];
  }
  return true;
}

void copy_rows(const mote_backend_tensor& t, uint32_t element_bytes, uint8_t* dense, bool to_dense) {
  const int last = t.rank - 1;
  for (int i = 0; i <= last; ++i)
    if (t.dims[i] == 0) return;
  const size_t row = t.rank == 0 ? element_bytes : static_cast<size_t>(t.dims[last]) * element_bytes;
  int32_t at[kMaxRank] = {};
  for (;;) {
    auto* strided = static_cast<uint8_t*>(t.data);
    for (int i = 0; i < last; ++i) strided += static_cast<int64_t>(at[i]) * t.strides[i];
    std::memcpy(to_dense ? dense : strided, to_dense ? strided : dense, row);
    dense += row;
    int i = last - 1;
    while (i >= 0 && ++at[i] == t.dims[i]) at[i--] = 0;
    if (i < 0) return;
  }
}

}  // namespace mote::backends
