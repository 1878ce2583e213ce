#include "mote/compiler/quant/forecast.h"

#include "mote/compiler/schedule/plan_cost.h"

namespace mote::quant {
namespace {

// The plan whose cost is the forecast: in the model's order and without strips, which are about memory and take long to search for.
bool plan_for_cost(const ir::Graph& graph, const driver::CompileOptions& options, schedule::Plan* out, std::string* error) {
  schedule::PlanOptions how = options.plan;
  how.target = &options.target;
  how.strips = schedule::Strips::kOff;
  how.reorder = false;
  return schedule::make_plan(graph, how, out, error);
}

void add_costs(const schedule::Plan& plan, const target::Target& target, Forecast* out) {
  std::vector<double> step_ns;
  out->ns = schedule::PlanCost(target, target.all.threads).run_ns(plan, &step_ns);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const schedule::Step& s = plan.steps[i];
    if (s.is(OpId::quantize) || s.is(OpId::dequantize)) out->converting_ns += step_ns[i];
    else out->node_ns[s.name] += step_ns[i];
  }
}

}  // namespace

bool forecast(const frontends::Source& source, const driver::CompileOptions& options, Forecast* out, ir::Problems* problems) {
  *out = {};
  driver::CompileOptions o = options;
  o.progress = nullptr;
  o.passes.winograd = false;  // the cost model counts its products alone, not its transforms: it would look faster than it is
  std::unique_ptr<ir::Graph> graph;
  if (!driver::optimized_graph(source, o, &graph, problems)) return false;
  schedule::Plan plan;
  std::string error;
  if (!plan_for_cost(*graph, options, &plan, &error)) {
    problems->push_back({"forecast", error, ""});
    return false;
  }
  add_costs(plan, options.target, out);
  return true;
}

}  // namespace mote::quant
