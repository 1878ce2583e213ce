#include "mote/compiler/placement/rates.h"

#include <algorithm>

#include "mote/ops/op_id.h"

namespace mote::placement {
namespace {

enum Kind : uint32_t { kCalls, kPointwise, kSpatial, kMatrices, kOneRow, kWindows, kFunctions, kBytes, kRows };

double work_ns(const target::BackendRates& measured, const char* name) {
  for (const auto& [known, ns] : measured.work_ns)
    if (known == name) return ns;
  return 0;
}

double count_of(const mote_backend_operand& o) {
  double n = 1;
  for (int i = 0; i < o.rank; ++i) n *= o.dims[i];
  return n;
}

bool between(uint16_t op, OpId first, OpId last) { return op >= static_cast<uint16_t>(first) && op <= static_cast<uint16_t>(last); }

}  // namespace

const char* const kCpuWorkNames[kCpuWorkCount] = {"calls",   "pointwise_macs", "spatial_macs", "matrix_macs", "one_row_macs",
                                                  "windows", "functions",      "bytes",        "rows"};

mote_backend_rates rates_of(const mote_backend_compiler& backend, const target::Target& target) {
  mote_backend_rates r = backend.rates;
  const target::BackendRates* measured = target::find_backend(target, backend.name);
  if (measured == nullptr) return r;
  r.transfer_gbps = measured->transfer_gbps;
  r.sync_ns = measured->sync_ns;
  r.units = measured->units;
  for (uint32_t i = 0; i < backend.work_count; ++i) r.work_ns[i] = work_ns(*measured, backend.work_names[i]);
  return r;
}

void cpu_work(const mote_backend_op* op, const mote_backend_rates*, double* units) {
  units[kCalls] += 1;
  const auto macs = static_cast<double>(op->macs), bytes = static_cast<double>(op->bytes);
  const bool conv = between(op->op, OpId::conv, OpId::conv_transpose), matmul = op->op == static_cast<uint16_t>(OpId::matmul);
  if (conv && op->input_count > 1 && op->inputs[1].rank >= 3) {
    const mote_backend_operand& w = op->inputs[1];
    const double depth = w.dims[w.rank - 1], taps = count_of(w) / std::max(1.0, w.dims[0] * depth);
    units[depth == 1 ? kWindows : taps == 1 ? kPointwise : kSpatial] += macs;
  } else if (matmul && op->output_count > 0 && op->outputs[0].rank >= 2) {
    const mote_backend_operand& y = op->outputs[0];
    units[count_of(y) == y.dims[y.rank - 1] ? kOneRow : kMatrices] += macs;
  } else if (between(op->op, OpId::max_pool, OpId::avg_pool)) {
    units[kWindows] += macs > 0 ? macs : bytes;
  } else if (between(op->op, OpId::exp, OpId::mish)) {
    units[kFunctions] += op->output_count > 0 ? count_of(op->outputs[0]) : 0;
  } else if (between(op->op, OpId::reduce_sum, OpId::log_softmax) || op->op == static_cast<uint16_t>(OpId::layer_norm)) {
    units[kRows] += op->input_count > 0 ? count_of(op->inputs[0]) : 0;
  } else {
    units[kBytes] += bytes;
  }
}

double cpu_cost_ns(const mote_backend_op& op, const target::BackendRates& measured) {
  double units[MOTE_BACKEND_WORK_KINDS] = {}, ns = 0;
  cpu_work(&op, nullptr, units);
  for (uint32_t i = 0; i < kCpuWorkCount; ++i) ns += units[i] * work_ns(measured, kCpuWorkNames[i]);
  return ns;
}

}  // namespace mote::placement
