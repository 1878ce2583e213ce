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

  // body(part, output rows) for every part of the channels, in enough pieces for all threads, along the channels first. at_once: products
  // that take as long as one of f32.
  template <class F>
  void share(int32_t parts, int32_t at_once, const F& body) const {
    const RowRange rows(c, y, c.input(1).rank() == 3);
    const int32_t height = rows.end - rows.begin;
    if (height <= 0) return;
    const double work = static_cast<double>(y.n) * height * y.w * channels * g.kernel_h * g.kernel_w / at_once;
    const int32_t helpers = static_cast<int32_t>(useful_threads(c.threads, work));
    const int32_t wanted = helpers < 2 ? 1 : (helpers * 4 + parts - 1) / parts, cuts = wanted < height ? wanted : height;
    parallel_for(helpers < 2 ? nullptr : c.threads, static_cast<uint32_t>(parts * cuts), [&](uint32_t i) {
      const Range lines = part_of(height, i % static_cast<uint32_t>(cuts), static_cast<uint32_t>(cuts));
      RowRange own = rows;
      own.begin = rows.begin + lines.first;
      own.end = own.begin + lines.size;
      body(static_cast<int32_t>(i) / cuts, own);
    });
  }
};

}  // namespace mote::kernels::MOTE_ISA_NAME
