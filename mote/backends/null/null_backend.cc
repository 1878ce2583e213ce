#include "mote/backends/null/null_backend.h"

#include <cstring>

#include "mote/core/tensor.h"

namespace mote::backends {
namespace {

constexpr const char* kVersion = "1";
constexpr const char* kCapability = "copy";
constexpr char kCopy[] = {'c', 'o', 'p', 'y'};

// The runtime reports "the backend failed" with this number.
enum Error : uint32_t { kOk = 0, kVersionUnfit, kCapabilityMissing, kBlobUnknown, kEntryUnknown, kOperandsUnfit };

// What init() prepares and execute() uses. A real backend has one per handle; this one needs nothing that differs.
struct Plan {
  uint32_t (*run)(const mote_backend_tensor& from, const mote_backend_tensor& to);
};

// Copies row by row: operands may be views with gaps between their rows, only the innermost dimension is dense.
uint32_t copy(const mote_backend_tensor& from, const mote_backend_tensor& to) {
  const uint32_t element = dtype_bytes(static_cast<DType>(from.dtype));
  const int last = from.rank - 1;
  const size_t row = from.rank == 0 ? element : static_cast<size_t>(from.dims[last]) * element;
  int32_t at[kMaxRank] = {};
  for (int i = 0; i < from.rank; ++i)
    if (from.dims[i] == 0) return kOk;
  for (;;) {
    const auto* in = static_cast<const uint8_t*>(from.data);
    auto* out = static_cast<uint8_t*>(to.data);
    for (int i = 0; i < last; ++i) {
      in += static_cast<int64_t>(at[i]) * from.strides[i];
      out += static_cast<int64_t>(at[i]) * to.strides[i];
    }
    std::memmove(out, in, row);
    int i = last - 1;
    while (i >= 0 && ++at[i] == from.dims[i]) at[i--] = 0;
    if (i < 0) return kOk;
  }
}

Plan copy_plan = {&copy};

bool same_type(const mote_backend_tensor& a, const mote_backend_tensor& b) {
  if (a.dtype != b.dtype || a.rank != b.rank || dtype_bytes(static_cast<DType>(a.dtype)) == 0) return false;
  for (int i = 0; i < a.rank; ++i)
    if (a.dims[i] != b.dims[i]) return false;
  return true;
}

// A program states what its blob needs: the version of the backend it was compiled for, and capabilities. Both are the
// backend's own language; a real one would run the blobs of its older versions.
uint32_t probe(const char* version, const char* capabilities) {
  if (std::strcmp(version, kVersion) != 0) return kVersionUnfit;
  return *capabilities == 0 || std::strcmp(capabilities, kCapability) == 0 ? kOk : kCapabilityMissing;
}

uint32_t init(const mote_backend_blob* blob, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
              uint32_t output_count, void** handle, uint32_t* release_blob) {
  if (blob->size != sizeof kCopy || std::memcmp(blob->data, kCopy, sizeof kCopy) != 0) return kBlobUnknown;
  if (blob->entry != 0) return kEntryUnknown;
  if (input_count != output_count) return kOperandsUnfit;
  for (uint32_t i = 0; i < input_count; ++i)
    if (!same_type(inputs[i], outputs[i])) return kOperandsUnfit;
  *handle = &copy_plan;
  *release_blob = 1;  // everything it said is in the plan
  return kOk;
}

uint32_t execute(void* handle, const mote_backend_tensor* inputs, uint32_t, const mote_backend_tensor* outputs, uint32_t output_count) {
  const Plan& plan = *static_cast<const Plan*>(handle);
  for (uint32_t i = 0; i < output_count; ++i)
    if (const uint32_t error = plan.run(inputs[i], outputs[i])) return error;
  return kOk;
}

// Gives back what init() took; the one plan here is static.
void destroy(void*) {}

const char* describe(uint32_t error) {
  static constexpr const char* kTexts[] = {"",
                                           "the program was made for another version of this backend",
                                           "the program needs a capability this backend has not",
                                           "the blob is not \"copy\"",
                                           "the blob has one entry point, 0",
                                           "inputs and outputs differ in number or type"};
  return error < sizeof kTexts / sizeof *kTexts ? kTexts[error] : "";
}

constexpr mote_backend kBackend = {MOTE_BACKEND_ABI, "null",    kVersion, &probe,  &init,  &execute,
                                   &destroy,         &describe, nullptr,  nullptr, nullptr};

}  // namespace

const mote_backend* null_backend() noexcept { return &kBackend; }

}  // namespace mote::backends
