#include "mote/compiler/quant/forecast.h"

#include "mote/compiler/schedule/plan_cost.h"

namespace mote::quant {
namespace {

bool add_up(const ir::Graph& graph, const driver::CompileOptions& options, Forecast* out, std::string* error) {
  schedule::PlanOptions how = options.plan;
  how.target = &options.target;
  how.strips = schedule::Strips::kOff;  // they are about memory, and searching for them takes longer than the rest
  how.reorder = false;
  schedule::Plan plan;
  if (!schedule::make_plan(graph, how, &plan, error)) return false;
  std::vector<double> steps;
  out->ns = schedule::PlanCost(options.target, options.target.all.threads).run_ns(plan, &steps);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const schedule::Step& s = plan.steps[i];
    if (s.is(OpId::quantize) || s.is(OpId::dequantize)) out->converting_ns += steps[i];
    else out->node_ns[s.name] += steps[i];
  }
  return true;
}

}  // namespace

bool forecast(const frontends::Source& source, const driver::CompileOptions& options, Forecast* out, ir::Problems* problems) {
  *out = {};
  bool done = false;
  driver::CompileOptions o = options;
  o.golden.count = 0;
  o.golden.given.clear();
  o.progress = nullptr;
  o.passes.winograd = false;  // the model counts its products alone, not its transforms: it would look faster than it is
  o.after_passes = [&](ir::Graph& graph, std::string* error) {
    if (options.after_passes && !options.after_passes(graph, error)) return false;
    done = add_up(graph, options, out, error);
    return false;  // what would follow is of no use here
  };
  driver::CompileResult none;
  ir::Problems found;
  driver::compile(source, o, &none, &found);
  if (!done) problems->insert(problems->end(), found.begin(), found.end());
  return done;
}

}  // namespace mote::quant
