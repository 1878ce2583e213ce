#pragma once

// What every kernel of quantized depthwise convolutions works on, and how it is shared out.

#include "mote/kernels/common/geometry.h"
#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/plane.h"
#include "mote/kernels/int8/stage.h"
#include "mote/ops/q_conv/q_conv.h"

namespace mote::kernels::MOTE_ISA_NAME {

struct DepthwiseProblem {
  explicit DepthwiseProblem(const OpContext& op)
      : c(op),
        a(op.attrs<ops::q_conv::Attrs>()),
        g(a, op.input(1).desc->dims + 1, op.input(1).rank() - 2),
        x(op.input(0)),
        y(op.output(0)),
        add(op.has_input(ops::q_conv::kResidual)),
        stage(op, a, &sum),
        weights(op.input(1).as<const int8_t>()),
        channels(op.input(1).dim(0)),
        is_signed(op.input(0).dtype() == DType::s8) {
    if (!add) return;
    residual = Plane(op.input(ops::q_conv::kResidual));
    sum = ops::q_conv::sum_attrs(a);
  }
  DepthwiseProblem(const DepthwiseProblem&) = delete;  // `stage` points to `sum`

  const OpContext& c;
  const ops::q_conv::Attrs& a;
  Geometry g;
  Plane x, y, residual;
  bool add;
  ops::QuantBinaryAttrs sum;
  Stage stage;
  const int8_t* weights;
  int32_t channels;
  bool is_signed;

  int32_t fours() const { return (g.kernel_h + 3) / 4; }  // fours of taps in a column
  int32_t slots() const { return g.kernel_w * fours(); }
  // Sixteens of channels; the last one begins early where there are not enough channels for it.
  int32_t blocks() const { return (channels + kPanel - 1) / kPanel; }
  int32_t first_channel(int32_t block) const {
    const int32_t first = block * kPanel;
    return first + kPanel > channels && channels >= kPanel ? channels - kPanel : first;
  }

  // Rows of outputs that depthwise_wide.cc computes together.
  int32_t rows_together() const { return g.kernel_h == 3 && g.stride_h == 1 ? 2 : 1; }

  // body(part, output rows) for every part of the channels. Rows are cut into stretches of whole units of `unit` rows that stay in a cache,
  // and threads take neighbouring ones: those of a thread are likely the rows it computed before. steps: what an output takes
  // (useful_threads).
  template <class F>
  void share(int32_t parts, int32_t unit, double steps, const F& body) const {
    const RowRange rows(c, y, c.input(1).rank() == 3);
    const int32_t height = rows.end - rows.begin, units = (height + unit - 1) / unit;
    if (height <= 0) return;
    constexpr double kInCache = 384 * 1024;
    const double bytes = static_cast<double>(height) * (x.row * g.stride_h + y.row);
    const int32_t helpers = static_cast<int32_t>(useful_threads(c.threads, steps * y.n * height * y.w * channels));
    const int32_t wanted = (static_cast<int32_t>(bytes / kInCache) / helpers + 1) * helpers, cuts = wanted < units ? wanted : units;
    const auto total = static_cast<uint32_t>(cuts * parts), most = static_cast<uint32_t>(helpers) * 8;
    const uint32_t pieces = helpers < 2 || total < most ? total : most;
    parallel_for(helpers < 2 ? nullptr : c.threads, pieces, [&](uint32_t i) {
      const Range own = part_of(static_cast<int32_t>(total), i, pieces);
      for (int32_t at = own.first; at < own.first + own.size; ++at) {
        const Range lines = part_of(units, static_cast<uint32_t>(at / parts), static_cast<uint32_t>(cuts));
        RowRange some = rows;
        some.begin = rows.begin + lines.first * unit;
        if (some.begin + lines.size * unit < rows.end) some.end = some.begin + lines.size * unit;
        body(at % parts, some);
      }
    });
  }
};

}  // namespace mote::kernels::MOTE_ISA_NAME
