#include "mote/backends/xnnpack/xnn_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>

#include "mote/api/backend.h"

namespace mote::backends::xnnpack {
namespace {

static_assert((kNoLibrary & MOTE_BACKEND_ABSENT) != 0, "the runtime tells absent libraries by this bit");
constexpr unsigned long kMostThreads = 256;

// A pool of the library that XNNPACK itself uses, where the user wants threads.
pthreadpool_t make_threads(void* library) {
  const char* wanted = std::getenv("MOTE_XNNPACK_THREADS");
  const unsigned long count = wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 1;
  if (count < 2 || count > kMostThreads) return nullptr;
  auto create = reinterpret_cast<decltype(&::pthreadpool_create)>(dlsym(library, "pthreadpool_create"));
  return create != nullptr ? create(count) : nullptr;
}

struct Found {
  Api api;
  Error error = kOk;

  Found() {
    void* library = nullptr;
    for (const char* name : {"libXNNPACK.so.0", "libXNNPACK.so"}) {
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) break;
    }
    if (library == nullptr) {
      error = kNoLibrary;
      return;
    }
#define MOTE_XNN(name)                                                    \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  if (api.name == nullptr) error = kFunctionMissing;
#include "mote/backends/xnnpack/xnn_functions.def"
#undef MOTE_XNN
    if (error != kOk) return;
    if (api.xnn_initialize(nullptr) != xnn_status_success) error = kNotThisCpu;
    else api.threads = make_threads(library);
  }
};

}  // namespace

const char* describe(uint32_t error) {
  switch (error) {
    case kVersionUnfit: return "the program's part for XNNPACK was made for another version of this backend";
    case kCapabilityMissing: return "the program needs a capability this backend has not";
    case kBlobBroken: return "the program's part for XNNPACK is damaged";
    case kOperandsUnfit: return "the program's part for XNNPACK does not fit its operands";
    case kOutOfMemory: return "there is too little memory";
    case kFailed: return "XNNPACK refused an operator, or failed to run one";
    case kNoLibrary: return "no XNNPACK on this system: libXNNPACK.so.0 was not found";
    case kFunctionMissing: return "this libXNNPACK lacks a function that is needed";
    case kNotThisCpu: return "XNNPACK does not run on this CPU";
    default: return "";
  }
}

const Api* find_api(Error* error) {
  static const Found found;
  *error = found.error;
  return found.error == kOk ? &found.api : nullptr;
}

}  // namespace mote::backends::xnnpack
