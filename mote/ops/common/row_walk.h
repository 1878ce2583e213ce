#pragma once

#include "mote/core/op.h"

namespace mote::ops {

// Walks a shape row by row: a row is a run along the innermost dimension, which is dense in every tensor. Gives, for each of N
// operands broadcast to that shape (aligned at the last dimension, as numpy does), the byte offset of the row's first element.
// With `rows`, only those indices of dimension 1 are visited, and operands with ring_rows are addressed modulo the ring.
//
//   RowWalk<2> walk(*y.desc, {x.desc, y.desc}, c.rows);
//   while (walk.next()) { const T* a = x.at<T>(walk.offset[0]); ... walk.length elements, a advances by walk.step[0] ... }
template <int N>
class RowWalk {
 public:
  struct Operands {
    const TensorDesc* desc[N];
  };

  RowWalk(const TensorDesc& shape, const Operands& operands, Rows rows = {}) : shape_(shape), operands_(operands) {
    const int rank = shape.rank;
    length = rank > 0 ? shape.dims[rank - 1] : 1;
    for (int i = 0; i + 1 < rank; ++i) {
      const bool limited = i == 1 && !rows.all();
      first_[i] = limited ? rows.begin : 0;
      last_[i] = limited && rows.end < shape.dims[i] ? rows.end : shape.dims[i];
      index_[i] = first_[i];
      if (first_[i] >= last_[i]) done_ = true;
    }
    if (length == 0) done_ = true;
    for (int k = 0; k < N; ++k) {
      const TensorDesc& d = *operands.desc[k];
      step[k] = d.rank > 0 && (d.dims[d.rank - 1] != 1 || length == 1) ? 1 : 0;
    }
  }

  // Moves to the first, then to each following row. False when there is none left.
  bool next() {
    if (done_) return false;
    for (int k = 0; k < N; ++k) offset[k] = byte_offset(*operands_.desc[k]);
    done_ = true;
    for (int i = shape_.rank - 2; i >= 0; --i) {
      if (++index_[i] < last_[i]) {
        done_ = false;
        break;
      }
      index_[i] = first_[i];
    }
    return true;
  }

  int32_t length = 0;      // elements of a row
  int32_t offset[N] = {};  // bytes
  int32_t step[N] = {};    // elements an operand advances per element of the row: 1, or 0 where it is broadcast

 private:
  int32_t byte_offset(const TensorDesc& d) const {
    const int lead = shape_.rank - d.rank;
    int32_t bytes = 0;
    for (int i = 0; i + 1 < d.rank; ++i) {
      if (d.dims[i] == 1 || lead + i < 0) continue;
      int32_t at = index_[lead + i];
      if (i == 1 && d.ring_rows != 0) at %= d.ring_rows;
      bytes += at * d.strides[i];
    }
    return bytes;
  }

  const TensorDesc& shape_;
  const Operands operands_;
  int32_t index_[kMaxRank] = {};
  int32_t first_[kMaxRank] = {};
  int32_t last_[kMaxRank] = {};
  bool done_ = false;
};

}  // namespace mote::ops
