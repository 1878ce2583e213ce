#pragma once

// The geometry of convolutions and pools over rows and columns; one spatial dimension is a single row.

#include <algorithm>

#include "mote/backends/common/piece.h"

namespace mote::backends {

struct Window2d {
  int32_t batch, in_h, in_w, in_c, out_h, out_w, out_c;
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
};

// Of operands (N, spatial, C) with one or two spatial dimensions; kernel has as many sizes.
template <class A>
Window2d window_of(const OpView& op, const A& a, const int32_t* kernel) {
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  const int lead = 4 - x.rank;  // 0 or 1
  const auto at = [&](const int32_t* list, int i, int32_t otherwise) { return i < lead ? otherwise : list[i - lead]; };
  Window2d w{};
  w.batch = x.dims[0];
  w.in_h = at(x.dims + 1, 0, 1), w.in_w = at(x.dims + 1, 1, 1), w.in_c = x.dim(-1);
  w.out_h = at(y.dims + 1, 0, 1), w.out_w = at(y.dims + 1, 1, 1), w.out_c = y.dim(-1);
  w.kernel_h = at(kernel, 0, 1), w.kernel_w = at(kernel, 1, 1);
  w.stride_h = at(a.strides, 0, 1), w.stride_w = at(a.strides, 1, 1);
  w.dilation_h = at(a.dilations, 0, 1), w.dilation_w = at(a.dilations, 1, 1);
  w.pad_h = at(a.pads_begin, 0, 0), w.pad_w = at(a.pads_begin, 1, 0);
  return w;
}

// Where the padding behind the input ends. Only compared with positions, which fit 32 bits: more is as good as the largest number.
struct PaddedEnds {
  int32_t h, w;
};
template <class A>
PaddedEnds padded_ends(const OpView& op, const A& a, const Window2d& w) {
  const auto end = [](int32_t in, int32_t pad) { return static_cast<int32_t>(std::min<int64_t>(int64_t{in} + pad, INT32_MAX)); };
  const bool has_rows = op.inputs[0].rank == 4;
  return {end(w.in_h, has_rows ? a.pads_end[0] : 0), end(w.in_w, a.pads_end[has_rows ? 1 : 0])};
}

}  // namespace mote::backends
