#include "mote/ops/conv_winograd/conv_winograd.h"

namespace mote::ops::conv_winograd {
namespace {

using namespace winograd;

const auto number = [](float v) { return v; };

// The 6x6 inputs around tile (ty, tx), transformed: values[point * channels + channel].
void transform_tile(const Attrs& a, const Tensor& x, int32_t n, int32_t ty, int32_t tx, float* values) {
  const int32_t channels = x.dim(3);
  for (int32_t c = 0; c < channels; ++c) {
    float d[kPoints], columns[kPoints], points[kPoints];
    for (int i = 0; i < kPoints; ++i) {
      const int32_t iy = ty * kOut - a.pads_begin[0] + i / kIn, ix = tx * kOut - a.pads_begin[1] + i % kIn;
      const bool inside = iy >= 0 && iy < x.dim(1) && ix >= 0 && ix < x.dim(2);
      d[i] = inside ? *x.at<const float>(n * x.stride(0) + iy * x.stride(1) + ix * x.stride(2) + c * 4) : 0.0f;
    }
    for (int i = 0; i < kIn; ++i) transform_input(d + i, kIn, number, columns + i, kIn);
    for (int i = 0; i < kIn; ++i) transform_input(columns + i * kIn, 1, number, points + i * kIn, 1);
    for (int i = 0; i < kPoints; ++i) values[i * channels + c] = points[i];
  }
}

Status run(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const Weights<float> weights(w);
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const int32_t channels = x.dim(3), outputs = y.dim(3), tiles_y = (y.dim(1) + 3) / 4, tiles_x = (y.dim(2) + 3) / 4;
  float* values = c.output(1).as<float>();
  const auto offset = [](const Tensor& t, int32_t n, int32_t row, int32_t column) {
    return n * t.stride(0) + row * t.stride(1) + column * t.stride(2);
  };
  for (int32_t tile = 0; tile < x.dim(0) * tiles_y * tiles_x; ++tile) {
    const int32_t n = tile / (tiles_y * tiles_x), ty = tile / tiles_x % tiles_y, tx = tile % tiles_x;
    transform_tile(a, x, n, ty, tx, values);
    for (int32_t o = 0; o < outputs; ++o) {
      float m[kPoints] = {}, columns[kOut * kIn], out[kOut * kOut];
      for (int i = 0; i < kPoints; ++i)
        for (int32_t k = 0; k < channels; ++k) m[i] += values[i * channels + k] * weights(i * outputs + o, k);
      for (int i = 0; i < kIn; ++i) transform_sums(m + i, kIn, number, columns + i, kIn);
      for (int i = 0; i < kOut; ++i) transform_sums(columns + i * kIn, 1, number, out + i * kOut, 1);
      for (int i = 0; i < kOut * kOut; ++i) {
        const int32_t row = ty * kOut + i / kOut, column = tx * kOut + i % kOut;
        if (row >= y.dim(1) || column >= y.dim(2)) continue;
        const float* residual = c.has_input(3) ? c.input(3).at<const float>(offset(c.input(3), n, row, column)) + o : nullptr;
        y.at<float>(offset(y, n, row, column))[o] = finish_sum<float>(a, out[i], bias != nullptr ? bias + o : nullptr, residual);
      }
    }
  }
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return (selected_types(OpId::conv_winograd) & mask_of(DType::f32)) != 0 ? &run : nullptr; }

}  // namespace mote::ops::conv_winograd
