#include "mote/backends/opencl/device.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "mote/backends/opencl/sources.h"

namespace mote::backends::opencl {
namespace {

std::string info_of(const Api& cl, cl_device_id id, cl_device_info what) {
  size_t size = 0;
  if (cl.clGetDeviceInfo(id, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  cl.clGetDeviceInfo(id, what, size, &text[0], nullptr);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

struct Candidate {
  cl_platform_id platform;
  cl_device_id id;
  bool gpu;
};

std::vector<Candidate> all_devices(const Api& cl) {
  std::vector<Candidate> all;
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  if (cl.clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) return all;
  for (cl_uint p = 0; p < platform_count && p < 16; ++p) {
    cl_device_id ids[32];
    cl_uint count = 0;
    if (cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 32, ids, &count) != CL_SUCCESS) continue;
    for (cl_uint i = 0; i < count && i < 32; ++i) {
      cl_device_type type = 0;
      cl.clGetDeviceInfo(ids[i], CL_DEVICE_TYPE, sizeof type, &type, nullptr);
      all.push_back({platforms[p], ids[i], (type & CL_DEVICE_TYPE_GPU) != 0});
    }
  }
  return all;
}

const Candidate* choose(const std::vector<Candidate>& all) {
  if (const char* wanted = std::getenv("MOTE_OPENCL_DEVICE")) {
    const auto n = static_cast<size_t>(std::strtoul(wanted, nullptr, 10));
    return n < all.size() ? &all[n] : nullptr;
  }
  for (const Candidate& c : all)
    if (c.gpu) return &c;
  return all.empty() ? nullptr : &all[0];
}

// "OpenCL 1.2 ..." or later.
bool is_recent(const std::string& version) {
  int major = 0, minor = 0;
  return std::sscanf(version.c_str(), "OpenCL %d.%d", &major, &minor) == 2 && (major > 1 || (major == 1 && minor >= 2));
}

Error build(Device* d, std::string* detail) {
  const Api& cl = *d->api;
  const std::string source = kernel_source();
  const char* text = source.c_str();
  const size_t length = source.size();
  cl_int code = CL_SUCCESS;
  d->program = cl.clCreateProgramWithSource(d->context, 1, &text, &length, &code);
  if (code != CL_SUCCESS) return kBuildFailed;
  if (cl.clBuildProgram(d->program, 1, &d->id, "-cl-std=CL1.2", nullptr, nullptr) == CL_SUCCESS) return kOk;
  size_t size = 0;
  cl.clGetProgramBuildInfo(d->program, d->id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  detail->resize(size);
  if (size > 0) cl.clGetProgramBuildInfo(d->program, d->id, CL_PROGRAM_BUILD_LOG, size, &(*detail)[0], nullptr);
  return kBuildFailed;
}

Error open(Device* d, std::string* detail) {
  d->api = find_api(detail);
  if (d->api == nullptr) return kNoLibrary;
  const std::vector<Candidate> all = all_devices(*d->api);
  const Candidate* chosen = choose(all);
  if (chosen == nullptr) {
    *detail = std::to_string(all.size()) + " devices were found";
    return kNoDevice;
  }
  d->platform = chosen->platform;
  d->id = chosen->id;
  d->name = info_of(*d->api, d->id, CL_DEVICE_NAME);
  d->driver = info_of(*d->api, d->id, CL_DRIVER_VERSION);
  const std::string version = info_of(*d->api, d->id, CL_DEVICE_VERSION);
  if (!is_recent(version)) {
    *detail = d->name + " has " + version;
    return kDriverTooOld;
  }
  d->api->clGetDeviceInfo(d->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof d->compute_units, &d->compute_units, nullptr);
  cl_int code = CL_SUCCESS;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(d->platform), 0};
  d->context = d->api->clCreateContext(properties, 1, &d->id, nullptr, nullptr, &code);
  return code == CL_SUCCESS ? build(d, detail) : error_of(code);
}

}  // namespace

const char* describe(uint32_t error) {
  switch (error) {
    case kNoLibrary: return "no OpenCL on this system: libOpenCL.so.1 was not found";
    case kNoDevice: return "OpenCL is there, but no device";
    case kDriverTooOld: return "the device's driver is older than OpenCL 1.2";
    case kVersionUnfit: return "the program's part for OpenCL was made for another version of this backend";
    case kCapabilityMissing: return "the device lacks a capability the program needs";
    case kBlobBroken: return "the program's part for OpenCL is damaged";
    case kOperandsUnfit: return "the program's part for OpenCL does not fit its operands";
    case kBuildFailed: return "the device's compiler refused the kernels";
    case kOutOfMemory: return "the device has too little memory";
    case kCommandFailed: return "a command failed on the device";
    case kDeviceLost: return "the device was lost";
    default: return "";
  }
}

Error error_of(cl_int code) {
  switch (code) {
    case CL_SUCCESS: return kOk;
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_BUFFER_SIZE: return kOutOfMemory;
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_INVALID_DEVICE:
    case CL_INVALID_CONTEXT: return kDeviceLost;
    default: return kCommandFailed;
  }
}

const Device* find_device(Error* error, std::string* detail) {
  static std::mutex mutex;
  static Device device;
  static Error outcome = kOk;
  static std::string reason;
  static bool tried = false;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!tried) {
    tried = true;
    outcome = open(&device, &reason);
  }
  *error = outcome;
  *detail = reason;
  return outcome == kOk ? &device : nullptr;
}

}  // namespace mote::backends::opencl
