#pragma once

// Scales and zero points of a tensor: one for all of it, one per index of an axis, or one per block of an axis.

#include "mote/ops/common/quant.h"

namespace mote::ops {

// Checks the parameters in input i (scale, zero point, multiplier) against input 0: one element; a vector as long as the axis; or,
// with block > 0, the shape of input 0 with the axis divided by block.
inline Status check_grid(const InferContext& c, int i, int32_t wanted_axis, int32_t block) noexcept {
  const TensorDesc &x = c.in(0), &p = c.in(i);
  if (block < 0) return c.reject(Why::kAttribute, 0, block);
  if (x.layout != Layout::kPlain || p.layout != Layout::kPlain) return c.reject(Why::kLayout);
  int axis = 0;
  MOTE_TRY(c.axis(wanted_axis, x.rank > 0 ? x.rank : 1, &axis));
  if (block == 0) {
    if (p.rank > 1) return c.reject(Why::kRank, 1, p.rank);
    const int32_t n = p.rank == 1 ? p.dims[0] : 1, wanted = x.rank > 0 ? x.dims[axis] : 1;
    return n != 1 && n != wanted ? c.reject(Why::kDimMismatch, wanted, n) : Status(Status::kOk);
  }
  if (p.rank != x.rank) return c.reject(Why::kRank, x.rank, p.rank);
  for (int k = 0; k < x.rank; ++k) {
    const int64_t wanted = k == axis ? (int64_t{x.dims[k]} + block - 1) / block : x.dims[k];
    if (p.dims[k] != wanted) return c.reject(Why::kDimMismatch, wanted, p.dims[k]);
  }
  return Status::kOk;
}

// Walks a shape row by row (innermost runs), only the given rows of dimension 1; tells where a row lies in tensors of that shape, and
// where the parameters of its elements lie.
class QuantWalk {
 public:
  QuantWalk(const TensorDesc& shape, int32_t axis, int32_t block, Rows rows)
      : shape_(shape), block_(block > 0 ? block : 1), blocked_(block > 0) {
    axis_ = axis < 0 ? axis + (shape.rank > 0 ? shape.rank : 1) : axis;
    length = shape.rank > 0 ? shape.dims[shape.rank - 1] : 1;
    done_ = length == 0;
    for (int i = 0; i + 1 < shape.rank; ++i) {
      const bool limited = i == 1 && !rows.all();
      first_[i] = limited ? rows.begin : 0;
      last_[i] = limited && rows.end < shape.dims[i] ? rows.end : shape.dims[i];
      index_[i] = first_[i];
      if (first_[i] >= last_[i]) done_ = true;
    }
  }

  // Moves to the first, then to each following row. False when there is none left.
  bool next() {
    if (done_) return false;
    if (!started_) return started_ = true;
    for (int i = shape_.rank - 2; i >= 0; --i) {
      if (++index_[i] < last_[i]) return true;
      index_[i] = first_[i];
    }
    done_ = true;
    return false;
  }

  // Offset of the row's first element in a tensor of the walked shape.
  int32_t offset(const TensorDesc& d, const Strides& s) const {
    int32_t at = 0;
    for (int i = 0; i + 1 < shape_.rank; ++i) at += (i == 1 && d.ring_rows != 0 ? index_[i] % d.ring_rows : index_[i]) * s.of[i];
    return at;
  }
  // Offset of the parameter that belongs to element `i` of the row.
  int32_t parameter(const TensorDesc& p, const Strides& s, int32_t i) const {
    if (!blocked_) return p.rank == 0 || p.dims[0] == 1 ? 0 : along(axis_, i) * s.of[0];
    int32_t at = 0;
    for (int k = 0; k < shape_.rank; ++k) {
      const int32_t index = k == axis_ ? along(k, i) / block_ : along(k, i);
      at += (k == 1 && p.ring_rows != 0 ? index % p.ring_rows : index) * s.of[k];
    }
    return at;
  }

  int32_t length = 0;

 private:
  int32_t along(int axis, int32_t i) const { return axis == shape_.rank - 1 ? i : index_[axis]; }

  const TensorDesc& shape_;
  int32_t index_[kMaxRank] = {}, first_[kMaxRank] = {}, last_[kMaxRank] = {};
  int32_t axis_ = 0, block_;
  bool blocked_, done_ = false, started_ = false;
};

}  // namespace mote::ops
