// Convolutions in groups that are no multiple of a panel wide: every output of a vector reads the channels of its own group.

#include "mote/kernels/common/finish.h"
#include "mote/kernels/common/geometry.h"
#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/plane.h"
#include "mote/kernels/depthwise/depthwise.h"
#include "mote/ops/conv/conv.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::conv::Attrs;
using I32 = hn::RebindToSigned<F32>;

struct Job {
  Geometry g;
  Plane x, y, residual;
  bool has_residual;
  const float* weights;     // (O/16, kernel_h * kernel_w * inputs, 16)
  int32_t inputs, outputs;  // of a group
  Finish finish;
};

// Where the outputs [first, first + kLanes) find channel 0 of their group.
struct Lanes {
  Lanes(const Job& job, int32_t first) {
    for (int l = 0; l < kLanes; ++l) {
      const int32_t o = first + l < job.y.c ? first + l : job.y.c - 1;
      at[l] = o / job.outputs * job.inputs;
    }
    base = at[0];
    for (int32_t& a : at) a -= base;
    narrow = at[kLanes - 1] + job.inputs <= kLanes;
  }
  alignas(64) int32_t at[kLanes];
  int32_t base;
  bool narrow;  // all channels of all their groups fit one vector
};

// Adds one tap: in[at + i] * w[i] for each channel i of a group.
MOTE_INLINE void add_tap(const Job& job, const Lanes& lanes, const float* in, const float* w, VF* sum) {
  const I32 di;
  const auto at = hn::Load(di, lanes.at);
  if (lanes.narrow) {
    const int32_t left = job.x.c - lanes.base;
    const VF x = load_some(in, left < kLanes ? left : kLanes);
    for (int32_t i = 0; i < job.inputs; ++i)
      add_product(*sum, hn::TableLookupLanes(x, hn::IndicesFromVec(F32(), hn::Add(at, hn::Set(di, i)))), load(w + i * kPanel));
    return;
  }
  for (int32_t i = 0; i < job.inputs; ++i) add_product(*sum, hn::GatherIndex(F32(), in + i, at), load(w + i * kPanel));
}

void grouped_vector(const Job& job, const Lanes& lanes, int32_t n, int32_t oy, int32_t o) {
  const Geometry& g = job.g;
  const int32_t left = job.y.c - o < kLanes ? job.y.c - o : kLanes;
  const float* weights = job.weights + int64_t{o / kPanel} * g.kernel_h * g.kernel_w * job.inputs * kPanel + o % kPanel;
  for (int32_t ox = 0; ox < job.y.w; ++ox) {
    VF sum = hn::Zero(F32());
    for (int32_t ky = 0; ky < g.kernel_h; ++ky) {
      const int32_t iy = oy * g.stride_h - g.pad_h + ky * g.dilation_h;
      if (iy < 0 || iy >= job.x.h) continue;
      for (int32_t kx = 0; kx < g.kernel_w; ++kx) {
        const int32_t ix = ox * g.stride_w - g.pad_w + kx * g.dilation_w;
        if (ix < 0 || ix >= job.x.w) continue;
        const auto* in = reinterpret_cast<const float*>(job.x.at(n, iy, ix)) + lanes.base;
        add_tap(job, lanes, in, weights + int64_t{ky * g.kernel_w + kx} * job.inputs * kPanel, &sum);
      }
    }
    const auto* more = job.has_residual ? reinterpret_cast<const float*>(job.residual.at(n, oy, ox)) + o : nullptr;
    float* out = reinterpret_cast<float*>(job.y.at(n, oy, ox)) + o;
    store_some(job.finish.value(sum, o, left, more), left, out);
    job.finish.activate_after(out, left);
  }
}

Status run_grouped(const OpContext& c) noexcept {
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
                w.dim(w.rank() - 1),
                w.dim(0) / a.groups,
                Finish(vector(2), vector(4), 1, a.activation, a.act_a, a.act_b)};
  const RowRange rows(c, y, w.rank() == 3);
  const int32_t height = rows.end - rows.begin, total = y.n * height;
  const double work = static_cast<double>(total) * y.w * y.c * job.g.kernel_h * job.g.kernel_w * job.inputs / 4;
  split_rows(c.threads, total, work, [&](int32_t i) {
    for (int32_t o = 0; o < y.c; o += kLanes) grouped_vector(job, Lanes(job, o), i / height, rows.begin + i % height, o);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_grouped(const OpContext&) noexcept { return &run_grouped; }

}  // namespace mote::kernels::MOTE_ISA_NAME
