#pragma once

// Operands may have gaps between their rows; devices take dense ones.

#include <cstdint>

#include "mote/api/backend.h"

namespace mote::backends {

bool is_dense(const mote_backend_tensor& t, uint32_t element_bytes);

// Between a tensor with gaps between its rows and dense bytes. Tensors without elements are left alone.
void copy_rows(const mote_backend_tensor& t, uint32_t element_bytes, uint8_t* dense, bool to_dense);

}  // namespace mote::backends
