#pragma once

// Moves elements of 1, 2, 4 or 8 bytes between any two arrangements: whole runs where both sides have them, small squares where one side's
// neighbours are the other's rows.

#include "mote/kernels/common/nest.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Loops over the elements, the strides of source and destination in bytes; push() in the order of the destination.
using Moves = Nest<2>;

MOTE_INLINE void push(Moves* moves, int32_t n, int64_t from, int64_t to) {
  const int64_t steps[2] = {from, to};
  moves->push(n, steps);
}

// Carries the moves out. They may be reordered, so no destination may be a source.
void move(Moves moves, uint32_t width, const void* from, void* to, const Threads* threads) noexcept;

// `bytes` bytes, few or many.
void copy_bytes(uint8_t* to, const uint8_t* from, int64_t bytes) noexcept;
// n times the element at `value`.
void fill_elements(uint8_t* to, const void* value, uint32_t width, int32_t n) noexcept;

// A matrix of 32-bit elements, turned: the source has rows of `columns` neighbours, the destination columns of `rows` neighbours.
struct Turn {
  const uint8_t* from;
  uint8_t* to;
  int64_t row_step, column_step;  // from row to row of the source; from column to column of the destination; bytes
  int32_t rows, columns;
};
void turn_32(const Turn& t) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME
