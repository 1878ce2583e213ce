#pragma once

#include "mote/core/op.h"

namespace mote::ops {

// Walks the lines of a shape along one axis. Gives, for each of N operands whose other dimensions equal the shape's (their size
// along the axis may differ), the byte offset of the line's first element and the byte stride along the axis.
// A scalar has one line of one element.
//
//   AxisWalk<2> walk(*x.desc, axis, {x.desc, y.desc});
//   while (walk.next()) { const T* first = x.at<const T>(walk.offset[0]); ... next element: walk.stride[0] bytes on ... }
template <int N>
class AxisWalk {
 public:
  struct Operands {
    const TensorDesc* desc[N];
  };

  AxisWalk(const TensorDesc& shape, int axis, const Operands& operands) : shape_(shape), operands_(operands), axis_(axis) {
    for (int i = 0; i < shape.rank; ++i)
      if (i != axis && shape.dims[i] == 0) done_ = true;
    for (int k = 0; k < N; ++k) {
      const TensorDesc& d = *operands.desc[k];
      stride[k] = d.rank > 0 ? d.strides[axis] : static_cast<int32_t>(dtype_bytes(d.dtype));
    }
  }

  bool next() {
    if (done_) return false;
    for (int k = 0; k < N; ++k) {
      offset[k] = 0;
      for (int i = 0; i < shape_.rank; ++i) offset[k] += index_[i] * operands_.desc[k]->strides[i];
    }
    done_ = true;
    for (int i = shape_.rank - 1; i >= 0; --i) {
      if (i == axis_) continue;
      if (++index_[i] < shape_.dims[i]) {
        done_ = false;
        break;
      }
      index_[i] = 0;
    }
    return true;
  }

  int32_t offset[N] = {};  // bytes
  int32_t stride[N] = {};  // bytes

 private:
  const TensorDesc& shape_;
  const Operands operands_;
  int32_t index_[kMaxRank] = {};
  int axis_;
  bool done_ = false;
};

// Element `i` of a line that starts at `first`.
template <class T>
T& line_at(T* first, int32_t i, int32_t stride_bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const uint8_t, uint8_t>;
  return *reinterpret_cast<T*>(reinterpret_cast<Byte*>(first) + static_cast<ptrdiff_t>(i) * stride_bytes);
}

}  // namespace mote::ops
