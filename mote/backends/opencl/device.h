#pragma once

// The device of this process: found and its kernels built when first asked for, then shared by all sessions. When it fails it is given up,
// and the next who asks gets it anew.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mote/backends/opencl/cl_api.h"
#include "mote/backends/opencl/plan.h"

namespace mote::backends::opencl {

// What the runtime reports when something fails; describe() has the texts.
enum Error : uint32_t {
  kOk = 0,
  kDriverTooOld,
  kVersionUnfit,
  kCapabilityMissing,
  kBlobBroken,
  kOperandsUnfit,
  kBuildFailed,
  kOutOfMemory,
  kCommandFailed,
  kDeviceLost,
  kNoHalfMath,
  kNoLibrary = 0x10000u | 16,  // MOTE_BACKEND_ABSENT
  kNoDevice,
};
const char* describe(uint32_t error);
// What a failure of the driver means.
Error error_of(cl_int code);

struct Device {
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  const Api* api = nullptr;
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  std::map<std::pair<const void*, uint32_t>, cl_program> programs;  // of sources and forms, built when first asked for
  cl_uint compute_units = 1;
  std::string name, driver;
  std::vector<std::string> capabilities;

  Target target() const;
};

// The device: the first GPU, else the first of any kind; MOTE_OPENCL_DEVICE=N takes the Nth of all. Null with *error and, for logs,
// *detail. Any thread.
std::shared_ptr<const Device> find_device(Error* error, std::string* detail);

// The program with a kernel of one form (plan.h). Null with *error.
cl_program program_with(const Device& device, const char* kernel, uint32_t form, Error* error);

// Who sees a device fail says so: the next find_device() begins anew. Null: whichever there is.
void give_up(const Device* device);

// "PoCL basic, driver 3.1", and its compute units: static; "" when no device was found yet.
const char* device_text(uint32_t* units);

}  // namespace mote::backends::opencl
