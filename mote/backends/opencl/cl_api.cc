#include "mote/backends/opencl/cl_api.h"

#include <dlfcn.h>

#include <atomic>

namespace mote::backends::opencl {
namespace {

std::atomic<const Api*> replacement{nullptr};

struct Found {
  Api api;
  std::string why;

  Found() {
    void* library = nullptr;
    for (const char* name : {"libOpenCL.so.1", "libOpenCL.so"}) {
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) break;
    }
    if (library == nullptr) {
      why = "there is no libOpenCL.so.1 on this system";
      return;
    }
#define MOTE_CL(name)                                                     \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  if (api.name == nullptr && why.empty()) why = "libOpenCL has no function " #name;
#include "mote/backends/opencl/cl_functions.def"
#undef MOTE_CL
  }
};

}  // namespace

void replace_api(const Api* api) { replacement = api; }

const Api* find_api(std::string* why) {
  static const Found found;
  if (const Api* other = replacement) return other;
  if (!found.why.empty()) *why = found.why;
  return found.why.empty() ? &found.api : nullptr;
}

}  // namespace mote::backends::opencl
