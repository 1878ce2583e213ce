// Concatenation of 8-bit tensors: inputs whose scale differs from the output's go through a lookup table, the others are copied.

#include "mote/ops/q_concat/q_concat.h"

#include <cstring>

#include "mote/kernels/common/simd.h"
#include "mote/ops/common/row_walk.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

using ops::q_concat::Attrs;

template <class T>
Status q_concat_bytes(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& y = c.output(0);
  const int axis = a.axis < 0 ? a.axis + y.rank() : a.axis;
  const ops::IntRange range = ops::int_range(y.dtype());
  int32_t start = 0;
  for (int i = 2; i < c.input_count; ++i) {
    const Tensor& x = c.input(i);
    const float scale = c.input(0).as<const float>()[i - 2];
    const int32_t zero = c.input(1).as<const int32_t>()[i - 2];
    const bool same_scale = scale == a.output_scale && zero == a.output_zero;
    uint8_t table[256];
    for (int32_t v = 0; !same_scale && v < 256; ++v)
      table[v] = static_cast<uint8_t>(ops::q_concat::convert(a, scale, zero, static_cast<T>(v), range));
    TensorDesc part = *y.desc;
    part.dims[axis] = x.dim(axis);
    ops::RowWalk<2> parts(*x.desc, {x.desc, &part});
    while (parts.next()) {
      const uint8_t* in = x.at<const uint8_t>(parts.offset[0]);
      uint8_t* out = y.at<uint8_t>(parts.offset[1] + start * y.stride(axis));
      if (same_scale) {
        std::memmove(out, in, static_cast<size_t>(parts.length));
        continue;
      }
      for (int32_t k = 0; k < parts.length; ++k) out[k] = table[in[k]];
    }
    start += x.dim(axis);
  }
  return Status::kOk;
}

}  // namespace

KernelFn select_q_concat(const OpContext& c) noexcept {
  const DType type = c.input(2).dtype();
  return type == DType::s8 ? &q_concat_bytes<int8_t> : type == DType::u8 ? &q_concat_bytes<uint8_t> : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
