#pragma once

// Which kernels this build has: without Highway when it was configured, none but the portable ones.

#include <string>
#include <vector>

namespace mote::tools {

// "portable", then those of instruction sets.
std::vector<std::string> kernel_names();

// Said wherever somebody may wonder about speed. Empty when there are fast kernels.
std::string no_fast_kernels();

}  // namespace mote::tools
