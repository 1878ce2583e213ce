#pragma once

// The device of this process: found and its kernels built when first asked for, then shared by all sessions.

#include <string>

#include "mote/backends/opencl/cl_api.h"

namespace mote::backends::opencl {

// What the runtime reports when something fails; describe() has the texts.
enum Error : uint32_t {
  kOk = 0,
  kNoLibrary,
  kNoDevice,
  kDriverTooOld,
  kVersionUnfit,
  kCapabilityMissing,
  kBlobBroken,
  kOperandsUnfit,
  kBuildFailed,
  kOutOfMemory,
  kCommandFailed,
  kDeviceLost,
};
const char* describe(uint32_t error);
// What a failure of the driver means.
Error error_of(cl_int code);

struct Device {
  const Api* api = nullptr;
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_program program = nullptr;
  cl_uint compute_units = 1;
  std::string name, driver;
};

// The device: the first GPU, else the first of any kind; MOTE_OPENCL_DEVICE=N takes the Nth of all. Null with *error and, for logs,
// *detail.
const Device* find_device(Error* error, std::string* detail);

}  // namespace mote::backends::opencl
