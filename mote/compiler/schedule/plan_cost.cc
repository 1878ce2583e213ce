#include "mote/compiler/schedule/plan_cost.h"

#include <algorithm>
#include <numeric>

#include "mote/format/reader.h"
#include "mote/kernels/common/tuning.h"

namespace mote::schedule {
namespace {

// Time of a kernel before its loops, in calls of an operator that does nothing.
constexpr double kCallsToBegin = 15;

uint64_t bytes_of(const TensorDesc& d) {
  double n = dtype_bits(d.dtype) / 8.0;
  for (int i = 0; i < d.rank; ++i) n *= d.dims[i];
  return static_cast<uint64_t>(std::min(n, 1e18));
}

bool is_constant(const TensorDesc& d) { return d.storage == Storage::kConstant; }

// Costs are defined on program records: builds those of one step.
program::Cost cost_of_step(const Plan& plan, const Step& s) {
  std::vector<TensorDesc> tensors;
  std::vector<int32_t> operands;
  for (const auto* list : {&s.inputs, &s.outputs}) {
    for (const TensorId t : *list) {
      operands.push_back(t < 0 ? -1 : static_cast<int32_t>(tensors.size()));
      if (t < 0) continue;
      tensors.push_back(plan.tensor(t).desc);
      tensors.back().offset = static_cast<uint64_t>(plan.tensor(t).place);  // tensors in one buffer count as one place
    }
  }
  program::ProgramRecords records;
  Instruction n{};
  n.op = s.op == ir::kCustom ? kFirstCustomOp : s.op;
  n.attrs_size = static_cast<decltype(n.attrs_size)>(s.attrs.size());
  n.input_count = static_cast<decltype(n.input_count)>(s.inputs.size());
  n.output_count = static_cast<decltype(n.output_count)>(s.outputs.size());
  records.tensors = std::move(tensors);
  records.operands = std::move(operands);
  records.attrs = s.attrs;
  return program::cost_of(program::CostSource(records), n);
}

bool is_depthwise(const Plan& plan, const Step& s) {
  if ((!s.is(OpId::conv) && !s.is(OpId::q_conv)) || s.inputs.size() < 2 || s.inputs[1] < 0) return false;
  const TensorDesc& w = plan.tensor(s.inputs[1]).desc;
  return w.rank > 0 && w.dims[w.rank - 1] == 1 && w.dims[0] > 1;
}

}  // namespace

PlanCost::Scope PlanCost::scope_of(const Plan& plan, size_t strip) const {
  Scope scope{static_cast<double>(plan.steps[strip].trips), 0, true};
  std::set<TensorId> tensors;
  std::set<int32_t> rings;
  for (size_t i = strip + 1; i <= strip + plan.steps[strip].body; ++i) {
    for (const auto* list : {&plan.steps[i].inputs, &plan.steps[i].outputs}) {
      for (const TensorId t : *list) {
        if (t < 0 || !tensors.insert(t).second) continue;
        const Tensor& tensor = plan.tensor(t);
        if (tensor.desc.ring_rows != 0) {
          if (rings.insert(tensor.place).second) scope.bytes += plan.buffers[static_cast<size_t>(tensor.place)].bytes;
        } else {
          scope.bytes += is_constant(tensor.desc) ? extent_bytes(tensor.desc) : bytes_of(tensor.desc) / plan.steps[strip].trips;
        }
      }
    }
  }
  return scope;
}

// Time to move `bytes` of a working set of `among` bytes, which fills the caches from the nearest one on.
double PlanCost::moved_ns(uint64_t bytes, uint64_t among, uint32_t threads, bool written) const {
  const target::Rates rates = target::rates_of(target_, threads);
  const auto parts = target::spread(target_, among, threads);
  double ns = 0;
  for (size_t i = 0; i < target::kLevelCount; ++i) {
    const target::Bandwidth& b = target::bandwidth_of(rates, i);
    const double rate = written ? b.write : b.read;
    if (rate > 0) ns += parts[i] * static_cast<double>(bytes) / rate;
  }
  return ns;
}

double PlanCost::operands_ns(const Plan& plan, const Step& s, const Scope& scope, uint32_t threads) {
  uint64_t all = 0;
  for (const auto* list : {&s.inputs, &s.outputs})
    for (const TensorId t : *list)
      if (t >= 0 && !is_constant(plan.tensor(t).desc)) all += bytes_of(plan.tensor(t).desc);
  const target::Rates rates = target::rates_of(target_, threads);
  double ns = 0;
  for (const auto* list : {&s.inputs, &s.outputs}) {
    const bool written = list == &s.outputs;
    for (const TensorId t : *list) {
      if (t < 0) continue;
      const TensorDesc& d = plan.tensor(t).desc;
      if (is_constant(d)) {
        const uint64_t bytes = extent_bytes(d);
        ns += moved_ns(bytes, constant_bytes_, threads, false) + (scope.trips - 1) * moved_ns(bytes, scope.bytes, threads, false);
        continue;
      }
      const uint64_t bytes = bytes_of(d);
      const bool stays = scope.strip && d.ring_rows != 0;
      uint32_t& writer = writers_[static_cast<size_t>(t)];
      // Bytes written by other threads come from their caches.
      const double foreign = written || writer == 0 ? 0 : 1 - static_cast<double>(std::min(writer, threads)) / std::max(writer, threads);
      const double far = target::bandwidth_of(rates, target::kL3).read;
      ns += (1 - foreign) * moved_ns(bytes, stays ? scope.bytes : std::max(all, scope.bytes), threads, written);
      if (far > 0) ns += foreign * static_cast<double>(bytes) / far;
      if (written) writer = threads;
    }
  }
  return ns;
}

uint32_t PlanCost::thread_count(const Plan& plan, const Step& s, const program::Cost& cost, double trips) const {
  double work = static_cast<double>(cost.products) * (cost.integer ? 0.25 : 1) * (is_depthwise(plan, s) ? 2 : 1);
  if (cost.products == 0 && !s.outputs.empty() && s.outputs[0] >= 0) work = static_cast<double>(bytes_of(plan.tensor(s.outputs[0]).desc));
  work /= trips;
  // As kernels decide (thread_count() in mote/kernels/common/parallel.h).
  if (work < 2 * kernels::kMinStepsPerThread) return 1;
  return static_cast<uint32_t>(std::min<double>(threads_, work / kernels::kMinStepsPerThread));
}

double PlanCost::time_of(const Plan& plan, const Step& s, const Scope& scope) {
  const program::Cost cost = cost_of_step(plan, s);
  const uint32_t threads = thread_count(plan, s, cost, scope.trips);
  const target::Rates rates = target::rates_of(target_, threads);
  const double rate = cost.integer && rates.int8_gops > 0 ? rates.int8_gops : rates.f32_gflops;
  const double call = kCallsToBegin * target_.call_ns + (threads > 1 ? target_.handoff_awake_us * 1e3 : 0);
  return 2 * static_cast<double>(cost.products) / rate + operands_ns(plan, s, scope, threads) + scope.trips * call;
}

double PlanCost::run_ns(const Plan& plan, std::vector<double>* step_ns) {
  writers_.assign(plan.tensors.size(), 0);
  constant_bytes_ = 0;
  for (const Constant& c : plan.constants) constant_bytes_ += c.data.size;
  std::vector<double> each(plan.steps.size(), 0);
  Scope scope;
  size_t end = 0;  // first step behind the strip
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (i == end) scope = Scope{};
    const Step& s = plan.steps[i];
    if (s.is(ControlOp::kStrip)) scope = scope_of(plan, i), end = i + 1 + s.body;
    else if (!s.is_control()) each[i] = time_of(plan, s, scope);
  }
  const double ns = std::accumulate(each.begin(), each.end(), 0.0);
  if (step_ns != nullptr) *step_ns = std::move(each);
  return ns;
}

}  // namespace mote::schedule
