#include "mote/ops/dequantize/dequantize.h"

namespace mote::ops::dequantize {
namespace {

// T is the type of the result.
template <class T>
struct Dequantize {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &scale = c.input(1), &y = c.output(0);
    const Tensor* zero = c.has_input(2) ? &c.input(2) : nullptr;
    const Strides xs(*x.desc), ss(*scale.desc), zs(zero != nullptr ? *zero->desc : *scale.desc), ys(*y.desc);
    const int32_t width = dtype_bytes(x.dtype()) == 0 ? 1 : static_cast<int32_t>(dtype_bytes(x.dtype()));
    QuantWalk walk(*y.desc, a.axis, a.block, c.rows);
    while (walk.next()) {
      const int32_t in = walk.offset(*x.desc, xs);
      T* out = y.at<T>(walk.offset(*y.desc, ys));
      for (int32_t i = 0; i < walk.length; ++i) {
        const int64_t z = zero != nullptr ? load_int(*zero, walk.parameter(*zero->desc, zs, i)) : 0;
        const float s = *scale.at<const float>(walk.parameter(*scale.desc, ss, i));
        out[i] = static_cast<T>(static_cast<float>(load_int(x, in + i * width) - z) * s);
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept {
  if ((selected_types(OpId::dequantize) & mask_of(c.input(0).dtype())) == 0) return nullptr;
  switch (c.output(0).dtype()) {
    case DType::f32: return &Dequantize<float>::run;
    case DType::f16: return &Dequantize<f16>::run;
    case DType::bf16: return &Dequantize<bf16>::run;
    default: return nullptr;
  }
}

}  // namespace mote::ops::dequantize
