#include "mote/compiler/driver/compile.h"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "mote/compiler/driver/stages.h"
#include "mote/compiler/schedule/place.h"

namespace mote::driver {
namespace {

constexpr float kDeviceTolerance = 1e-3f;  // of f32 on a backend, against the CPU

// Examples of a model that is placed on backends: made with a program of the CPU alone, which is planned and assembled for that and then
// dropped.
bool make_examples_on_cpu(Context& c, const OptimizedGraph& optimized, std::vector<Example>* out) {
  schedule::Plan cpu_plan;
  program::ProgramRecords cpu_records;
  if (!plan(c, *optimized.graph, c.options.plan, false, Purpose::kExamples, &cpu_plan) ||
      !assemble(c, cpu_plan, Purpose::kExamples, &cpu_records) || !make_examples(c, optimized.model, cpu_records, out))
    return false;
  // Another device accumulates in another order.
  float tolerance = kDeviceTolerance;
  for (const mote_backend_compiler* b : c.options.backends) tolerance = std::max(tolerance, static_cast<float>(b->tolerance));
  for (Example& e : *out)
    for (float& t : e.tolerances) t = t > 0 ? std::max(t, tolerance) : t;
  return true;
}

// Gives buffers that lie over the input of their step, as only kernels of emitted C++ permit, places of their own.
bool separate_outputs(Context& c, schedule::Plan* plan) {
  for (schedule::Step& s : plan->steps) s.in_order = false;
  for (schedule::Bank& b : plan->banks) b.limit = b.size = 0;
  std::string error;
  if (!schedule::place_buffers(*plan, c.options.plan.alignment, memory::Effort::kThorough, &error)) return c.fail("plan", error);
  c.out.apart_bytes = plan->peak();
  return true;
}

// The plan for emitted C++, with the records it is emitted from. Kernels may need memory besides the plan, which is known only then:
// where both together exceed what the plan was to take, it is made once more for less.
bool plan_for_source(Context& c, const PlacedGraph& placed, bool keep_order, schedule::Plan* out) {
  if (!plan(c, *placed.graph, c.options.plan, keep_order, Purpose::kProgram, out) || !assemble(c, *out, Purpose::kProgram, &c.out.emitted))
    return false;
  const uint64_t limit = c.options.plan.strip_ram;
  const uint64_t scratch = limit > 0 && c.options.scratch_bytes ? c.options.scratch_bytes(c.out.emitted) : 0;
  if (scratch > 0 && limit > scratch && out->peak() + scratch > limit) {
    schedule::PlanOptions less = c.options.plan;
    less.strip_ram = limit - scratch;
    if (!plan(c, *placed.graph, less, keep_order, Purpose::kProgram, out) || !assemble(c, *out, Purpose::kProgram, &c.out.emitted))
      return false;
  }
  return separate_outputs(c, out);
}

// The program's plan and records. Placement chose an order: parts for a backend stand together, and the CPU works while a backend does.
bool plan_program(Context& c, const PlacedGraph& placed, program::ProgramRecords* out) {
  const bool keep_order = !placed.placement.blobs.empty();
  schedule::Plan planned;
  if (c.options.plan.in_order ? !plan_for_source(c, placed, keep_order, &planned)
                              : !plan(c, *placed.graph, c.options.plan, keep_order, Purpose::kProgram, &planned))
    return false;
  return assemble(c, planned, Purpose::kProgram, out);
}

// All stages, one after the other: see stages.h.
bool compile_program(Context& c) {
  ImportedGraph imported;
  OptimizedGraph optimized;
  PlacedGraph placed;
  program::ProgramRecords records;
  std::vector<Example> examples;
  if (!import_model(c, &imported) || !optimize(c, std::move(imported), &optimized)) return false;
  if (c.wants_examples() && c.wants_placement() && !make_examples_on_cpu(c, optimized, &examples)) return false;
  if (!place(c, std::move(optimized), &placed) || !plan_program(c, placed, &records)) return false;
  if (c.wants_examples() && !c.wants_placement() && !make_examples(c, placed.model, records, &examples)) return false;
  add_examples(examples, &records);
  if (c.wants_placement()) placement::record(placed.placement, c.options.policy, &records);
  c.out.placement = std::move(placed.placement);
  if (!write(c, records, Purpose::kProgram, &c.out.file)) return false;
  if (c.options.external_weights) c.out.external = std::move(records.segments[0].bytes);
  c.end_stage();
  if (c.options.passes.time_passes) c.print_stage_times();
  return true;
}

// Sizes that no memory holds are the model's fault.
template <class Work>
bool guarded(ir::Problems* problems, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    problems->push_back({"memory", "compiling this model needs more memory than there is", ""});
  } catch (const std::length_error&) {
    problems->push_back({"memory", "the model has a size that no memory can hold", ""});
  }
  return false;
}

}  // namespace

bool read_signature(const frontends::Source& source, const frontends::ImportOptions& options, Signature* out, ir::Problems* problems) {
  CompileOptions o;
  o.import = options;
  return read_signature(source, o, out, problems);
}

bool read_signature(const frontends::Source& source, const CompileOptions& options, Signature* out, ir::Problems* problems) {
  CompileOptions o;
  o.import = options.import;
  o.attach = options.attach;
  o.io_int8 = options.io_int8;
  return guarded(problems, [&] {
    CompileResult ignored;
    Context context(source, o, &ignored, problems);
    ImportedGraph imported;
    if (!import_model(context, &imported)) return false;
    *out = std::move(imported.model.signature);
    return true;
  });
}

bool read_missing(const frontends::Source& source, const CompileOptions& options, std::vector<ir::SourceNode>* nodes,
                  std::vector<ir::MissingOp>* missing, ir::Problems* problems) {
  CompileOptions o;
  o.import = options.import;
  o.import.partial = true;
  o.attach = options.attach;
  o.after_import = options.after_import;
  o.suggest_sizes = false;
  return guarded(problems, [&] {
    CompileResult ignored;
    Context context(source, o, &ignored, problems);
    ImportedGraph imported;
    const bool done = import_model(context, &imported);
    *nodes = std::move(ignored.source_nodes);
    *missing = std::move(ignored.missing_ops);
    return done;
  });
}

CompileOptions reference_options(const CompileOptions& options) {
  CompileOptions o;
  o.import = options.import;
  o.after_import = options.after_import;
  o.attach = options.attach;
  o.io_int8 = options.io_int8;
  o.passes.fuse = o.passes.optimize = o.passes.pack = false;
  o.plan.reorder = o.plan.in_place = o.plan.views = false;
  o.plan.ops = options.plan.ops;
  o.golden.count = 0;
  o.write.digests = false;
  return o;
}

bool optimized_graph(const frontends::Source& source, const CompileOptions& options, std::unique_ptr<ir::Graph>* out,
                     ir::Problems* problems) {
  return guarded(problems, [&] {
    CompileResult ignored;
    Context context(source, options, &ignored, problems);
    ImportedGraph imported;
    OptimizedGraph optimized;
    if (!import_model(context, &imported) || !optimize(context, std::move(imported), &optimized)) return false;
    *out = std::move(optimized.graph);
    return true;
  });
}

bool compile(const frontends::Source& source, const CompileOptions& options, CompileResult* out, ir::Problems* problems) {
  return guarded(problems, [&] {
    Context context(source, options, out, problems);
    return compile_program(context);
  });
}

}  // namespace mote::driver
