// What the compiler asks: which operators run here, how long they take, and the blob.

#include "mote/backends/common/families.h"
#include "mote/backends/opencl/blob.h"
#include "mote/backends/opencl/opencl_backend.h"
#include "mote/backends/opencl/storage.h"
#include "mote/backends/opencl/tuning.h"
#include "mote/backends/opencl/version.h"
#include "mote/backends/opencl/work.h"

namespace mote::backends {
namespace opencl {
namespace {

// The three backends: f32, tensors stored as f16, products that multiply in f16 beside that.
enum class Numbers { kSingle, kHalfStorage, kHalfMath };

template <Numbers kNumbers>
const char* supports(const mote_backend_op* op) {
  return supports_by(*op, [](const OpView& v) {
    return kNumbers != Numbers::kSingle && has_bytes(v) ? "8-bit numbers, beside f16" : lower_op(v, nullptr);
  });
}

void work(const mote_backend_op* op, const mote_backend_rates* rates, double* units) {
  const uint32_t error = guarded(1, 1, [&] {
    work_of(op, rates->units > 0 ? static_cast<uint32_t>(rates->units) : Target{}.compute_units, units);
    return 0u;
  });
  if (error != 0) units[kLaunches] += 1;  // nobody measures without memory
}

double cost_ns(const mote_backend_op* op, const mote_backend_rates* rates) {
  double units[MOTE_BACKEND_WORK_KINDS] = {}, ns = 0;
  work(op, rates, units);
  for (uint32_t i = 0; i < kWorkCount; ++i) ns += units[i] * rates->work_ns[i];
  return ns;
}

constexpr double kTolerance = 1e-3, kHalfTolerance = 1e-2;

// For the device of this machine, when it has one.
std::string tuned_here(const Program& piece, const std::vector<uint8_t>& narrow) {
  Error error = kOk;
  std::string why;
  const auto device = find_device(&error, &why);
  Plan plan;
  if (device == nullptr || !make_plan(piece, device->target(), narrow, &plan, &why)) return "";
  return tune(device, plan, &error);
}

template <Numbers kNumbers>
uint32_t make_blob(const uint8_t* program, uint64_t size, void (*emit)(void* self, const void* data, uint64_t bytes), void* self,
                   uint64_t* device_bytes) {
  Program piece;
  if (!open_piece(program, size, &piece)) return 1;
  BlobEnd end;
  constexpr bool kHalf = kNumbers != Numbers::kSingle;
  if (kHalf) end.narrow = choose_narrow(piece, kHalfTolerance, kNumbers == Numbers::kHalfMath);
  if (kHalf && end.narrow.empty()) return 3;
  Plan plan;
  std::string why;
  if (!make_plan(piece, {}, end.narrow, &plan, &why)) return 1;
  // Where hardly a tensor can be f16, both kinds and the conversions between them take more than f32 alone.
  Plan plain;
  if (kHalf && make_plan(piece, {}, {}, &plain, &why) && plain.device_bytes() <= plan.device_bytes()) {
    end.narrow.clear();
    plan = std::move(plain);
  }
  *device_bytes = plan.device_bytes();
  if (wants_tuning()) end.tuning = tuned_here(piece, end.narrow);
  emit(self, program, size);
  const std::vector<uint8_t> bytes = bytes_of(end);
  emit(self, bytes.data(), bytes.size());
  return 0;
}

template <Numbers kNumbers>
uint32_t lower(const uint8_t* program, uint64_t size, void (*emit)(void* self, const void* data, uint64_t bytes), void* self,
               uint64_t* device_bytes) {
  return guarded(2, 4, [&] { return make_blob<kNumbers>(program, size, emit, self, device_bytes); });
}

// Of a phone's GPU of the better kind: what is assumed until the user's device was measured.
constexpr mote_backend_rates kRates = {
    300, 20, 5, 0, 150000, 0, {15000, 0.0067, 0.01, 0.013, 0.03,   0.05, 0.05,  0.4,  0.4, 0.4, 0.05, 0.05,
                               0.8,   1.6,    0.2,  0.1,   0.0067, 0.01, 0.013, 0.05, 0.8, 0.1, 0.4}};
template <Numbers kNumbers>
constexpr mote_backend_compiler compiler_of(const char* name, const char* capabilities, double tolerance) {
  return {MOTE_BACKEND_COMPILER_ABI, name,       kVersion,   capabilities, kRates,   &supports<kNumbers>, &cost_ns,
          &lower<kNumbers>,          kWorkCount, kWorkNames, &work,        tolerance};
}
constexpr mote_backend_compiler kCompiler = compiler_of<Numbers::kSingle>(kName, kCapabilities, kTolerance);
constexpr mote_backend_compiler kHalfCompiler = compiler_of<Numbers::kHalfStorage>(kHalfName, kHalfCapabilities, kHalfTolerance);
constexpr mote_backend_compiler kHalfMathCompiler = compiler_of<Numbers::kHalfMath>(kHalfMathName, kHalfMathCapabilities, kHalfTolerance);

}  // namespace
}  // namespace opencl

const mote_backend_compiler* opencl_f16_compiler() noexcept { return &opencl::kHalfCompiler; }
const mote_backend_compiler* opencl_f16a_compiler() noexcept { return &opencl::kHalfMathCompiler; }
const mote_backend_compiler* opencl_compiler() noexcept { return &opencl::kCompiler; }

}  // namespace mote::backends
