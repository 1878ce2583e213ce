#pragma once

#include "mote/core/op.h"

namespace mote::ops {

// Visits the positions of a shape along the dimensions in a mask, the others staying at 0. Gives, for each of N operands of the
// shape's rank, the byte offset of the position. Two of them, one inside the other, visit slices and their elements.
//
//   AxesWalk<1> outer(*x.desc, ~inner_axes, {x.desc});
//   while (outer.next()) { AxesWalk<1> in(*x.desc, inner_axes, {x.desc}); while (in.next()) ... outer.offset[0] + in.offset[0] ... }
template <int N>
class AxesWalk {
 public:
  struct Operands {
    const TensorDesc* desc[N];
  };

  AxesWalk(const TensorDesc& shape, uint32_t axes, const Operands& operands) : shape_(shape), operands_(operands), axes_(axes) {
    for (int i = 0; i < shape.rank; ++i)
      if (has(i) && shape.dims[i] == 0) done_ = true;
  }

  // Moves to the first, then to each following position. False when there is none left.
  bool next() {
    if (done_) return false;
    if (!started_) return started_ = true;
    for (int i = shape_.rank - 1; i >= 0; --i) {
      if (!has(i)) continue;
      const bool wraps = ++index_[i] == shape_.dims[i];
      for (int k = 0; k < N; ++k) offset[k] += (wraps ? 1 - shape_.dims[i] : 1) * operands_.desc[k]->strides[i];
      if (!wraps) return true;
      index_[i] = 0;
    }
    done_ = true;
    return false;
  }

  int32_t offset[N] = {};  // bytes

 private:
  bool has(int i) const { return (axes_ >> i & 1) != 0; }

  const TensorDesc& shape_;
  const Operands operands_;
  uint32_t axes_;
  int32_t index_[kMaxRank] = {};
  bool started_ = false;
  bool done_ = false;
};

// A tensor's strides as they serve a shape of that rank: aligned at the last dimension, 0 where the tensor is broadcast.
inline TensorDesc broadcast_to(const TensorDesc& d, int rank) {
  TensorDesc r = d;
  r.rank = static_cast<uint8_t>(rank);
  for (int i = 0; i < rank; ++i) {
    const int from = i - (rank - d.rank);
    r.dims[i] = from < 0 ? 1 : d.dims[from];
    r.strides[i] = r.dims[i] == 1 ? 0 : d.strides[from];
  }
  return r;
}

}  // namespace mote::ops
