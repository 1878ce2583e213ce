#pragma once

// s8 depthwise convolutions: the weights of a block of channels are repacked on the stack for mote::cortexm::depthwise.

#include "mote/kernels/cortexm/depthwise.h"
#include "mote/kernels/cortexm/runtime/conv.h"

namespace mote::cortexm {

constexpr int32_t kBlock = 64;  // channels of a block
constexpr int32_t kMostFastTaps = 9;
constexpr int32_t kLeastDepthwiseShift = -22;

// Weights of a block of channels as mote::cortexm::depthwise reads them; weights and biases are doubled.
struct Block {
  uint32_t weights[kBlock / 2 * kMostFastTaps];
  Channel channels[kBlock];
  alignas(4) int8_t zeros[kBlock];
};

// Without a right shift the short form is one too low for negative results, so it is exact only where those are clamped.
inline bool fits_depthwise(const Epilogue& epilogue, int32_t o, int32_t taps) {
  return epilogue.tame(o, taps, kLeastDepthwiseShift) && (epilogue.shift(o) < 0 || epilogue.lo >= epilogue.zero);
}

// Returns false when the short form is not exact for some channel.
inline bool lay_out(const Epilogue& epilogue, const int8_t* weights, int32_t taps, int32_t x_zero, int32_t first, int32_t count, Block* b) {
  std::memset(b->zeros, x_zero, sizeof b->zeros);
  if (taps > kMostFastTaps || count % 4 != 0) return false;
  for (int32_t o = 0; o < count; ++o) {
    const int32_t at = first + o;
    const bool tame = fits_depthwise(epilogue, at, taps);
    if (!tame && !epilogue.constant(at, taps)) return false;
    const Epilogue::Scaling k = tame ? epilogue.scaling(at) : Epilogue::Scaling{0, 0, 0, 0};
    uint32_t* to = b->weights + o / 4 * taps * 2 + o % 2;  // channels 0 and 2 make pairs, and 1 and 3
    int32_t sum = 0;
    for (int32_t t = 0; t < taps; ++t, to += 2) {
      const int32_t w = weights[at * taps + t];
      sum += w;
      *to = o % 4 < 2 ? pair_of(w * k.grown, 0) : pair_of(low(*to), w * k.grown);
    }
    const int32_t add = tame ? k.half + epilogue.zero * (1 << k.right) : epilogue.exact(epilogue.bias(at), at);
    b->channels[o] = {tame ? (epilogue.bias(at) - x_zero * sum) * k.grown : 0, k.multiplier, add, k.right};
  }
  return true;
}

// The channels of a block at one pixel, with the operator's own requantization.
inline void exact_pixel(const Epilogue& epilogue, const int8_t* weights, int32_t x_zero, const int8_t* const* taps, int count,
                        int32_t first, int32_t channels, int8_t* out) {
  for (int32_t o = 0; o < channels; ++o) {
    const int8_t* w = weights + (first + o) * count;
    int32_t sum = 0;
    for (int t = 0; t < count; ++t) sum += (taps[t][o] - x_zero) * w[t];
    out[o] = static_cast<int8_t>(epilogue.exact(ops::wrap_to_s32(int64_t{sum} + epilogue.bias(first + o)), first + o));
  }
}

inline Rows rows_of(const TensorDesc& d, int32_t channels) {
  const auto small = [](int32_t v) { return static_cast<int16_t>(v); };
  return {d.strides[1], d.strides[2], small(d.dims[1]), small(d.dims[2]), small(channels), small(d.ring_rows)};
}
inline Window taps_of(const ops::Window& w) {
  const auto small = [](int32_t v) { return static_cast<int16_t>(v); };
  const ops::WindowDim &r = w.dim[0], &k = w.dim[1];
  return {small(r.kernel),    small(k.kernel),    small(r.stride),   small(k.stride),
          small(r.pad_begin), small(k.pad_begin), small(r.dilation), small(k.dilation)};
}
// True for sizes that the buffers hold.
inline bool is_small(const Tensor& t) {
  for (int i = 1; i < 4; ++i)
    if (t.dim(i) > 0x7fff) return false;
  return t.rank() == 4 && t.stride(3) == 1 && t.desc->ring_rows <= 0x7fff;
}

inline Status depthwise_conv(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_conv::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const ops::Window window = ops::make_window(a, *x.desc, w.desc->dims + 1, *y.desc);
  const int32_t taps = window.dim[0].kernel * window.dim[1].kernel;
  const Epilogue epilogue(c, a);
  Block block;
  for (int32_t first = 0; first < y.dim(3); first += kBlock) {
    const int32_t count = y.dim(3) - first < kBlock ? y.dim(3) - first : kBlock;
    const bool fast = lay_out(epilogue, w.as<const int8_t>(), taps, a.input_zero, first, count, &block);
    const Depthwise d{rows_of(*x.desc, count),
                      rows_of(*y.desc, count),
                      taps_of(window),
                      block.weights,
                      block.channels,
                      block.zeros,
                      {static_cast<int8_t>(epilogue.lo), static_cast<int8_t>(epilogue.hi), 0, epilogue.lo > -128 || epilogue.hi < 127}};
    const auto pixel = [&](const int8_t* const* named, int32_t at, int named_count, int8_t* out) {
      if (fast) {
        depthwise_pixel(d, named, at, named_count, out);
        return;
      }
      const int8_t* moved[kMostTaps];
      for (int t = 0; t < named_count; ++t) moved[t] = named[t] + at;
      exact_pixel(epilogue, w.as<const int8_t>(), a.input_zero, moved, named_count, first, count, out);
    };
    for (int32_t n = 0; n < y.dim(0); ++n)
      each_pixel(d, x.as<const int8_t>() + n * x.stride(0) + first, y.as<int8_t>() + n * y.stride(0) + first, c.rows.begin, end_row(c),
                 pixel);
  }
  return Status::kOk;
}

}  // namespace mote::cortexm
