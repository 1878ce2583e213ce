#include "mote/backends/opencl/device.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <vector>

#include "mote/api/backend.h"
#include "mote/backends/common/guard.h"
#include "mote/backends/opencl/binary_cache.h"
#include "mote/backends/opencl/sources.h"
#include "mote/backends/opencl/version.h"

namespace mote::backends::opencl {
namespace {

static_assert((kNoLibrary & MOTE_BACKEND_ABSENT) != 0, "the runtime tells absent devices by this bit");
// Extensions that kernels have a form for.
constexpr const char* kDotExtension = "cl_khr_integer_dot_product";

std::string build_options(uint32_t form) {
  std::string s = "-cl-std=CL1.2";
  if ((form & kHalfIn) != 0) s += " -DMOTE_HALF_IN";
  if ((form & kHalfOut) != 0) s += " -DMOTE_HALF_OUT";
  if ((form & kHalfMath) != 0) s += " -DMOTE_HALF_MATH";
  if ((form & kByteDots) != 0) s += " -DMOTE_BYTE_DOTS";
  return s;
}

bool may_use_extensions() {
  const char* wish = std::getenv("MOTE_OPENCL_EXTENSIONS");
  return wish == nullptr || std::string(wish) != "0";
}

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

std::string build_log(const Device& d, cl_program program) {
  size_t size = 0;
  d.api->clGetProgramBuildInfo(program, d.id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  if (size > 0) d.api->clGetProgramBuildInfo(program, d.id, CL_PROGRAM_BUILD_LOG, size, &log[0], nullptr);
  return log;
}

Error build_source(const Device* d, const char* options, const std::string& source, cl_program* program, std::string* detail) {
  const Api& cl = *d->api;
  const char* text = source.c_str();
  const size_t length = source.size();
  cl_int code = CL_SUCCESS;
  *program = cl.clCreateProgramWithSource(d->context, 1, &text, &length, &code);
  if (code != CL_SUCCESS) return error_of(code);
  code = cl.clBuildProgram(*program, 1, &d->id, options, nullptr, nullptr);
  if (code == CL_SUCCESS) return kOk;
  *detail = build_log(*d, *program);
  return code == CL_BUILD_PROGRAM_FAILURE ? kBuildFailed : error_of(code);
}

// False when the binary is none for this device: a cache may be old, or damaged.
bool build_binary(const Device* d, const char* options, const std::vector<unsigned char>& binary, cl_program* program) {
  const unsigned char* bytes = binary.data();
  const size_t length = binary.size();
  cl_int code = CL_SUCCESS, status = CL_SUCCESS;
  *program = d->api->clCreateProgramWithBinary(d->context, 1, &d->id, &length, &bytes, &status, &code);
  if (code == CL_SUCCESS && status == CL_SUCCESS && d->api->clBuildProgram(*program, 1, &d->id, options, nullptr, nullptr) == CL_SUCCESS)
    return true;
  if (code == CL_SUCCESS && *program != nullptr) d->api->clReleaseProgram(*program);
  *program = nullptr;
  return false;
}

void keep_binary(const Device& d, cl_program program, const std::string& key) {
  size_t size = 0;
  if (d.api->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS || size == 0) return;
  std::vector<unsigned char> binary(size);
  unsigned char* at = binary.data();
  if (d.api->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof at, &at, nullptr) == CL_SUCCESS) store_binary(key, binary);
}

Error build(const Device* d, uint32_t form, const std::string& source, cl_program* program, std::string* detail) {
  const std::string options = build_options(form), key = binary_key({d->name, d->driver, options, source});
  std::vector<unsigned char> binary;
  if (load_binary(key, &binary) && build_binary(d, options.c_str(), binary, program)) return kOk;
  const Error error = build_source(d, options.c_str(), source, program, detail);
  if (error == kOk) keep_binary(*d, *program, key);
  return error;
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
  d->capabilities = {"f32", "opencl-1.2", "f16-storage"};
  std::istringstream extensions(may_use_extensions() ? info_of(*d->api, d->id, CL_DEVICE_EXTENSIONS) : "");
  for (std::string word; extensions >> word;)
    if (word == kHalfExtension || word == kDotExtension) d->capabilities.push_back(word);
  d->api->clGetDeviceInfo(d->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof d->compute_units, &d->compute_units, nullptr);
  cl_int code = CL_SUCCESS;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(d->platform), 0};
  d->context = d->api->clCreateContext(properties, 1, &d->id, nullptr, nullptr, &code);
  return error_of(code);
}

// Never destroyed: a driver may be gone when a process ends.
struct Shared {
  std::mutex mutex;
  std::shared_ptr<const Device> device;
  std::string text;
  uint32_t units = 0;
};
Shared& shared() {
  static Shared* s = new Shared;
  return *s;
}

}  // namespace

Device::~Device() {
  for (const auto& [what, program] : programs) api->clReleaseProgram(program);
  if (context != nullptr) api->clReleaseContext(context);
}

Target Device::target() const { return {compute_units, has_capabilities(kDotExtension, capabilities)}; }

const char* describe(uint32_t error) {
  switch (error) {
    case kNoLibrary: return "no OpenCL on this system: libOpenCL.so.1 was not found";
    case kNoDevice: return "OpenCL is there, but no device";
    case kDriverTooOld: return "the device's driver is older than OpenCL 1.2";
    case kVersionUnfit: return "the program's part for OpenCL was made for another version of this backend";
    case kCapabilityMissing: return "the device lacks a capability the program needs";
    case kNoHalfMath: return "the device has no cl_khr_fp16, which the program's part for opencl_f16a needs";
    case kBlobBroken: return "the program's part for OpenCL is damaged";
    case kOperandsUnfit: return "the program's part for OpenCL does not fit its operands";
    case kBuildFailed: return "the device's compiler refused the kernels";
    case kOutOfMemory: return "the device has too little memory, or other resources";
    case kCommandFailed: return "a command failed on the device";
    case kDeviceLost: return "the device was lost, or its driver stopped";
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
    case CL_INVALID_COMMAND_QUEUE:
    case CL_INVALID_CONTEXT: return kDeviceLost;
    default: return kCommandFailed;
  }
}

std::shared_ptr<const Device> find_device(Error* error, std::string* detail) {
  Shared& s = shared();
  const std::lock_guard<std::mutex> lock(s.mutex);
  *error = kOk;
  if (s.device != nullptr) return s.device;
  auto device = std::make_shared<Device>();
  *error = open(device.get(), detail);
  if (*error != kOk) return nullptr;
  s.device = device;
  s.units = device->compute_units;
  if (s.text.empty()) s.text = device->name + ", driver " + device->driver;
  return s.device;
}

cl_program program_with(const Device& device, const char* kernel, uint32_t form, Error* error) {
  const std::lock_guard<std::mutex> lock(shared().mutex);
  // The device is this module's own; others see it as it is.
  auto& programs = const_cast<Device&>(device).programs;
  const std::string& source = source_of(kernel);
  *error = kOk;
  if (const auto known = programs.find({&source, form}); known != programs.end()) return known->second;
  cl_program program = nullptr;
  std::string detail;
  *error = build(&device, form, source, &program, &detail);
  if (*error == kOk) return programs[{&source, form}] = program;
  if (program != nullptr) device.api->clReleaseProgram(program);
  return nullptr;
}

void give_up(const Device* device) {
  Shared& s = shared();
  std::shared_ptr<const Device> last;  // goes when the lock is open again
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (device == nullptr || s.device.get() == device) last.swap(s.device);
}

const char* device_text(uint32_t* units) {
  *units = 0;
  return guarded_text(
      [&] {
        Shared& s = shared();
        const std::lock_guard<std::mutex> lock(s.mutex);
        *units = s.units;
        return s.text.c_str();
      },
      "");
}

}  // namespace mote::backends::opencl
