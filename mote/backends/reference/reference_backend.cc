#include "mote/backends/reference/reference_backend.h"

#include <cstring>
#include <memory>
#include <vector>

#include "mote/backends/common/guard.h"
#include "mote/backends/common/host_runner.h"
#include "mote/backends/common/piece.h"
#include "mote/backends/common/rows.h"

namespace mote::backends {

KernelFn (*reference_kernels)(uint16_t op, const OpContext&) noexcept = nullptr;

namespace {

enum Error : uint32_t { kOk = 0, kVersionUnfit, kBlobBroken, kOperandsUnfit, kOutOfMemory, kRunFailed };
constexpr const char* kVersion = "1";

// The piece with a copy of its bytes.
struct Runner {
  std::vector<uint64_t> file;
  Program program;
  HostRunner host;
  PieceSizes inputs, outputs;
};

uint32_t probe(const char* version, const char*) { return std::strcmp(version, kVersion) == 0 ? kOk : kVersionUnfit; }

Error prepare(const mote_backend_blob* blob, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
              uint32_t output_count, void** handle, uint32_t* release_blob) {
  auto r = std::make_unique<Runner>();
  r->file.resize(static_cast<size_t>(blob->size / 8) + 2);
  auto* bytes = reinterpret_cast<uint8_t*>(r->file.data());
  bytes += reinterpret_cast<uintptr_t>(bytes) % 16 != 0 ? 8 : 0;
  if (blob->size != 0) std::memcpy(bytes, blob->data, static_cast<size_t>(blob->size));
  if (blob->entry != 0 || !open_piece(bytes, blob->size, &r->program)) return kBlobBroken;
  if (!operands_fit(r->program, inputs, input_count, false) || !operands_fit(r->program, outputs, output_count, true))
    return kOperandsUnfit;
  if (!r->host.create(r->program, reference_kernels)) return kBlobBroken;
  r->inputs = PieceSizes(r->program, false);
  r->outputs = PieceSizes(r->program, true);
  *handle = r.release();
  *release_blob = 1;
  return kOk;
}

uint32_t init(const mote_backend_blob* blob, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
              uint32_t output_count, void** handle, uint32_t* release_blob) {
  return guarded(kOutOfMemory, kRunFailed, [&] { return prepare(blob, inputs, input_count, outputs, output_count, handle, release_blob); });
}

Error run(Runner& r, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs, uint32_t output_count) {
  if (!r.inputs.fit(inputs, input_count) || !r.outputs.fit(outputs, output_count)) return kOperandsUnfit;
  const auto width = [](const mote_backend_tensor& t) { return dtype_bytes(static_cast<DType>(t.dtype)); };
  for (uint32_t i = 0; i < input_count; ++i) copy_rows(inputs[i], width(inputs[i]), r.host.input(i), true);
  if (!r.host.run()) return kRunFailed;
  for (uint32_t i = 0; i < output_count; ++i) copy_rows(outputs[i], width(outputs[i]), r.host.output(i), false);
  return kOk;
}

uint32_t execute(void* handle, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
                 uint32_t output_count) {
  return guarded(kOutOfMemory, kRunFailed, [&] { return run(*static_cast<Runner*>(handle), inputs, input_count, outputs, output_count); });
}

void destroy(void* handle) { delete static_cast<Runner*>(handle); }

const char* describe(uint32_t error) {
  static constexpr const char* kTexts[] = {"",
                                           "the program's part was made for another version of this backend",
                                           "the program's part is no Mote program",
                                           "the program's part does not fit its operands",
                                           "there is too little memory",
                                           "an operator of the part failed"};
  return error < sizeof kTexts / sizeof *kTexts ? kTexts[error] : "";
}

const char* device(uint32_t* units) {
  *units = 1;
  return "this CPU, Mote's kernels";
}

constexpr mote_backend kBackend = {MOTE_BACKEND_ABI, "reference", kVersion, &probe,  &init,  &execute,
                                   &destroy,         &describe,   &device,  nullptr, nullptr};

const char* supports(const mote_backend_op* op) {
  return guarded_text([&] {
    const char* why = nullptr;
    (void)view_of(*op, &why);
    return why;
  });
}

double cost_ns(const mote_backend_op*, const mote_backend_rates*) { return 0; }

uint32_t lower(const uint8_t* program, uint64_t size, void (*emit)(void* self, const void* data, uint64_t bytes), void* self,
               uint64_t* device_bytes) {
  *device_bytes = 0;  // it computes in the CPU's memory
  return guarded(kOutOfMemory, kRunFailed, [&] {
    emit(self, program, size);
    return kOk;
  });
}

constexpr mote_backend_compiler kCompiler = {
    MOTE_BACKEND_COMPILER_ABI, "reference", kVersion, "", {}, &supports, &cost_ns, &lower, 0, nullptr, nullptr, 0};

}  // namespace

const mote_backend* reference_backend() noexcept { return &kBackend; }
const mote_backend_compiler* reference_compiler() noexcept { return &kCompiler; }

}  // namespace mote::backends
