#include "mote/compiler/frontends/tflite/window.h"

#include <algorithm>

namespace mote::frontends::tflite {
namespace {

bool check_sizes(Op& op, const Dims& kernel, const Window& w) {
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (w.strides[i] >= 1 && w.dilations[i] >= 1 && kernel[i] >= 1) continue;
    op.fail("strides, dilations and window sizes must be at least 1; found " + std::to_string(w.strides[i]) + ", " +
            std::to_string(w.dilations[i]) + ", " + std::to_string(kernel[i]));
    return false;
  }
  return true;
}

// Positions that "same" padding adds in all, for an input of this size.
int64_t same_padding(int64_t size, int64_t stride, int64_t extent) {
  const int64_t out = (size + stride - 1) / stride;
  return std::max<int64_t>(0, (out - 1) * stride + extent - size);
}

}  // namespace

bool pad_window(Op& op, const Value& x, const Dims& kernel, fb::Padding padding, Window* window) {
  if (!check_sizes(op, kernel, *window)) return false;
  for (size_t i = 0; i < kernel.size() && padding == fb::Padding::SAME; ++i) {
    const int64_t extent = int64_t{kernel[i] - 1} * window->dilations[i] + 1;
    const bool dynamic = (x.type.dynamic >> (i + 1) & 1) != 0;
    const int64_t total = same_padding(x.type.dims[i + 1], window->strides[i], extent);
    if ((dynamic && window->strides[i] != 1) || total > INT32_MAX) {
      op.fail("with stride " + std::to_string(window->strides[i]) + " the \"same\" padding depends on a size that is open",
              fix_advice(op, x));
      return false;
    }
    window->begin[i] = static_cast<int32_t>(total / 2);
    window->end[i] = static_cast<int32_t>(total - total / 2);
  }
  return true;
}

bool pad_transposed_window(Op& op, const Value& x, const Dims& out, const Dims& kernel, fb::Padding padding, Window* window) {
  if (!check_sizes(op, kernel, *window)) return false;
  for (size_t i = 0; i < kernel.size(); ++i) {
    const int64_t extent = int64_t{kernel[i] - 1} * window->dilations[i] + 1, stride = window->strides[i];
    if ((x.type.dynamic >> (i + 1) & 1) != 0 || out[i + 1] < 1) {
      op.fail("the output's sizes must be known when compiling", fix_advice(op, x));
      return false;
    }
    const int64_t begin = padding == fb::Padding::SAME ? same_padding(out[i + 1], stride, extent) / 2 : 0;
    const int64_t end = int64_t{x.type.dims[i + 1] - 1} * stride + extent - begin - out[i + 1];
    if (end > INT32_MAX || end < -INT32_MAX) {
      op.fail("the output's size " + std::to_string(out[i + 1]) + " does not fit the input and the stride");
      return false;
    }
    window->begin[i] = static_cast<int32_t>(begin);
    window->end[i] = static_cast<int32_t>(std::max<int64_t>(end, 0));
    window->extra[i] = static_cast<int32_t>(std::max<int64_t>(-end, 0));
  }
  return true;
}

}  // namespace mote::frontends::tflite
