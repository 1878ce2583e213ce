#include "mote/backends/xnnpack/xnnpack_backend.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "mote/backends/common/families.h"
#include "mote/backends/common/guard.h"
#include "mote/backends/xnnpack/operators.h"

namespace mote::backends {
namespace xnnpack {
namespace {

constexpr const char* kName = "xnnpack";
constexpr const char* kVersion = "1";  // of the blobs
constexpr const char* kCapabilities = "f32";

// --- on the device: this CPU ------------------------------------------------------------------------------------------

uint32_t probe(const char* version, const char* capabilities) {
  return guarded(kOutOfMemory, kFailed, [&]() -> uint32_t {
    if (std::strcmp(version, kVersion) != 0) return kVersionUnfit;
    if (!has_capabilities(capabilities, {kCapabilities})) return kCapabilityMissing;
    Error error = kOk;
    return find_api(&error) != nullptr ? kOk : error;
  });
}

Error prepare(const mote_backend_blob* blob, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
              uint32_t output_count, void** handle, uint32_t* release_blob) {
  Error error = kOk;
  const Api* api = find_api(&error);
  if (api == nullptr) return error;
  Program program;
  Piece piece;
  std::string why;
  if (blob->entry != 0 || !open_piece(blob->data, blob->size, &program) || !read_piece(program, &piece, &why)) return kBlobBroken;
  if (!operands_fit(program, inputs, input_count, false) || !operands_fit(program, outputs, output_count, true)) return kOperandsUnfit;
  auto session = std::make_unique<Session>(*api);
  if (const Error e = session->create(program, piece)) return e;
  *handle = session.release();
  *release_blob = 1;  // the library packs weights anew
  return kOk;
}

uint32_t init(const mote_backend_blob* blob, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
              uint32_t output_count, void** handle, uint32_t* release_blob) {
  return guarded(kOutOfMemory, kFailed, [&] { return prepare(blob, inputs, input_count, outputs, output_count, handle, release_blob); });
}

uint32_t execute(void* handle, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
                 uint32_t output_count) {
  return guarded(kOutOfMemory, kFailed, [&] { return static_cast<Session*>(handle)->run(inputs, input_count, outputs, output_count); });
}

void destroy(void* handle) { delete static_cast<Session*>(handle); }

const char* device(uint32_t* units) {
  *units = 1;
  return guarded_text(
      [] {
        Error error = kOk;
        return find_api(&error) != nullptr ? "this CPU, XNNPACK" : "";
      },
      "");
}

constexpr mote_backend kBackend = {MOTE_BACKEND_ABI, kName,     kVersion, &probe,  &init,  &execute,
                                   &destroy,         &describe, &device,  nullptr, nullptr};

// --- what the compiler asks -------------------------------------------------------------------------------------------

enum Work : uint32_t { kLaunch, kProducts, kWindows, kBytes, kWorkCount };
constexpr const char* kWorkNames[] = {"launch", "product_macs", "window_macs", "bytes"};

const char* supports(const mote_backend_op* op) {
  return supports_by(*op, [](const OpView& v) { return lower_op(v, nullptr); });
}

// Few multiply-adds for each byte: windows over single channels, and products of one row with weights.
void work(const mote_backend_op* op, const mote_backend_rates*, double* units) {
  units[kLaunch] += 1;
  const auto macs = static_cast<double>(op->macs), bytes = static_cast<double>(op->bytes);
  if (op->macs == 0) units[kBytes] += bytes;
  else units[macs < 4 * bytes ? kWindows : kProducts] += macs;
}

double cost_ns(const mote_backend_op* op, const mote_backend_rates* rates) {
  double units[MOTE_BACKEND_WORK_KINDS] = {}, ns = 0;
  work(op, rates, units);
  for (uint32_t i = 0; i < kWorkCount; ++i) ns += units[i] * rates->work_ns[i];
  return ns;
}

// Buffers as the piece plans them, and weights once more in the library's own form.
uint32_t lower(const uint8_t* program, uint64_t size, void (*emit)(void* self, const void* data, uint64_t bytes), void* self,
               uint64_t* device_bytes) {
  return guarded(3, 4, [&]() -> uint32_t {
    Program opened;
    Piece piece;
    std::string why;
    if (!open_piece(program, size, &opened) || !read_piece(opened, &piece, &why)) return 1;
    *device_bytes = 0;
    for (uint64_t bytes : piece.buffer_bytes) *device_bytes += bytes + XNN_EXTRA_BYTES;
    for (const OpView& op : piece.ops) {
      if (lower_op(op, nullptr) != nullptr) return 2;
      for (const Operand& o : op.inputs)
        if (o.present && o.data != nullptr) *device_bytes += static_cast<uint64_t>(o.count()) * sizeof(float) + XNN_EXTRA_BYTES;
    }
    emit(self, program, size);
    return 0;
  });
}

// Of one core of a usual CPU; `mote measure --backend xnnpack` finds out.
constexpr mote_backend_rates kRates = {40, 10, 10, 0, 2000, 0, {800, 0.05, 0.15, 0.1}};
constexpr mote_backend_compiler kCompiler = {
    MOTE_BACKEND_COMPILER_ABI, kName, kVersion, kCapabilities, kRates, &supports, &cost_ns, &lower, kWorkCount, kWorkNames, &work, 0};

}  // namespace
}  // namespace xnnpack

const mote_backend* xnnpack_backend() noexcept { return &xnnpack::kBackend; }
const mote_backend_compiler* xnnpack_compiler() noexcept { return &xnnpack::kCompiler; }

}  // namespace mote::backends
