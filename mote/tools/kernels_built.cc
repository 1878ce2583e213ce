#include "mote/tools/kernels_built.h"

#include "mote/kernels/select.h"

namespace mote::tools {

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (uint8_t i = 0; i < static_cast<uint8_t>(kernels::Isa::kCount); ++i)
    names.emplace_back(kernels::isa_name(static_cast<kernels::Isa>(i)));
  return names;
}

std::string no_fast_kernels() {
  if (kernel_names().size() > 1) return "";
  return "this build has no fast kernels: programs run many times slower than they could; configure it where Highway's headers are "
         "(Debian: libhwy-dev), with MOTE_KERNELS=ON";
}

}  // namespace mote::tools
