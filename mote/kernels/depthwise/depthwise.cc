// Depthwise convolutions: each channel has its own window. Several neighbouring outputs of a row are computed at once, a vector of
// channels at a time, so that an input column is loaded once for all windows that it lies in.

#include "mote/kernels/depthwise/depthwise.h"

#include "mote/kernels/common/finish.h"
#include "mote/kernels/common/geometry.h"
#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/plane.h"
#include "mote/kernels/common/zeros.h"
#include "mote/ops/conv/conv.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::conv::Attrs;

constexpr int kMaxKernel = 64;  // taps of a row or column that have pointers on the stack

struct Job {
  Geometry g;
  Plane x, y, residual;
  bool has_residual;
  const float* weights;  // (C/16, kernel_h * kernel_w, 16)
  Finish finish;
};

// One vector of channels [c, c + left) of Outputs neighbouring outputs. column(ky, j) is a pointer to channel 0 of input column j of the
// group.
template <int Kernel, int Stride, int Outputs, class Column>
MOTE_INLINE void vector_of_outputs(const Job& job, int32_t ky_begin, int32_t ky_end, int32_t c, int32_t left, const Column& column,
                                   float* const* out, const float* const* residual) {
  const float* w = job.weights + int64_t{c / kPanel} * (job.g.kernel_h * Kernel * kPanel) + c % kPanel;
  VF sum[Outputs];
  unroll<Outputs>([&](auto o) MOTE_LAMBDA { sum[o] = hn::Zero(F32()); });
  for (int32_t ky = ky_begin; ky < ky_end; ++ky) {
    VF row[Kernel];
    unroll<Kernel>([&](auto k) MOTE_LAMBDA { row[k] = load(w + (ky * Kernel + k) * kPanel); });
    unroll<(Outputs - 1) * Stride + Kernel>([&](auto j) MOTE_LAMBDA {
      const VF x = load_some(column(ky, Index<j>{}) + c, left);
      unroll<Outputs>([&](auto o) MOTE_LAMBDA {
        constexpr int kTap = decltype(j)::value - decltype(o)::value * Stride;
        if constexpr (kTap >= 0 && kTap < Kernel) add_product(sum[o], x, row[kTap]);
      });
    });
  }
  unroll<Outputs>([&](auto o) MOTE_LAMBDA {
    const VF v = job.finish.value(sum[o], c, left, residual != nullptr ? residual[o] + c : nullptr);
    store_some(v, left, out[o] + c);
  });
}

template <int Kernel, int Stride, int Outputs, class Column>
MOTE_INLINE void group_of_outputs(const Job& job, int32_t ky_begin, int32_t ky_end, const Column& column, float* const* out,
                                  const float* const* residual) {
  const int32_t channels = job.y.c;
  int32_t c = 0;
  for (; c + kLanes <= channels; c += kLanes)
    vector_of_outputs<Kernel, Stride, Outputs>(job, ky_begin, ky_end, c, kLanes, column, out, residual);
  if (c < channels) vector_of_outputs<Kernel, Stride, Outputs>(job, ky_begin, ky_end, c, channels - c, column, out, residual);
  for (int o = 0; o < Outputs; ++o) job.finish.activate_after(out[o], channels);
}

// The rows of the window that lie inside the input.
struct TapRows {
  TapRows(const Geometry& g, int32_t height, int32_t oy) : first(oy * g.stride_h - g.pad_h) {
    while (begin < g.kernel_h && first + begin * g.dilation_h < 0) ++begin;
    end = g.kernel_h;
    while (end > begin && first + (end - 1) * g.dilation_h >= height) --end;
  }
  int32_t first, begin = 0, end;
};

// Outputs [ox, ox + Outputs) of row oy; columns outside of the input read zeros.
template <int Kernel, int Stride, int Outputs>
void some_outputs(const Job& job, int32_t n, int32_t oy, int32_t ox) {
  constexpr int kColumns = (Outputs - 1) * Stride + Kernel;
  const Geometry& g = job.g;
  const TapRows rows(g, job.x.h, oy);
  const int32_t first = ox * Stride - g.pad_w;
  float* out[Outputs];
  const float* residual[Outputs];
  for (int o = 0; o < Outputs; ++o) {
    out[o] = reinterpret_cast<float*>(job.y.at(n, oy, ox + o));
    if (job.has_residual) residual[o] = reinterpret_cast<const float*>(job.residual.at(n, oy, ox + o));
  }
  const float* const* add = job.has_residual ? residual : nullptr;
  const uint8_t* row[kMaxKernel];
  for (int32_t ky = rows.begin; ky < rows.end; ++ky) row[ky] = job.x.at(n, rows.first + ky * g.dilation_h, 0);
  const int64_t step = job.x.column;
  if (first >= 0 && first + kColumns <= job.x.w) {
    const auto inside = [&](int32_t ky, auto j) MOTE_LAMBDA { return reinterpret_cast<const float*>(row[ky] + (first + j) * step); };
    group_of_outputs<Kernel, Stride, Outputs>(job, rows.begin, rows.end, inside, out, add);
    return;
  }
  const float* pointers[kMaxKernel][kColumns];
  for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
    for (int32_t j = 0; j < kColumns; ++j) {
      const int32_t ix = first + j;
      pointers[ky][j] = ix >= 0 && ix < job.x.w ? reinterpret_cast<const float*>(row[ky] + ix * step) : kZeros;
    }
  }
  const auto edge = [&](int32_t ky, auto j) MOTE_LAMBDA { return pointers[ky][j]; };
  group_of_outputs<Kernel, Stride, Outputs>(job, rows.begin, rows.end, edge, out, add);
}

template <int Kernel, int Stride>
void fixed_row(const Job& job, int32_t n, int32_t oy) {
  constexpr int kOutputs = kRegisters == 32 ? 6 : 4;
  const int32_t width = job.y.w;
  int32_t ox = 0;
  for (; ox + kOutputs <= width; ox += kOutputs) some_outputs<Kernel, Stride, kOutputs>(job, n, oy, ox);
  for (; ox + 2 <= width; ox += 2) some_outputs<Kernel, Stride, 2>(job, n, oy, ox);
  if (ox < width) some_outputs<Kernel, Stride, 1>(job, n, oy, ox);
}

// Any window: one output at a time, the taps that lie inside.
void any_row(const Job& job, int32_t n, int32_t oy) {
  const Geometry& g = job.g;
  const TapRows rows(g, job.x.h, oy);
  const int32_t channels = job.y.c, taps = g.kernel_h * g.kernel_w;
  for (int32_t ox = 0; ox < job.y.w; ++ox) {
    float* out = reinterpret_cast<float*>(job.y.at(n, oy, ox));
    const float* residual = job.has_residual ? reinterpret_cast<const float*>(job.residual.at(n, oy, ox)) : nullptr;
    for (int32_t c = 0; c < channels; c += kLanes) {
      const int32_t left = channels - c < kLanes ? channels - c : kLanes;
      const float* w = job.weights + int64_t{c / kPanel} * taps * kPanel + c % kPanel;
      VF sum = hn::Zero(F32());
      for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
        for (int32_t kx = 0; kx < g.kernel_w; ++kx) {
          const int32_t ix = ox * g.stride_w - g.pad_w + kx * g.dilation_w;
          if (ix < 0 || ix >= job.x.w) continue;
          const auto* in = reinterpret_cast<const float*>(job.x.at(n, rows.first + ky * g.dilation_h, ix));
          sum = hn::MulAdd(load_some(in + c, left), load(w + (ky * g.kernel_w + kx) * kPanel), sum);
        }
      }
      store_some(job.finish.value(sum, c, left, residual != nullptr ? residual + c : nullptr), left, out + c);
    }
    job.finish.activate_after(out, channels);
  }
}

using RowFn = void (*)(const Job&, int32_t n, int32_t oy);

RowFn row_function(const Geometry& g, int32_t channels) {
  if (g.dilation_w != 1 || g.kernel_h > kMaxKernel || channels > kZeroCount) return &any_row;
  if (g.kernel_w == 3) return g.stride_w == 1 ? &fixed_row<3, 1> : g.stride_w == 2 ? &fixed_row<3, 2> : &any_row;
  if (g.kernel_w == 5) return g.stride_w == 1 ? &fixed_row<5, 1> : g.stride_w == 2 ? &fixed_row<5, 2> : &any_row;
  if (g.kernel_w == 7) return g.stride_w == 1 ? &fixed_row<7, 1> : &any_row;
  return &any_row;
}

Status run_depthwise(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const auto vector = [&](int i) { return c.has_input(i) ? c.input(i).as<const float>() : nullptr; };
  const Plane y(c.output(0));
  const Job job{Geometry(a, &w.desc->dims[1], w.rank() - 2),
                Plane(c.input(0)),
                y,
                c.has_input(3) ? Plane(c.input(3)) : Plane(),
                c.has_input(3),
                w.as<const float>(),
                Finish(vector(2), vector(4), 1, a.activation, a.act_a, a.act_b)};
  const RowRange rows(c, y, w.rank() == 3);
  const RowFn row = row_function(job.g, y.c);
  const int32_t height = rows.end - rows.begin, total = y.n * height;
  const double work = static_cast<double>(total) * y.w * y.c * job.g.kernel_h * job.g.kernel_w / 4;
  split_rows(c.threads, total, work, [&](int32_t i) MOTE_LAMBDA { row(job, i / height, rows.begin + i % height); });
  return Status::kOk;
}

}  // namespace

KernelFn select_depthwise(const OpContext&) noexcept { return &run_depthwise; }

}  // namespace mote::kernels::MOTE_ISA_NAME
