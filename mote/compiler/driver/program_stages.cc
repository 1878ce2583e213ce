// The stages from the optimized graph to the bytes of a program: place, plan, assemble, write.

#include "mote/compiler/assemble/lower.h"
#include "mote/compiler/driver/slow_paths.h"
#include "mote/compiler/driver/stages.h"
#include "mote/compiler/program/program_text.h"
#include "mote/compiler/schedule/plan_text.h"

namespace mote::driver {
namespace {

// Operators that only portable kernels serve, for the user to know.
void note_slow_paths(Context& c, const program::ProgramRecords& records) {
  const bool board = target::is_microcontroller(c.options.target);
  if (board) c.out.portable = op_names(slow_paths_on_board(records, c.ops(), 0));
  c.out.slow_paths =
      describe(board ? slow_paths_on_board(records, c.ops(), kWorthAWordOnBoard) : slow_paths(records, c.ops(), kernels::best_isa(~0u)));
}

// Where the stages are on the way, by what they are for: with placement the program follows behind its examples.
double fraction(const Context& c, Purpose purpose, double alone, double placed) {
  return purpose == Purpose::kProgram && c.wants_placement() ? placed : alone;
}

std::string name_of(const char* stage, Purpose purpose) {
  return purpose == Purpose::kExamples ? std::string(stage) + " for the CPU" : stage;
}

}  // namespace

bool place(Context& c, OptimizedGraph optimized, PlacedGraph* out) {
  *out = {std::move(optimized.graph), std::move(optimized.model), {}};
  if (!c.wants_placement()) return true;
  c.begin_stage("place", 0.82);
  placement::PlaceOptions options;
  options.backends = c.options.backends;
  options.policy = c.options.policy;
  options.target = &c.options.target;
  options.ops = c.options.plan.ops;
  if (!placement::place(*out->graph, options, &out->placement, &c.problems)) return false;
  out->graph->drop_unused_values();
  return true;
}

bool plan(Context& c, const ir::Graph& graph, const schedule::PlanOptions& options, bool keep_order, Purpose purpose, schedule::Plan* out) {
  c.begin_stage(name_of("plan", purpose), fraction(c, purpose, 0.3, 0.86));
  schedule::PlanOptions with_target = options;
  with_target.target = &c.options.target;
  with_target.reorder = options.reorder && !keep_order;
  std::string error;
  if (!schedule::make_plan(graph, with_target, out, &error)) return c.fail("plan", error);
  if (purpose == Purpose::kExamples) return true;
  if (c.prints("plan")) c.log("-- after plan\n" + schedule::print(*out, false));
  c.out.peak_bytes = out->peak();
  c.out.lower_bound_bytes = out->lower_bound;
  return true;
}

bool assemble(Context& c, const schedule::Plan& plan, Purpose purpose, program::ProgramRecords* out) {
  c.begin_stage(name_of("lower", purpose), fraction(c, purpose, 0.4, 0.9));
  assemble::LowerOptions options;
  options.external_constants = c.options.external_weights;
  options.source_names = !c.options.strip_names;
  options.op_names = !c.options.strip_names;
  std::string error;
  if (!assemble::lower(plan, options, out, &error)) return c.fail("lower", error);
  if (purpose == Purpose::kExamples) return true;
  if (c.prints("program")) c.log("-- after program\n" + program::print(*out, false));
  note_slow_paths(c, *out);
  return true;
}

bool write(Context& c, const program::ProgramRecords& records, Purpose purpose, program::FileBytes* out) {
  if (purpose == Purpose::kProgram) c.begin_stage("write", 0.95);
  emit::WriteOptions options = c.options.write;
  options.digests = options.digests && purpose == Purpose::kProgram;
  std::string error;
  if (emit::write_program(records, options, c.ops(), out, &error)) return true;
  return c.fail("write", error, "this is a defect of Mote: please report it with the model");
}

}  // namespace mote::driver
