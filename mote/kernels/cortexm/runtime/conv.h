#pragma once

// s8 convolutions of one group: two pixels times two output channels at a time.

#include "mote/kernels/cortexm/requant.h"
#include "mote/kernels/cortexm/runtime/epilogue.h"
#include "mote/kernels/cortexm/runtime/products.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote_forms.h"  // generated: constexpr uint32_t selected_forms(OpId)

namespace mote::cortexm {

constexpr int32_t kMostPairBytes = 4096;  // stack for the widened inputs
constexpr uint32_t kConvForms = selected_forms(OpId::q_conv);
constexpr bool kResiduals = (kConvForms & ops::q_conv::kFormResidual) != 0;

// Word by word: the C library's memcpy is slow for short copies.
inline int8_t* copy_bytes(const int8_t* from, int32_t count, int8_t* to) {
  for (; count >= 4; count -= 4, from += 4, to += 4) {
    const uint32_t v = load_word(from);
    std::memcpy(to, &v, 4);
  }
  for (; count > 0; --count) *to++ = *from++;
  return to;
}
inline int8_t* fill_bytes(int32_t value, int32_t count, int8_t* to) {
  if (count > 0) std::memset(to, value, static_cast<size_t>(count));
  return to + count;
}

// The window of a pixel as contiguous inputs: in place where it is contiguous, otherwise copied (im2col) to `to`.
inline const int8_t* window_at(const Tensor& x, const ops::Window& w, int32_t batch, int32_t row, int32_t column, int32_t zero,
                               int8_t* to) {
  const TensorDesc& d = *x.desc;
  const int32_t channels = d.dims[3], ring = d.ring_rows;
  const ops::WindowDim &r = w.dim[0], &k = w.dim[1];
  const auto place = [&](int32_t i, int32_t j) {
    return x.as<const int8_t>() + batch * d.strides[0] + (ring != 0 ? i % ring : i) * d.strides[1] + j * d.strides[2];
  };
  if (r.kernel * k.kernel == 1 && r.pad_begin == 0 && k.pad_begin == 0 && r.pad_end == 0 && k.pad_end == 0)
    return place(row * r.stride, column * k.stride);
  // Window columns [first, end) are inside the input, where they are contiguous.
  const bool joined = k.dilation == 1 && d.strides[2] == channels;
  const int32_t left = column * k.stride - k.pad_begin;
  int32_t first = left < 0 ? -left : 0, end = d.dims[2] - left < k.kernel ? d.dims[2] - left : k.kernel;
  if (first > k.kernel) first = k.kernel;
  if (end < first) end = first;
  int8_t* out = to;
  for (int32_t i = 0; i < r.kernel; ++i) {
    const int32_t from = row * r.stride - r.pad_begin + i * r.dilation;
    if (from < 0 || from >= d.dims[1]) {
      out = fill_bytes(zero, k.kernel * channels, out);
    } else if (joined) {
      out = fill_bytes(zero, first * channels, out);
      out = copy_bytes(place(from, left + first), (end - first) * channels, out);
      out = fill_bytes(zero, (k.kernel - end) * channels, out);
    } else {
      for (int32_t j = 0, at = left; j < k.kernel; ++j, at += k.dilation, out += channels) {
        if (at < 0 || at >= d.dims[2]) std::memset(out, zero, static_cast<size_t>(channels));
        else std::memcpy(out, place(from, at), static_cast<size_t>(channels));
      }
    }
  }
  return to;
}

// The residual, added as in q_add; in a short form where that is exact.
struct Residual {
  const Tensor* tensor = nullptr;
  ops::QuantSum<1> exact;
  bool tame = false;
  Sum sum{};

  Residual(const OpContext& c, const ops::q_conv::Attrs& a) : exact(ops::q_conv::sum_attrs(a)) {
    if (!kResiduals || !c.has_input(ops::q_conv::kResidual)) return;
    tensor = &c.input(ops::q_conv::kResidual);
    const ops::QuantBinaryAttrs s = ops::q_conv::sum_attrs(a);
    tame = static_cast<ops::QuantMode>(s.mode) == ops::QuantMode::kFixed && s.left_shift <= 20 && s.y_shift <= 0 && s.y_shift >= -31 &&
           s.a_multiplier >= 0 && s.b_multiplier >= 0 && s.y_multiplier >= 0;
    const auto scale = [](int32_t multiplier, int32_t shift) {
      return Scale{multiplier, shift < 0 ? 1 << (-shift - 1) : 0, shift < 0 ? -1 : 0, -shift};
    };
    const auto small = [](int32_t v) { return static_cast<int16_t>(v); };
    const ops::IntRange r = ops::clamp_range(s.clamp_lo, s.clamp_hi, DType::s8);
    if (tame)
      sum = {scale(s.a_multiplier, s.a_shift),
             scale(s.b_multiplier, s.b_shift),
             scale(s.y_multiplier, s.y_shift),
             small(s.a_zero),
             small(s.b_zero),
             small(s.y_zero),
             small(r.lo),
             small(r.hi),
             static_cast<int8_t>(s.left_shift + 1)};
  }
  int32_t of(int32_t element, int32_t other) const { return tame ? added(element, other, sum) : exact.of(element, other, DType::s8); }
};

inline int32_t offset_of(const TensorDesc& d, int32_t n, int32_t row, int32_t column) {
  return n * d.strides[0] + (d.ring_rows != 0 ? row % d.ring_rows : row) * d.strides[1] + column * d.strides[2];
}

inline int32_t end_row(const OpContext& c) { return c.rows.end < c.output(0).dim(1) ? c.rows.end : c.output(0).dim(1); }

// All output channels of two adjacent pixels, or of one: then both `out` are the same, and the second pixel is stored first.
inline void two_pixels(const uint32_t* x, const int8_t* weights, int32_t inputs, int32_t outputs, const Epilogue& epilogue, bool tame,
                       const Residual& residual, const int8_t* const* other, int8_t* const* out) {
  for (int32_t o = 0; o < outputs; o += 2) {
    const int32_t last = o + 1 < outputs ? o + 1 : o;
    const int8_t *w0 = weights + o * inputs, *w1 = weights + last * inputs;
    const int32_t b0 = epilogue.bias(o), b1 = epilogue.bias(last);
    int32_t sums[4] = {b0, b0, b1, b1};
    dot_2<2>(x, w0, w1, inputs, sums);
    epilogue.elements<2>(sums, o, inputs, tame);
    epilogue.elements<2>(sums + 2, last, inputs, tame);
    if (kResiduals && residual.tensor != nullptr)
      for (int i = 0; i < 4; ++i) sums[i] = residual.of(sums[i], other[i % 2][i < 2 ? o : last]);
    for (int p = 1; p >= 0; --p) {
      out[p][o] = static_cast<int8_t>(sums[p]);
      out[p][last] = static_cast<int8_t>(sums[2 + p]);
    }
  }
}

inline Status dense_conv(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_conv::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const ops::Window window = ops::make_window(a, *x.desc, w.desc->dims + 1, *y.desc);
  const int32_t outputs = w.dim(0), inputs = w.dim(1) * w.dim(2) * w.dim(3), groups = (inputs + 3) / 4;
  const Epilogue epilogue(c, a);
  const Residual residual(c, a);
  bool tame = true;
  for (int32_t o = 0; o < outputs; ++o) tame = tame && epilogue.tame(o, inputs, -31);
  auto* pairs = static_cast<uint32_t*>(__builtin_alloca(static_cast<size_t>(groups) * 16));
  auto* linear = static_cast<int8_t*>(__builtin_alloca(static_cast<size_t>(groups) * 4));
  const int32_t width = y.dim(2), first = c.rows.begin * width, count = end_row(c) * width;
  for (int32_t n = 0; n < y.dim(0); ++n) {
    for (int32_t pixel = first; pixel < count; pixel += 2) {
      const int8_t* other[2] = {};
      int8_t* out[2];
      for (int p = 0; p < 2; ++p) {
        const int32_t at = pixel + p < count ? pixel + p : pixel, row = at / width, column = at % width;
        spread<2>(window_at(x, window, n, row, column, a.input_zero, linear), inputs, a.input_zero, pairs + p);
        out[p] = y.as<int8_t>() + offset_of(*y.desc, n, row, column);
        if (kResiduals && residual.tensor != nullptr)
          other[p] = residual.tensor->as<const int8_t>() + offset_of(*residual.tensor->desc, n, row, column);
      }
      two_pixels(pairs, w.as<const int8_t>(), inputs, outputs, epilogue, tame, residual, other, out);
    }
  }
  return Status::kOk;
}

}  // namespace mote::cortexm
