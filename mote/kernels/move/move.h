#pragma once

// Copies elements of 1, 2, 4 or 8 bytes between two strided layouts: contiguous runs where both sides have them, in-register transposes of
// small squares where different dimensions are contiguous.

#include "mote/kernels/common/loops.h"

namespace mote::kernels::MOTE_ISA_NAME::move {

// Loops over the elements with the strides of source and destination in bytes; push() outermost first, in the order of the destination.
using StridedCopy = StridedLoopNest<2>;

MOTE_INLINE void push(StridedCopy* loops, int32_t n, int64_t from, int64_t to) {
  const int64_t steps[2] = {from, to};
  loops->push(n, steps);
}

// Copies. Source and destination must not overlap, because the loops may be reordered.
void move(StridedCopy loops, uint32_t width, const void* from, void* to, const Threads* threads) noexcept;

// A copy of any length, fast for short ones.
void copy_bytes(uint8_t* to, const uint8_t* from, int64_t bytes) noexcept;
// Fills n elements with the element at `value`.
void fill_elements(uint8_t* to, const void* value, uint32_t width, int32_t n) noexcept;

// A matrix transpose: the source has rows of `columns` contiguous elements, the destination columns of `rows` contiguous elements.
struct Transpose {
  const uint8_t* from;
  uint8_t* to;
  int64_t row_step, column_step;  // from row to row of the source; from column to column of the destination; bytes
  int32_t rows, columns;
};
void transpose_32(const Transpose& t) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME::move
