#pragma once

#include "mote/compiler/frontends/tflite/model.h"

namespace mote::frontends::tflite {

// Writes the dense elements of a sparse constant into `out`, which has their size. False with *error when its description of the sparse
// layout contradicts itself, the shape or the data.
bool densify(const Tensor& tensor, const ir::Dims& dims, std::vector<uint8_t>* out, std::string* error);

}  // namespace mote::frontends::tflite
