#pragma once

#include "mote/kernels/common/nest.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Rows of two inputs and an output, one of the inputs repeated in each of at most `most` elements, become one row: that input's stride in
// it is 0, and *input its number. Returns how many elements are repeated, or 0 where rows are not like that. Widths in bytes.
inline int32_t join_rows(Nest<3>* nest, const int32_t* widths, int32_t most, int* input) {
  const int last = nest->depth - 1;
  if (last < 1 || nest->size[last] > most) return 0;
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
