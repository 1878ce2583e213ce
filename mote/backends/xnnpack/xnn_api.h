#pragma once

// The functions of XNNPACK that are used, found in the system's libXNNPACK when the first program asks for them. Nothing links to it.

#include <xnnpack.h>

namespace mote::backends::xnnpack {

struct Api {
#define MOTE_XNN(name) decltype(&::name) name = nullptr;
#include "mote/backends/xnnpack/xnn_functions.def"
#undef MOTE_XNN
  pthreadpool_t threads = nullptr;  // of all sessions; null: the caller's thread alone
};

// What the runtime reports when something fails; describe() has the texts.
enum Error : uint32_t {
  kOk = 0,
  kVersionUnfit,
  kCapabilityMissing,
  kBlobBroken,
  kOperandsUnfit,
  kOutOfMemory,
  kFailed,
  kNoLibrary = 0x10000u | 16,  // MOTE_BACKEND_ABSENT
  kFunctionMissing,
  kNotThisCpu,
};
const char* describe(uint32_t error);

// Null with *error when the library or one of its functions is not there, or it does not know this CPU. Looked for once; any thread.
const Api* find_api(Error* error);

}  // namespace mote::backends::xnnpack
