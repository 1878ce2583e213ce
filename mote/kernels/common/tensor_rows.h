#pragma once

#include "mote/core/op.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Addresses of the rows of a tensor (its last dimension), numbered over all other dimensions.
class TensorRows {
 public:
  explicit TensorRows(const Tensor& t) : data_(t.as<uint8_t>()), rank_(t.rank() - 1) {
    for (int i = 0; i < rank_; ++i) dims_[i] = t.dim(i), strides_[i] = t.stride(i);
    // Dimensions whose strides continue each other are merged, so that most tensors need no division.
    while (rank_ > 1 && strides_[rank_ - 2] == strides_[rank_ - 1] * dims_[rank_ - 1]) {
      dims_[rank_ - 2] *= dims_[rank_ - 1];
      strides_[rank_ - 2] = strides_[rank_ - 1];
      --rank_;
    }
  }
  // How many rows from `row` on lie stride() bytes apart.
  int32_t evenly_spaced(int32_t row) const { return dims_[rank_ - 1] - row % dims_[rank_ - 1]; }
  int32_t stride() const { return strides_[rank_ - 1]; }
  uint8_t* operator()(int32_t row) const {
    int64_t offset = 0;
    for (int i = rank_ - 1; i > 0; --i) {
      offset += int64_t{row % dims_[i]} * strides_[i];
      row /= dims_[i];
    }
    return data_ + offset + int64_t{row} * strides_[0];
  }

 private:
  uint8_t* data_;
  int rank_;
  int32_t dims_[kMaxRank], strides_[kMaxRank];
};

}  // namespace mote::kernels::MOTE_ISA_NAME
