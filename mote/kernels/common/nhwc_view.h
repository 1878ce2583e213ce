#pragma once

// Strided views of channels-last tensors (N, H, W, C) and (N, W, C). With ring > 0 the tensor is a ring buffer of so many rows, as
// depth-first strips use them: row y lies at y % ring.

#include "mote/core/op.h"

namespace mote::kernels::MOTE_ISA_NAME {

struct NhwcView {
  uint8_t* data = nullptr;
  int64_t batch = 0, row = 0, column = 0;  // strides, bytes
  int32_t n = 1, h = 1, w = 1, c = 1, ring = 0;

  NhwcView() = default;
  explicit NhwcView(const Tensor& t) : data(t.as<uint8_t>()), ring(t.desc->ring_rows) {
    const bool flat = t.rank() == 3;
    n = t.dim(0);
    h = flat ? 1 : t.dim(1);
    w = t.dim(flat ? 1 : 2);
    c = t.dim(flat ? 2 : 3);
    batch = t.stride(0);
    row = flat ? 0 : t.stride(1);
    column = t.stride(flat ? 1 : 2);
  }
  uint8_t* at(int32_t in, int32_t y, int32_t x) const {
    const int32_t stored_row = ring > 0 ? y % ring : y;
    return data + in * batch + stored_row * row + x * column;
  }
};

// The output rows that a call computes: all, or those of a depth-first strip.
struct RowRange {
  RowRange(const OpContext& c, const NhwcView& y, bool flat) : begin(0), end(y.h) {
    if (flat || c.rows.all()) return;
    begin = c.rows.begin < 0 ? 0 : c.rows.begin;
    end = c.rows.end < y.h ? c.rows.end : y.h;
    if (end < begin) end = begin;
  }
  int32_t begin, end;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
