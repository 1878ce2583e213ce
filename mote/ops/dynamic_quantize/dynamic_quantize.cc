#include "mote/ops/dynamic_quantize/dynamic_quantize.h"

#include "mote/ops/common/row_walk.h"

namespace mote::ops::dynamic_quantize {
namespace {

struct Params {
  float scale = 1;
  float inverse = 0;  // 0: divide by the scale; otherwise multiply by this
  int32_t zero = 0;
  IntRange range;
};

Params onnx_params(float lo, float hi) {
  Params p;
  p.range = int_range(DType::u8);
  p.scale = lo == hi ? 1.0f : (hi - lo) / 255.0f;
  p.zero = clamp_to(round_to_s32(0.0f - lo / p.scale), p.range);
  return p;
}

Params symmetric_params(float lo, float hi) {
  Params p;
  p.range = {-127, 127};
  const float reach = std::fmax(std::fabs(lo), std::fabs(hi));
  if (reach > 0) {
    p.scale = reach / 127.0f;
    p.inverse = 127.0f / reach;
  }
  return p;
}

// The zero point is taken from the end of the range that loses less by it; in double, as TFLite computes it.
Params asymmetric_params(float lo, float hi) {
  Params p;
  p.range = int_range(DType::s8);
  if (lo == hi) return p;
  const double least = -128, most = 127, scale = (static_cast<double>(hi) - lo) / (most - least);
  const double low = lo / scale, high = hi / scale;
  const double zero = -least + std::fabs(low) < most + std::fabs(high) ? least - low : most - high;
  p.zero = clamp_to(round_to_s32(zero, Rounding::kHalfAway), p.range);
  p.scale = static_cast<float>(scale);
  p.inverse = 1.0f / p.scale;
  return p;
}

int32_t quantized(const Params& p, float x) {
  if (p.inverse == 0) return quantize_value(x / p.scale, p.zero, p.range);
  // TFLite adds the zero point before rounding.
  return clamp_to(round_to_s32(p.zero == 0 ? x * p.inverse : static_cast<float>(p.zero) + x * p.inverse, Rounding::kHalfAway), p.range);
}

template <class T>
struct DynamicQuantize {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    const int axis = a.mode == 0 ? 0 : a.axis < 0 ? a.axis + (x.rank() > 0 ? x.rank() : 1) : a.axis;
    int32_t rows = 1, index[kMaxRank] = {};
    for (int i = 0; i < axis; ++i) rows *= x.dim(i);
    TensorDesc xd = tail(*x.desc, axis), yd = tail(*y.desc, axis);
    for (int32_t row = 0; row < rows; ++row) {
      int32_t x_at = 0, y_at = 0;
      for (int i = 0; i < axis; ++i) {
        x_at += index[i] * x.stride(i);
        y_at += index[i] * y.stride(i);
      }
      const Tensor xr{&xd, x.at<uint8_t>(x_at)}, yr{&yd, y.at<uint8_t>(y_at)};
      const Params p = find(xr, static_cast<Mode>(a.mode));
      apply(xr, yr, p);
      c.output(1).as<float>()[row] = p.scale;
      if (a.mode == 0) c.output(2).as<uint8_t>()[row] = static_cast<uint8_t>(p.zero);
      else c.output(2).as<int32_t>()[row] = p.zero;
      for (int i = axis - 1; i >= 0 && ++index[i] == x.dim(i); --i) index[i] = 0;
    }
    return Status::kOk;
  }

 private:
  static TensorDesc tail(const TensorDesc& d, int axis) {
    TensorDesc t = d;
    t.rank = static_cast<uint8_t>(d.rank - axis);
    for (int i = axis; i < d.rank; ++i) {
      t.dims[i - axis] = d.dims[i];
      t.strides[i - axis] = d.strides[i];
    }
    return t;
  }
  static Params find(const Tensor& x, Mode mode) {
    float lo = 0, hi = 0;
    RowWalk<1> walk(*x.desc, {x.desc});
    while (walk.next()) {
      const float* p = x.at<const float>(walk.offset[0]);
      for (int32_t i = 0; i < walk.length; ++i) {
        lo = std::fmin(lo, p[i]);
        hi = std::fmax(hi, p[i]);
      }
    }
    return mode == Mode::kOnnx ? onnx_params(lo, hi) : mode == Mode::kSymmetric ? symmetric_params(lo, hi) : asymmetric_params(lo, hi);
  }
  static void apply(const Tensor& x, const Tensor& y, const Params& p) {
    RowWalk<2> walk(*x.desc, {x.desc, y.desc});
    while (walk.next()) {
      const float* in = x.at<const float>(walk.offset[0]);
      uint8_t* out = y.at<uint8_t>(walk.offset[1]);
      for (int32_t i = 0; i < walk.length; ++i) out[i] = static_cast<uint8_t>(quantized(p, in[i]));
    }
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::dynamic_quantize, DynamicQuantize>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::dynamic_quantize
