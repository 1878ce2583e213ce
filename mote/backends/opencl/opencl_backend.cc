#include "mote/backends/opencl/opencl_backend.h"

#include <cstring>
#include <memory>

#include "mote/backends/common/guard.h"
#include "mote/backends/opencl/blob.h"
#include "mote/backends/opencl/session.h"
#include "mote/backends/opencl/tuning.h"
#include "mote/backends/opencl/version.h"

namespace mote::backends {
namespace opencl {
namespace {

uint32_t find_fault(const char* version, const char* capabilities) {
  if (std::strcmp(version, kVersion) != 0 && std::strcmp(version, kOlderVersion) != 0) return kVersionUnfit;
  Error error = kOk;
  std::string detail;
  const auto device = find_device(&error, &detail);
  if (device == nullptr) return error;
  if (has_capabilities(capabilities, device->capabilities)) return kOk;
  // The one that devices differ in gets a text of its own.
  const bool needs_half = std::strstr(capabilities, kHalfExtension) != nullptr;
  return needs_half && !has_capabilities(kHalfExtension, device->capabilities) ? kNoHalfMath : kCapabilityMissing;
}

uint32_t probe(const char* version, const char* capabilities) {
  return guarded(kOutOfMemory, kCommandFailed, [&] { return find_fault(version, capabilities); });
}

uint32_t prepare(const mote_backend_blob* blob, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
                 uint32_t output_count, void** handle, uint32_t* release_blob) {
  Error error = kOk;
  std::string detail;
  const auto device = find_device(&error, &detail);
  if (device == nullptr) return error;
  Program program;
  Plan plan;
  BlobEnd end;
  uint64_t program_bytes = 0;
  if (blob->entry != 0 || !read_blob(blob->data, blob->size, &program_bytes, &end)) return kBlobBroken;
  if (!open_piece(blob->data, program_bytes, &program)) return kBlobBroken;
  if (!make_plan(program, device->target(), end.narrow, &plan, &detail)) return kBlobBroken;
  if (!operands_fit(program, inputs, input_count, false) || !operands_fit(program, outputs, output_count, true)) return kOperandsUnfit;
  if (const Error e = find_tuning(end.tuning, device, &plan)) {
    give_up(device.get());
    return e;
  }
  auto session = std::make_unique<Session>(device);
  if (const Error e = session->create(plan)) {
    give_up(device.get());
    return e;
  }
  session->set_sizes(program);
  *handle = session.release();
  *release_blob = 1;
  return kOk;
}

uint32_t init(const mote_backend_blob* blob, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
              uint32_t output_count, void** handle, uint32_t* release_blob) {
  return guarded(kOutOfMemory, kCommandFailed,
                 [&] { return prepare(blob, inputs, input_count, outputs, output_count, handle, release_blob); });
}

uint32_t execute(void* handle, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
                 uint32_t output_count) {
  auto& session = *static_cast<Session*>(handle);
  return guarded(kOutOfMemory, kCommandFailed, [&] {
    const Error e = session.submit(inputs, input_count, outputs, output_count);
    return e == kOk ? session.wait() : e;
  });
}

// A session has one run under way at a time: it is its own fence.
uint32_t submit(void* handle, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
                uint32_t output_count, void** fence) {
  *fence = handle;
  return guarded(kOutOfMemory, kCommandFailed,
                 [&] { return static_cast<Session*>(handle)->submit(inputs, input_count, outputs, output_count); });
}

uint32_t wait(void* handle, void*) {
  return guarded(kOutOfMemory, kCommandFailed, [&] { return static_cast<Session*>(handle)->wait(); });
}

void destroy(void* handle) { delete static_cast<Session*>(handle); }

constexpr mote_backend kBackend = {MOTE_BACKEND_ABI, kName,     kVersion,     &probe,  &init, &execute,
                                   &destroy,         &describe, &device_text, &submit, &wait};

constexpr mote_backend kHalfBackend = {MOTE_BACKEND_ABI, kHalfName, kVersion,     &probe,  &init, &execute,
                                       &destroy,         &describe, &device_text, &submit, &wait};

constexpr mote_backend kHalfMathBackend = {MOTE_BACKEND_ABI, kHalfMathName, kVersion,     &probe,  &init, &execute,
                                           &destroy,         &describe,     &device_text, &submit, &wait};

}  // namespace
}  // namespace opencl

const mote_backend* opencl_f16_backend() noexcept { return &opencl::kHalfBackend; }
const mote_backend* opencl_f16a_backend() noexcept { return &opencl::kHalfMathBackend; }
const mote_backend* opencl_backend() noexcept { return &opencl::kBackend; }

}  // namespace mote::backends
