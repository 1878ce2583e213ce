#pragma once

// s8 convolutions of one group and matrix products with Helium (MVE): four output channels at a time, with the file's plain weights. The
// zero points' contribution is computed for a block of channels before its pixels.

#include <arm_mve.h>

#include "mote/kernels/cortexm/runtime/conv.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::cortexm::helium {

// Dot products of `count` inputs with four rows of weights, `step` bytes apart; tails are predicated, nothing is read beyond the end.
inline int32x4_t dot_rows(const int8_t* x, const int8_t* w, int32_t step, int32_t count) {
  int32_t a = 0, b = 0, c = 0, d = 0;
  const int8_t *w1 = w + step, *w2 = w1 + step, *w3 = w2 + step;
  asm volatile(
      "dlstp.8 lr, %[count]\n"
      "1:\n"
      "vldrb.u8 q0, [%[x]], #16\n vldrb.u8 q1, [%[w]], #16\n vmladava.s8 %[a], q0, q1\n vldrb.u8 q2, [%[w1]], #16\n"
      "vmladava.s8 %[b], q0, q2\n vldrb.u8 q1, [%[w2]], #16\n vmladava.s8 %[c], q0, q1\n vldrb.u8 q2, [%[w3]], #16\n"
      "vmladava.s8 %[d], q0, q2\n"
      "letp lr, 1b\n"
      : [a] "+Te"(a), [b] "+Te"(b), [c] "+Te"(c), [d] "+Te"(d), [x] "+r"(x), [w] "+r"(w), [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3)
      : [count] "r"(count)
      : "lr", "d0", "d1", "d2", "d3", "d4", "d5", "memory");
  const int32_t sums[4] = {a, b, c, d};
  return vldrwq_s32(sums);
}
// Sums of the weights alone.
inline int32_t sum_row(const int8_t* w, int32_t count) {
  int32_t sum = 0;
  for (; count > 0; count -= 16, w += 16) sum = vaddvaq_s8(sum, vldrbq_z_s8(w, vctp8q(static_cast<uint32_t>(count))));
  return sum;
}

// Four channels: initial accumulators and requantization.
struct Four {
  int32_t bias[4], left[4], multiplier[4], minus[4], half[4], right[4];  // right: right shift as a left shift (negative or 0)
  int32_t step;                                                          // bytes to the next channel's weights; 0 for a single channel
  bool tame;  // the short form is exact; otherwise the operator's own requantization
};

inline void set_four(const Epilogue& epilogue, const int8_t* weights, int32_t inputs, int32_t x_zero, int32_t o, int32_t outputs, Four* f) {
  f->step = outputs - o >= 4 ? inputs : 0;
  f->tame = true;
  for (int32_t i = 0; i < 4; ++i) {
    const int32_t at = o + i < outputs ? o + i : o;
    f->bias[i] = epilogue.bias(at) - x_zero * sum_row(weights + at * inputs, inputs);
    f->tame = f->tame && epilogue.tame(at, inputs, -31);
    const int32_t s = epilogue.shift(at), right = s < 0 ? -s : 0;
    f->left[i] = s > 0 ? s : 0;
    f->multiplier[i] = epilogue.multiplier(at);
    f->minus[i] = right > 0 ? -1 : 0;
    f->half[i] = right > 0 ? 1 << (right - 1) : 0;
    f->right[i] = -right;
  }
}

inline int32x4_t elements(int32x4_t sums, const Four& f, const Epilogue& epilogue) {
  const int32x4_t x = vqrdmulhq_s32(vshlq_s32(sums, vldrwq_s32(f.left)), vldrwq_s32(f.multiplier));
  const int32x4_t down = vandq_s32(vshrq_n_s32(x, 31), vldrwq_s32(f.minus));
  const int32x4_t v = vaddq_n_s32(vshlq_s32(vaddq_s32(vaddq_s32(x, down), vldrwq_s32(f.half)), vldrwq_s32(f.right)), epilogue.zero);
  return vmaxq_s32(vminq_s32(v, vdupq_n_s32(epilogue.hi)), vdupq_n_s32(epilogue.lo));
}

// All channels of one pixel; a tail of fewer than four channel by channel.
inline void put_four(const int8_t* x, const int8_t* w, int32_t inputs, const Four& f, const Epilogue& epilogue, const Residual& residual,
                     int32_t o, int32_t count, const int8_t* other, int8_t* out) {
  int32x4_t sums;
  if (count == 4) sums = dot_rows(x, w, f.step, inputs);
  else {
    int32_t s[4] = {};
    for (int32_t i = 0; i < count; ++i) s[i] = vgetq_lane_s32(dot_rows(x, w + i * inputs, 0, inputs), 0);
    sums = vldrwq_s32(s);
  }
  sums = vaddq_s32(sums, vldrwq_s32(f.bias));
  int32_t v[4];
  if (f.tame) {
    const int32x4_t r = elements(sums, f, epilogue);
    if (!kResiduals || residual.tensor == nullptr) {
      vstrbq_p_s32(out, r, vctp32q(static_cast<uint32_t>(count)));
      return;
    }
    vstrwq_s32(v, r);
  } else {
    vstrwq_s32(v, sums);
    for (int32_t i = 0; i < count; ++i) v[i] = epilogue.exact(v[i], o + i);
  }
  for (int32_t i = 0; i < count; ++i) {
    if (kResiduals && residual.tensor != nullptr) v[i] = residual.of(v[i], other[i]);
    out[i] = static_cast<int8_t>(v[i]);
  }
}

constexpr int32_t kFours = 16;  // groups of four channels in a block

inline Status dense_conv(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_conv::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const ops::Window window = ops::make_window(a, *x.desc, w.desc->dims + 1, *y.desc);
  const int32_t outputs = w.dim(0), inputs = w.dim(1) * w.dim(2) * w.dim(3);
  const Epilogue epilogue(c, a);
  const Residual residual(c, a);
  auto* linear = static_cast<int8_t*>(__builtin_alloca(static_cast<size_t>(inputs)));
  Four fours[kFours];
  for (int32_t first = 0; first < outputs; first += kFours * 4) {
    const int32_t end = outputs - first < kFours * 4 ? outputs : first + kFours * 4;
    for (int32_t o = first; o < end; o += 4)
      set_four(epilogue, w.as<const int8_t>(), inputs, a.input_zero, o, outputs, &fours[(o - first) / 4]);
    for (int32_t n = 0; n < y.dim(0); ++n) {
      for (int32_t row = c.rows.begin; row < end_row(c); ++row) {
        for (int32_t column = 0; column < y.dim(2); ++column) {
          const int8_t* in = window_at(x, window, n, row, column, a.input_zero, linear);
          int8_t* out = y.as<int8_t>() + offset_of(*y.desc, n, row, column);
          const int8_t* other = nullptr;
          if (kResiduals && residual.tensor != nullptr)
            other = residual.tensor->as<const int8_t>() + offset_of(*residual.tensor->desc, n, row, column);
          for (int32_t o = first; o < end; o += 4)
            put_four(in, w.as<const int8_t>() + o * inputs, inputs, fours[(o - first) / 4], epilogue, residual, o,
                     end - o < 4 ? end - o : 4, other != nullptr ? other + o : nullptr, out + o);
        }
      }
    }
  }
  return Status::kOk;
}

// Weights are read anew for each row; there are few rows.
inline Status matmul(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_matmul::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1);
  const int32_t inputs = w.dim(1), outputs = w.dim(0), rows = static_cast<int32_t>(x.count()) / inputs;
  const Epilogue epilogue(c, a);
  const bool real = c.input(ops::kEpilogueMultiplier).dtype() == DType::f64;
  const int8_t* weights = w.as<const int8_t>();
  for (int32_t o = 0; o < outputs; o += 4) {
    const int32_t count = outputs - o < 4 ? outputs - o : 4;
    int32_t offsets[4];
    for (int32_t i = 0; i < count; ++i) offsets[i] = epilogue.bias(o + i) - a.input_zero * sum_row(weights + (o + i) * inputs, inputs);
    for (int32_t m = 0; m < rows; ++m) {
      const int8_t* in = x.as<const int8_t>() + m * inputs;
      int32_t sums[4];
      if (count == 4) vstrwq_s32(sums, dot_rows(in, weights + o * inputs, inputs, inputs));
      else
        for (int32_t i = 0; i < count; ++i) sums[i] = vgetq_lane_s32(dot_rows(in, weights + (o + i) * inputs, 0, inputs), 0);
      for (int32_t i = 0; i < count; ++i) {
        const int32_t sum = ops::wrap_to_s32(int64_t{sums[i]} + offsets[i]);
        c.output(0).as<int8_t>()[m * outputs + o + i] =
            static_cast<int8_t>(real ? epilogue.exact_real(sum, o + i) : epilogue.exact(sum, o + i));
      }
    }
  }
  return Status::kOk;
}

}  // namespace mote::cortexm::helium
