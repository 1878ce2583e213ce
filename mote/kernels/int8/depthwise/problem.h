#pragma once

// Operands of a quantized depthwise convolution, its blocks of channels, and how work is split among threads.

#include "mote/kernels/common/nhwc_view.h"
#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/window_geometry.h"
#include "mote/kernels/int8/requantize/epilogue.h"
#include "mote/ops/q_conv/q_conv.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// Channels [first, first + count) are computed, those from first + skip on are stored. The last block begins early where fewer channels
// than lanes remain: it may read channels of the block before it again, but must not store them. The residual may lie in the output's
// memory and would be added twice, and the block before may belong to another thread.
struct ChannelBlock {
  int32_t first, count, skip;
};

struct DepthwiseProblem {
  explicit DepthwiseProblem(const OpContext& op)
      : c(op),
        a(op.attrs<ops::q_conv::Attrs>()),
        g(a, op.input(1).desc->dims + 1, op.input(1).rank() - 2),
        x(op.input(0)),
        y(op.output(0)),
        has_residual(op.has_input(ops::q_conv::kResidual)),
        epilogue(op, a, &residual_attrs),
        weights(op.input(1).as<const int8_t>()),
        channels(op.input(1).dim(0)),
        is_signed(op.input(0).dtype() == DType::s8) {
    if (!has_residual) return;
    residual = NhwcView(op.input(ops::q_conv::kResidual));
    residual_attrs = ops::q_conv::sum_attrs(a);
  }
  DepthwiseProblem(const DepthwiseProblem&) = delete;  // `epilogue` points to `residual_attrs`

  const OpContext& c;
  const ops::q_conv::Attrs& a;
  WindowGeometry g;
  NhwcView x, y, residual;
  bool has_residual;
  ops::QuantBinaryAttrs residual_attrs;
  RequantEpilogue epilogue;
  const int8_t* weights;
  int32_t channels;
  bool is_signed;

  int32_t tap_groups() const { return (g.kernel_h + 3) / 4; }  // groups of four taps in a column of the window
  int32_t weight_slots() const { return g.kernel_w * tap_groups(); }
  // Blocks of 16 channels; the last one begins early where fewer remain.
  int32_t blocks() const { return (channels + kPanel - 1) / kPanel; }
  ChannelBlock block(int32_t i) const {
    const int32_t first = i * kPanel, remaining = channels - first;
    if (remaining >= kPanel) return {first, kPanel, 0};
    return channels < kPanel ? ChannelBlock{0, channels, 0} : ChannelBlock{channels - kPanel, kPanel, kPanel - remaining};
  }

  // Rows of outputs that depthwise_wide.cc computes together.
  int32_t rows_per_pass() const { return g.kernel_h == 3 && g.stride_h == 1 ? 2 : 1; }

  // Calls body(part, output rows) for every part of the channels. Rows are cut into multiples of `unit` whose data stays in the cache, and
  // a thread takes neighbouring cuts, likely those it had in the layer before. cost: of an output (useful_threads).
  template <class F>
  void for_each_part(int32_t parts, int32_t unit, double cost, const F& body) const {
    const RowRange rows(c, y, c.input(1).rank() == 3);
    const int32_t height = rows.end - rows.begin, units = (height + unit - 1) / unit;
    if (height <= 0) return;
    constexpr double kInCache = 384 * 1024;
    const double bytes = static_cast<double>(height) * (x.row * g.stride_h + y.row);
    const int32_t thread_total = static_cast<int32_t>(thread_count(c.threads, cost * y.n * height * y.w * channels));
    const int32_t cuts_for_cache = (static_cast<int32_t>(bytes / kInCache) / thread_total + 1) * thread_total,
                  cut_count = cuts_for_cache < units ? cuts_for_cache : units;
    const auto items = static_cast<uint32_t>(cut_count * parts), max_pieces = static_cast<uint32_t>(thread_total) * 8;
    const uint32_t pieces = thread_total < 2 || items < max_pieces ? items : max_pieces;
    parallel_for(thread_total < 2 ? nullptr : c.threads, pieces, [&](uint32_t piece) {
      const Range share = part_of(static_cast<int32_t>(items), piece, pieces);
      for (int32_t item = share.first; item < share.first + share.size; ++item) {
        const Range cut_units = part_of(units, static_cast<uint32_t>(item / parts), static_cast<uint32_t>(cut_count));
        RowRange cut_rows = rows;
        cut_rows.begin = rows.begin + cut_units.first * unit;
        if (cut_rows.begin + cut_units.size * unit < rows.end) cut_rows.end = cut_rows.begin + cut_units.size * unit;
        body(item % parts, cut_rows);
      }
    });
  }
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
