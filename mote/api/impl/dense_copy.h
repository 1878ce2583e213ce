#pragma once

#include "mote/core/tensor.h"

namespace mote::api {

// Copies between a tensor (plain layout, any strides) and dense bytes. Booleans that come in are made 0 or 1, since kernels
// may take that for granted.
void copy_to_tensor(const Tensor& tensor, const void* dense) noexcept;
void copy_from_tensor(const Tensor& tensor, void* dense) noexcept;

}  // namespace mote::api
