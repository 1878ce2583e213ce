#pragma once

// Merges the two innermost loops of a binary operator with a broadcast operand into one long row.

#include "mote/kernels/common/loops.h"

namespace mote::kernels::MOTE_ISA_NAME {

// nest: loops over two inputs and an output. Where one input is the same row for each iteration of the outer of the two loops, and that row
// has at most `max_period` elements, merges the loops: that input's stride becomes 0, *input its number (0 or 1). Returns the row's length,
// the period with which the input repeats; 0: the loops have another form and are unchanged. widths: bytes of an element of each operand.
inline int32_t merge_broadcast_rows(StridedLoopNest<3>* nest, const int32_t* widths, int32_t max_period, int* input) {
  const int last = nest->depth - 1;
  if (last < 1 || nest->size[last] > max_period) return 0;
  const int32_t n = nest->size[last];
  const int64_t* inner = nest->stride[last];
  int64_t* outer = nest->stride[last - 1];
  for (int k = 0; k < 3; ++k)
    if (inner[k] != widths[k]) return 0;
  *input = outer[0] == 0 ? 0 : 1;
  const int other = 1 - *input;
  if (outer[*input] != 0 || outer[other] != int64_t{n} * widths[other] || outer[2] != int64_t{n} * widths[2]) return 0;
  for (int k = 0; k < 3; ++k) outer[k] = k == *input ? 0 : widths[k];
  nest->size[last - 1] *= n;
  --nest->depth;
  return n;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
