#pragma once

#include <string>

namespace mote::backends::opencl {

// All of kernels/*.cl as one text, the tiled product once for each size of tile.
std::string kernel_source();

}  // namespace mote::backends::opencl
