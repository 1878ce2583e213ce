// Depthwise convolutions of 3x3 taps for processors with 32 registers of four floats: the nine taps of four channels stay in registers
// while several neighbouring outputs are computed. Bias and clamp alone are done with the sums.

#include "mote/kernels/depthwise/window3x3.h"

#if HWY_ARCH_ARM_A64
#include "mote/kernels/common/finish.h"
#include "mote/kernels/common/geometry.h"
#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/plane.h"
#include "mote/kernels/common/zeros.h"
#include "mote/ops/conv/conv.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::conv::Attrs;

constexpr int kTaps = 9;

struct Job {
  Geometry g;
  Plane x, y;
  const float *weights, *bias;  // (C/16, 9, 16); bias or null
  float lo, hi;
};

// N outputs, `step` bytes apart, from `out` on, for all channels. at(row, column, channel) is where an input value lies.
template <int N, int S, class At>
MOTE_INLINE void all_channels(const Job& job, uint8_t* out, int64_t step, const At& at) {
  const VF lo = broadcast(job.lo), hi = broadcast(job.hi);
  const int64_t channels = job.y.c;
  for (int64_t c = 0; c < channels; c += kLanes) {
    const float* weights = job.weights + c / kPanel * (kTaps * kPanel) + c % kPanel;
    VF w[kTaps], sum[N];
    unroll<kTaps>([&](auto i) MOTE_LAMBDA { w[i] = load(weights + i * kPanel); });
    const VF first = job.bias != nullptr ? load(job.bias + c) : hn::Zero(F32());
    unroll<N>([&](auto o) MOTE_LAMBDA { sum[o] = first; });
    unroll<(N - 1) * S + 3>([&](auto j) MOTE_LAMBDA {
      unroll<3>([&](auto i) MOTE_LAMBDA {
        const VF x = load(at(i, j, c));
        unroll<N>([&](auto o) MOTE_LAMBDA {
          constexpr int kTap = decltype(j)::value - decltype(o)::value * S;
          if constexpr (kTap >= 0 && kTap < 3) add_product(sum[o], x, w[i * 3 + kTap]);
        });
      });
    });
    unroll<N>([&](auto o) MOTE_LAMBDA { store(clamp(sum[o], lo, hi), reinterpret_cast<float*>(out + o * step) + c); });
  }
}

// Outputs [ox, ox + N) of row oy.
template <int N, int S>
void some_outputs(const Job& job, int32_t n, int32_t oy, int32_t ox) {
  constexpr int kColumns = (N - 1) * S + 3;
  const int32_t top = oy * job.g.stride_h - job.g.pad_h, left = ox * S - job.g.pad_w;
  uint8_t* out = job.y.at(n, oy, ox);
  const int64_t step = job.x.column;
  if (top >= 0 && top + 3 <= job.x.h && left >= 0 && left + kColumns <= job.x.w) {
    const uint8_t* rows[3];
    unroll<3>([&](auto i) MOTE_LAMBDA { rows[i] = job.x.at(n, top + i, left); });
    return all_channels<N, S>(job, out, job.y.column, [&](auto i, auto j, int64_t c) MOTE_LAMBDA {
      return reinterpret_cast<const float*>(rows[i] + c * 4 + j * step);
    });
  }
  const float* pointers[3][kColumns];
  for (int32_t i = 0; i < 3; ++i) {
    const bool row = static_cast<uint32_t>(top + i) < static_cast<uint32_t>(job.x.h);
    const uint8_t* line = job.x.at(n, row ? top + i : 0, 0);
    for (int32_t j = 0; j < kColumns; ++j) {
      const bool in = row && static_cast<uint32_t>(left + j) < static_cast<uint32_t>(job.x.w);
      pointers[i][j] = in ? reinterpret_cast<const float*>(line + (left + j) * step) : kZeros;
    }
  }
  all_channels<N, S>(job, out, job.y.column, [&](auto i, auto j, int64_t c) MOTE_LAMBDA { return pointers[i][j] + c; });
}

template <int S>
void run_row(const Job& job, int32_t n, int32_t oy) {
  constexpr int kOutputs = S == 1 ? 7 : 4;  // the widths of most images are multiples of 7
  int32_t ox = 0;
  for (; ox + kOutputs <= job.y.w; ox += kOutputs) some_outputs<kOutputs, S>(job, n, oy, ox);
  for (; ox + 2 <= job.y.w; ox += 2) some_outputs<2, S>(job, n, oy, ox);
  if (ox < job.y.w) some_outputs<1, S>(job, n, oy, ox);
}

Status run(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const Finish finish(bias, nullptr, 1, a.activation, a.act_a, a.act_b);
  const Plane y(c.output(0));
  const Job job{Geometry(a, &w.desc->dims[1], 2),
                Plane(c.input(0)),
                y,
                w.as<const float>(),
                bias,
                hn::GetLane(finish.clamped(broadcast(-HUGE_VALF))),
                hn::GetLane(finish.clamped(broadcast(HUGE_VALF)))};
  const RowRange rows(c, y, false);
  const int32_t height = rows.end - rows.begin, total = y.n * height;
  const double work = static_cast<double>(total) * y.w * y.c * kTaps * 2;
  split_rows(c.threads, total, work, [&](int32_t i) {
    const int32_t n = i / height, oy = rows.begin + i % height;
    job.g.stride_w == 1 ? run_row<1>(job, n, oy) : run_row<2>(job, n, oy);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_depthwise_3x3(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  if (w.rank() != 4 || w.dim(0) % kLanes != 0 || w.dim(0) > kZeroCount || c.has_input(3) || c.has_input(4)) return nullptr;
  const Geometry g(a, &w.desc->dims[1], 2);
  if (g.kernel_h != 3 || g.kernel_w != 3 || g.dilation_h != 1 || g.dilation_w != 1 || (g.stride_w != 1 && g.stride_w != 2)) return nullptr;
  return Finish(nullptr, nullptr, 1, a.activation, a.act_a, a.act_b).has_after() ? nullptr : &run;
}

}  // namespace mote::kernels::MOTE_ISA_NAME

#else

namespace mote::kernels::MOTE_ISA_NAME {

KernelFn select_depthwise_3x3(const OpContext&) noexcept { return nullptr; }

}  // namespace mote::kernels::MOTE_ISA_NAME
#endif
