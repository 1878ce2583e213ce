#include "mote/backends/opencl/opencl_backend.h"

#include <cstring>
#include <memory>
#include <new>

#include "mote/backends/opencl/session.h"
#include "mote/backends/opencl/version.h"
#include "mote/ops/op_table.h"

namespace mote::backends {
namespace opencl {
namespace {

// Every word of the list must be one this backend knows.
bool capable(const char* capabilities) {
  for (const char* at = capabilities; *at != 0;) {
    const char* end = std::strchr(at, ' ');
    const size_t length = end != nullptr ? static_cast<size_t>(end - at) : std::strlen(at);
    if (length > 0 && (length != std::strlen(kCapabilities) || std::strncmp(at, kCapabilities, length) != 0)) return false;
    at += length + (end != nullptr ? 1 : 0);
  }
  return true;
}

uint32_t probe(const char* version, const char* capabilities) {
  if (std::strcmp(version, kVersion) != 0) return kVersionUnfit;
  if (!capable(capabilities)) return kCapabilityMissing;
  Error error = kOk;
  std::string detail;
  return find_device(&error, &detail) != nullptr ? kOk : error;
}

// The blob's own inputs and outputs are the operands.
bool fits(const Program& program, const mote_backend_tensor* operands, uint32_t count, bool output) {
  const ProgramTable& t = program.table();
  const Method& m = t.methods[0];
  if (count != (output ? m.output_count : m.input_count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const TensorDesc& d = t.tensors[t.ios[(output ? m.first_output : m.first_input) + i].tensor];
    const mote_backend_tensor& o = operands[i];
    if (o.dtype != static_cast<uint8_t>(d.dtype) || o.rank != d.rank || std::memcmp(o.dims, d.dims, sizeof *d.dims * d.rank) != 0)
      return false;
  }
  return true;
}

uint32_t init(const mote_backend_blob* blob, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
              uint32_t output_count, void** handle, uint32_t* release_blob) try {
  Error error = kOk;
  std::string detail;
  const Device* device = find_device(&error, &detail);
  if (device == nullptr) return error;
  const OpRegistry ops{builtin_ops()};
  Program program;
  Plan plan;
  Diagnostic diagnostic;
  ProgramSource source;
  source.file = {blob->data, static_cast<size_t>(blob->size)};
  if (blob->entry != 0 || !Program::open(source, ops, &program, &diagnostic).ok()) return kBlobBroken;
  if (!make_plan(program, device->compute_units, &plan, &detail)) return kBlobBroken;
  if (!fits(program, inputs, input_count, false) || !fits(program, outputs, output_count, true)) return kOperandsUnfit;
  auto session = std::make_unique<Session>(*device);
  if (const Error e = session->create(plan)) return e;
  *handle = session.release();
  *release_blob = 1;
  return kOk;
} catch (const std::bad_alloc&) {
  return kOutOfMemory;
}

uint32_t execute(void* handle, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
                 uint32_t output_count) try {
  return static_cast<Session*>(handle)->run(inputs, input_count, outputs, output_count);
} catch (const std::bad_alloc&) {
  return kOutOfMemory;
}

void destroy(void* handle) { delete static_cast<Session*>(handle); }

constexpr mote_backend kBackend = {MOTE_BACKEND_ABI, kName, kVersion, &probe, &init, &execute, &destroy, &describe};

}  // namespace
}  // namespace opencl

const mote_backend* opencl_backend() noexcept { return &opencl::kBackend; }

}  // namespace mote::backends
