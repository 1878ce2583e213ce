#include "mote/api/impl/dense_copy.h"

#include <cstring>

#include "mote/core/size.h"

namespace mote::api {
namespace {

// Calls row(tensor bytes, dense bytes, size) for each innermost run of elements.
template <class Row>
void for_each_row(const Tensor& t, uint8_t* dense, Row row) noexcept {
  const TensorDesc& d = *t.desc;
  const uint64_t bytes = dense_bytes(d);
  if (bytes == 0) return;
  if (d.rank == 0 || dtype_bits(d.dtype) < 8 || is_dense(d)) return row(t.as<uint8_t>(), dense, static_cast<size_t>(bytes));
  const size_t run = static_cast<size_t>(d.dims[d.rank - 1]) * dtype_bytes(d.dtype);
  int32_t index[kMaxRank] = {};
  for (;;) {
    size_t at = 0;
    for (int i = 0; i + 1 < d.rank; ++i) at += static_cast<size_t>(index[i]) * static_cast<size_t>(d.strides[i]);
    row(t.as<uint8_t>() + at, dense, run);
    dense += run;
    int i = d.rank - 2;
    while (i >= 0 && ++index[i] == d.dims[i]) index[i--] = 0;
    if (i < 0) return;
  }
}

}  // namespace

void copy_to_tensor(const Tensor& tensor, const void* dense) noexcept {
  auto* from = const_cast<uint8_t*>(static_cast<const uint8_t*>(dense));
  if (tensor.dtype() == DType::boolean) {
    for_each_row(tensor, from, [](uint8_t* to, const uint8_t* bytes, size_t n) {
      for (size_t i = 0; i < n; ++i) to[i] = bytes[i] != 0;
    });
  } else {
    for_each_row(tensor, from, [](uint8_t* to, const uint8_t* bytes, size_t n) { std::memcpy(to, bytes, n); });
  }
}

void copy_from_tensor(const Tensor& tensor, void* dense) noexcept {
  for_each_row(tensor, static_cast<uint8_t*>(dense), [](const uint8_t* from, uint8_t* to, size_t n) { std::memcpy(to, from, n); });
}

}  // namespace mote::api
