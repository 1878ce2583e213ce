// What the compiler asks: which operators run here, how long they take, and the blob, which is the piece's program as it is.

#include <algorithm>
#include <new>

#include "mote/backends/opencl/opencl_backend.h"
#include "mote/backends/opencl/plan.h"
#include "mote/backends/opencl/version.h"
#include "mote/ops/op_table.h"

namespace mote::backends {
namespace opencl {
namespace {

constexpr uint32_t kUsualUnits = 16;  // for stating memory when the device is not known

Operand operand_of(const mote_backend_operand& o) {
  Operand r;
  r.present = o.present != 0;
  if (!r.present) return r;
  r.dtype = static_cast<DType>(o.dtype);
  r.rank = o.rank;
  std::copy(o.dims, o.dims + o.rank, r.dims);
  r.layout = static_cast<Layout>(o.layout);
  r.data = o.data;
  return r;
}

const char* supports(const mote_backend_op* op) try {
  OpView v;
  v.op = op->op;
  v.attrs = op->attrs;
  for (const auto* list : {&op->inputs, &op->outputs}) {
    const uint32_t count = list == &op->inputs ? op->input_count : op->output_count;
    for (uint32_t i = 0; i < count; ++i) {
      if ((*list)[i].present != 0 && (*list)[i].dynamic != 0) return "its sizes are known only when running";
      (list == &op->inputs ? v.inputs : v.outputs).push_back(operand_of((*list)[i]));
    }
  }
  return lower_op(v, nullptr);
} catch (const std::bad_alloc&) {
  return "there is too little memory";
}

double cost_ns(const mote_backend_op* op, const mote_backend_rates* rates) {
  const double arithmetic = rates->gflops > 0 ? 2 * static_cast<double>(op->macs) / rates->gflops : 0;
  const double moved = rates->memory_gbps > 0 ? static_cast<double>(op->bytes) / rates->memory_gbps : 0;
  return std::max(arithmetic, moved);
}

uint32_t lower(const uint8_t* program, uint64_t size, void (*emit)(void* self, const void* data, uint64_t bytes), void* self,
               uint64_t* device_bytes) try {
  const OpRegistry ops{builtin_ops()};
  Program piece;
  Diagnostic diagnostic;
  Plan plan;
  std::string why;
  ProgramSource source;
  source.file = {program, static_cast<size_t>(size)};
  if (!Program::open(source, ops, &piece, &diagnostic).ok() || !make_plan(piece, kUsualUnits, &plan, &why)) return 1;
  *device_bytes = plan.device_bytes();
  emit(self, program, size);
  return 0;
} catch (const std::bad_alloc&) {
  return 2;
}

// Of a phone's GPU of the better kind: what is assumed until the user's device was measured.
constexpr mote_backend_rates kRates = {300, 20, 5, 15000, 150000};
constexpr mote_backend_compiler kCompiler = {
    MOTE_BACKEND_COMPILER_ABI, kName, kVersion, kCapabilities, kRates, &supports, &cost_ns, &lower};

}  // namespace
}  // namespace opencl

const mote_backend_compiler* opencl_compiler() noexcept { return &opencl::kCompiler; }

}  // namespace mote::backends
