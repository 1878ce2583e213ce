// embedding: looks up rows of a table of s4, s8, f16 or bf16 elements and widens them to f32.

#include "mote/ops/embedding/embedding.h"

#include "mote/kernels/common/math.h"
#include "mote/kernels/gemm/panels.h"
#include "mote/ops/common/moves.h"

namespace mote::kernels::MOTE_ISA_NAME::weights {

using namespace gemm;  // Words
namespace {

using ops::embedding::Attrs;

// Loads kLanes elements from element i of a row on. Rows are a multiple of kLanes long.
struct RowF16 {
  const hwy::float16_t* data;
  MOTE_INLINE VF operator()(int32_t i) const { return hn::PromoteTo(F32(), hn::LoadU(hn::Rebind<hwy::float16_t, F32>(), data + i)); }
};
struct RowBf16 {
  const hwy::bfloat16_t* data;
  MOTE_INLINE VF operator()(int32_t i) const { return hn::PromoteTo(F32(), hn::LoadU(hn::Rebind<hwy::bfloat16_t, F32>(), data + i)); }
};
struct RowS8 {
  const int8_t* data;
  MOTE_INLINE VF operator()(int32_t i) const {
    return hn::ConvertTo(F32(), hn::PromoteTo(Words(), hn::LoadU(hn::Rebind<int8_t, F32>(), data + i)));
  }
};
// Two elements in a byte, the first in the low nibble.
struct RowS4 {
  const uint8_t* data;
  MOTE_INLINE VF operator()(int32_t i) const {
    alignas(64) int32_t wide[kLanes];
    for (int32_t k = 0; k < kLanes / 2; ++k) {
      const int32_t byte = data[i / 2 + k];
      wide[2 * k] = ((byte & 15) ^ 8) - 8;
      wide[2 * k + 1] = ((byte >> 4) ^ 8) - 8;
    }
    return hn::ConvertTo(F32(), hn::Load(Words(), wide));
  }
};

// Scales and zero points of the table, by row and group; either may be absent.
struct RowScales {
  const Tensor* scales;
  const Tensor* zeros;
  float scale(int32_t row, int32_t g) const { return scales == nullptr ? 1.0f : ops::scale_at(*scales, at(*scales, row, g)); }
  float zero(int32_t row, int32_t g) const {
    return zeros == nullptr ? 0.0f : static_cast<float>(*zeros->at<const int8_t>(at(*zeros, row, g)));
  }
  static int32_t at(const Tensor& t, int32_t row, int32_t g) { return row * t.stride(0) + (t.rank() > 1 ? g * t.stride(1) : 0); }
};

// Byte offsets of index number n, and of the output row that it selects.
struct IndexPosition {
  int32_t index = 0, row = 0;
};
IndexPosition position_of(int64_t n, const TensorDesc& indices, const TensorDesc& y) {
  IndexPosition p;
  for (int i = indices.rank - 1; i >= 0; --i) {
    const auto at = static_cast<int32_t>(n % indices.dims[i]);
    n /= indices.dims[i];
    p.index += at * indices.strides[i];
    p.row += at * y.strides[i];
  }
  return p;
}

template <class Row>
Status embedding_f32(const OpContext& c) noexcept {
  const Tensor &table = c.input(0), &indices = c.input(1), &y = c.output(0);
  const RowScales row_scales = {c.has_input(2) ? &c.input(2) : nullptr, c.has_input(3) ? &c.input(3) : nullptr};
  const int32_t width = table.dim(1), wanted = c.attrs<Attrs>().group_size,
                group = wanted > 0 && row_scales.scales != nullptr ? wanted : width;
  const int64_t row_bytes = int64_t{width} * dtype_bits(table.dtype()) / 8;
  int64_t count = 1;
  for (int i = 0; i < indices.rank(); ++i) count *= indices.dim(i);
  for (int64_t n = 0; n < count; ++n) {
    const IndexPosition position = position_of(n, *indices.desc, *y.desc);
    const int32_t row = ops::index_in(ops::load_int(indices.dtype(), indices.at<uint8_t>(position.index)), table.dim(0));
    if (row < 0) return {Status::kInvalidArgument, Why::kIndexRange};
    const Row from{reinterpret_cast<decltype(Row::data)>(table.as<const uint8_t>() + row * row_bytes)};
    float* out = y.at<float>(position.row);
    for (int32_t k = 0, g = 0; k < width; k += group, ++g) {
      const VF scale = broadcast(row_scales.scale(row, g)), zero = broadcast(row_scales.zero(row, g));
      const int32_t end = width - k < group ? width : k + group;
      for (int32_t i = k; i < end; i += kLanes) store(hn::Mul(hn::Sub(from(i), zero), scale), out + i);
    }
  }
  return Status::kOk;
}

}  // namespace

KernelFn select_embedding(const OpContext& c) noexcept {
  const Tensor& table = c.input(0);
  const int32_t group = c.attrs<Attrs>().group_size;
  if (!is_dense(*table.desc) || table.dim(1) % kLanes != 0 || (group % kLanes != 0 && c.has_input(2))) return nullptr;
  switch (table.dtype()) {
    case DType::f16: return &embedding_f32<RowF16>;
    case DType::bf16: return &embedding_f32<RowBf16>;
    case DType::s8: return &embedding_f32<RowS8>;
    case DType::s4: return &embedding_f32<RowS4>;
    default: return nullptr;
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME::weights
