// 3x3 depthwise convolutions of f32 for 64-bit Arm (32 registers of four floats): the nine taps of four channels stay in registers while
// several adjacent outputs are computed. The epilogue is bias and clamp only.

#include "mote/kernels/depthwise/window3x3.h"

#if HWY_ARCH_ARM_A64
#include "mote/kernels/common/epilogue.h"
#include "mote/kernels/common/nhwc_view.h"
#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/window_geometry.h"
#include "mote/kernels/common/zeros.h"
#include "mote/ops/conv/conv.h"

namespace mote::kernels::MOTE_ISA_NAME::depthwise {
namespace {

using ops::conv::Attrs;

constexpr int kTaps = 9;

struct Depthwise3x3 {
  WindowGeometry g;
  NhwcView x, y;
  const float *weights, *bias;  // (C/16, 9, 16); bias or null
  float lo, hi;
};

// All channels of N outputs that are `step` bytes apart. at(row, column, channel): address of an input value.
template <int N, int S, class At>
MOTE_INLINE void all_channels(const Depthwise3x3& conv, uint8_t* out, int64_t step, const At& at) {
  const VF lo = broadcast(conv.lo), hi = broadcast(conv.hi);
  const int64_t channels = conv.y.c;
  for (int64_t c = 0; c < channels; c += kLanes) {
    const float* weights = conv.weights + c / kPanel * (kTaps * kPanel) + c % kPanel;
    VF w[kTaps], acc[N];
    unroll<kTaps>([&](auto i) MOTE_LAMBDA { w[i] = load(weights + i * kPanel); });
    const VF first = conv.bias != nullptr ? load(conv.bias + c) : hn::Zero(F32());
    unroll<N>([&](auto o) MOTE_LAMBDA { acc[o] = first; });
    unroll<(N - 1) * S + 3>([&](auto j) MOTE_LAMBDA {
      unroll<3>([&](auto i) MOTE_LAMBDA {
        const VF x = load(at(i, j, c));
        unroll<N>([&](auto o) MOTE_LAMBDA {
          constexpr int kTap = decltype(j)::value - decltype(o)::value * S;
          if constexpr (kTap >= 0 && kTap < 3) add_product(acc[o], x, w[i * 3 + kTap]);
        });
      });
    });
    unroll<N>([&](auto o) MOTE_LAMBDA { store(clamp(acc[o], lo, hi), reinterpret_cast<float*>(out + o * step) + c); });
  }
}

// Outputs [ox, ox + N) of row oy.
template <int N, int S>
void compute_outputs(const Depthwise3x3& conv, int32_t n, int32_t oy, int32_t ox) {
  constexpr int kColumns = (N - 1) * S + 3;
  const int32_t top = oy * conv.g.stride_h - conv.g.pad_h, left = ox * S - conv.g.pad_w;
  uint8_t* out = conv.y.at(n, oy, ox);
  const int64_t step = conv.x.column;
  if (top >= 0 && top + 3 <= conv.x.h && left >= 0 && left + kColumns <= conv.x.w) {
    const uint8_t* rows[3];
    unroll<3>([&](auto i) MOTE_LAMBDA { rows[i] = conv.x.at(n, top + i, left); });
    return all_channels<N, S>(conv, out, conv.y.column, [&](auto i, auto j, int64_t c) MOTE_LAMBDA {
      return reinterpret_cast<const float*>(rows[i] + c * 4 + j * step);
    });
  }
  const float* pointers[3][kColumns];
  for (int32_t i = 0; i < 3; ++i) {
    const bool row = static_cast<uint32_t>(top + i) < static_cast<uint32_t>(conv.x.h);
    const uint8_t* line = conv.x.at(n, row ? top + i : 0, 0);
    for (int32_t j = 0; j < kColumns; ++j) {
      const bool in = row && static_cast<uint32_t>(left + j) < static_cast<uint32_t>(conv.x.w);
      pointers[i][j] = in ? reinterpret_cast<const float*>(line + (left + j) * step) : kZeros;
    }
  }
  all_channels<N, S>(conv, out, conv.y.column, [&](auto i, auto j, int64_t c) MOTE_LAMBDA { return pointers[i][j] + c; });
}

template <int S>
void compute_row(const Depthwise3x3& conv, int32_t n, int32_t oy) {
  constexpr int kOutputs = S == 1 ? 7 : 4;  // the widths of most images are multiples of 7
  int32_t ox = 0;
  for (; ox + kOutputs <= conv.y.w; ox += kOutputs) compute_outputs<kOutputs, S>(conv, n, oy, ox);
  for (; ox + 2 <= conv.y.w; ox += 2) compute_outputs<2, S>(conv, n, oy, ox);
  if (ox < conv.y.w) compute_outputs<1, S>(conv, n, oy, ox);
}

Status depthwise_f32_3x3(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const EpilogueF32 epilogue(bias, nullptr, 1, a.activation, a.act_a, a.act_b);
  const NhwcView y(c.output(0));
  const Depthwise3x3 conv{WindowGeometry(a, &w.desc->dims[1], 2),
                          NhwcView(c.input(0)),
                          y,
                          w.as<const float>(),
                          bias,
                          hn::GetLane(epilogue.clamped(broadcast(-HUGE_VALF))),
                          hn::GetLane(epilogue.clamped(broadcast(HUGE_VALF)))};
  const RowRange rows(c, y, false);
  const int32_t height = rows.end - rows.begin, total = y.n * height;
  const double work = static_cast<double>(total) * y.w * y.c * kTaps * 2;
  split_rows(c.threads, total, work, [&](int32_t i) {
    const int32_t n = i / height, oy = rows.begin + i % height;
    conv.g.stride_w == 1 ? compute_row<1>(conv, n, oy) : compute_row<2>(conv, n, oy);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_depthwise_3x3(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  if (w.rank() != 4 || w.dim(0) % kLanes != 0 || w.dim(0) > kZeroCount || c.has_input(3) || c.has_input(4)) return nullptr;
  const WindowGeometry g(a, &w.desc->dims[1], 2);
  if (g.kernel_h != 3 || g.kernel_w != 3 || g.dilation_h != 1 || g.dilation_w != 1 || (g.stride_w != 1 && g.stride_w != 2)) return nullptr;
  return EpilogueF32(nullptr, nullptr, 1, a.activation, a.act_a, a.act_b).has_slow_activation() ? nullptr : &depthwise_f32_3x3;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::depthwise

#else

namespace mote::kernels::MOTE_ISA_NAME::depthwise {

KernelFn select_depthwise_3x3(const OpContext&) noexcept { return nullptr; }

}  // namespace mote::kernels::MOTE_ISA_NAME::depthwise
#endif
