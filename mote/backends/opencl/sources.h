#pragma once

#include <string>

namespace mote::backends::opencl {

// The source that has a kernel, with what it builds on; one source has the kernels of one family. Empty: there is no such kernel.
const std::string& source_of(const char* kernel);

}  // namespace mote::backends::opencl
