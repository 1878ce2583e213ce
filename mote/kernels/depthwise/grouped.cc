// Grouped convolutions of f32 whose groups are not a multiple of 16 outputs wide: a panel spans several groups, so each lane reads the
// input channels of its own group.

#include "mote/kernels/common/epilogue.h"
#include "mote/kernels/common/nhwc_view.h"
#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/window_geometry.h"
#include "mote/kernels/depthwise/depthwise.h"
#include "mote/ops/conv/conv.h"

namespace mote::kernels::MOTE_ISA_NAME::depthwise {
namespace {

using ops::conv::Attrs;
using I32 = hn::RebindToSigned<F32>;

struct GroupedConv {
  WindowGeometry g;
  NhwcView x, y, residual;
  bool has_residual;
  const float* weights;     // (O/16, kernel_h * kernel_w * inputs, 16)
  int32_t inputs, outputs;  // channels of a group
  EpilogueF32 epilogue;
};

// For each of the outputs [first, first + kLanes): where the input channels of its group begin, relative to `base`.
struct LaneChannels {
  LaneChannels(const GroupedConv& conv, int32_t first) {
    for (int l = 0; l < kLanes; ++l) {
      const int32_t o = first + l < conv.y.c ? first + l : conv.y.c - 1;
      offset[l] = o / conv.outputs * conv.inputs;
    }
    base = offset[0];
    for (int32_t& o : offset) o -= base;
    narrow = offset[kLanes - 1] + conv.inputs <= kLanes;
  }
  alignas(64) int32_t offset[kLanes];
  int32_t base;
  bool narrow;  // the input channels of all these groups fit one vector
};

// Adds one tap: in[lane's offset + i] * w[i] for each channel i of a group.
MOTE_INLINE void add_tap(const GroupedConv& conv, const LaneChannels& lanes, const float* in, const float* w, VF* acc) {
  const I32 di;
  const auto offset = hn::Load(di, lanes.offset);
  if (lanes.narrow) {
    const int32_t remaining = conv.x.c - lanes.base;
    const VF x = load_partial(in, remaining < kLanes ? remaining : kLanes);
    for (int32_t i = 0; i < conv.inputs; ++i)
      add_product(*acc, hn::TableLookupLanes(x, hn::IndicesFromVec(F32(), hn::Add(offset, hn::Set(di, i)))), load(w + i * kPanel));
    return;
  }
  for (int32_t i = 0; i < conv.inputs; ++i) add_product(*acc, hn::GatherIndex(F32(), in + i, offset), load(w + i * kPanel));
}

// Outputs [o, o + kLanes) of row oy.
void compute_row(const GroupedConv& conv, const LaneChannels& lanes, int32_t n, int32_t oy, int32_t o) {
  const WindowGeometry& g = conv.g;
  const int32_t outputs = conv.y.c - o < kLanes ? conv.y.c - o : kLanes;
  const float* weights = conv.weights + int64_t{o / kPanel} * g.kernel_h * g.kernel_w * conv.inputs * kPanel + o % kPanel;
  for (int32_t ox = 0; ox < conv.y.w; ++ox) {
    VF acc = hn::Zero(F32());
    for (int32_t ky = 0; ky < g.kernel_h; ++ky) {
      const int32_t iy = oy * g.stride_h - g.pad_h + ky * g.dilation_h;
      if (iy < 0 || iy >= conv.x.h) continue;
      for (int32_t kx = 0; kx < g.kernel_w; ++kx) {
        const int32_t ix = ox * g.stride_w - g.pad_w + kx * g.dilation_w;
        if (ix < 0 || ix >= conv.x.w) continue;
        const auto* in = reinterpret_cast<const float*>(conv.x.at(n, iy, ix)) + lanes.base;
        add_tap(conv, lanes, in, weights + int64_t{ky * g.kernel_w + kx} * conv.inputs * kPanel, &acc);
      }
    }
    const auto* residual = conv.has_residual ? reinterpret_cast<const float*>(conv.residual.at(n, oy, ox)) + o : nullptr;
    float* out = reinterpret_cast<float*>(conv.y.at(n, oy, ox)) + o;
    store_partial(conv.epilogue.value(acc, o, outputs, residual), outputs, out);
    conv.epilogue.apply_slow_activation(out, outputs);
  }
}

Status grouped_conv_f32(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const auto vector = [&](int i) { return c.has_input(i) ? c.input(i).as<const float>() : nullptr; };
  const NhwcView y(c.output(0));
  const GroupedConv conv{WindowGeometry(a, &w.desc->dims[1], w.rank() - 2),
                         NhwcView(c.input(0)),
                         y,
                         c.has_input(3) ? NhwcView(c.input(3)) : NhwcView(),
                         c.has_input(3),
                         w.as<const float>(),
                         w.dim(w.rank() - 1),
                         w.dim(0) / a.groups,
                         EpilogueF32(vector(2), vector(4), 1, a.activation, a.act_a, a.act_b)};
  const RowRange rows(c, y, w.rank() == 3);
  const int32_t height = rows.end - rows.begin, total = y.n * height;
  const double work = static_cast<double>(total) * y.w * y.c * conv.g.kernel_h * conv.g.kernel_w * conv.inputs / 4;
  split_rows(c.threads, total, work, [&](int32_t i) {
    for (int32_t o = 0; o < y.c; o += kLanes) compute_row(conv, LaneChannels(conv, o), i / height, rows.begin + i % height, o);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_grouped(const OpContext&) noexcept { return &grouped_conv_f32; }

}  // namespace mote::kernels::MOTE_ISA_NAME::depthwise
