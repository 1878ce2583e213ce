#pragma once

// The stages of a compilation, in the order compile.cc calls them. Each takes the artifact of the stage before and makes the next one;
// false: what is wrong is among the context's problems.
//
//   import_model    Source         -> ImportedGraph    front end, ranges of open dimensions, what is attached in front
//   optimize        ImportedGraph  -> OptimizedGraph   passes, with the quantizer between their two phases
//   place           OptimizedGraph -> PlacedGraph      parts for backends, by policy and cost
//   plan            PlacedGraph    -> schedule::Plan   order, shared memory, strips, offsets
//   assemble        Plan           -> ProgramRecords   instructions, constants
//   make_examples   ProgramRecords -> Examples         the program beside the unoptimised model, on the CPU
//   write           ProgramRecords -> FileBytes        layout, digests, certificate, verification

#include <vector>

#include "mote/compiler/driver/artifacts.h"
#include "mote/compiler/driver/context.h"

namespace mote::driver {

bool import_model(Context& context, ImportedGraph* out);

bool optimize(Context& context, ImportedGraph imported, OptimizedGraph* out);

bool place(Context& context, OptimizedGraph optimized, PlacedGraph* out);

// What a plan is made for: the program, or one for the CPU alone that examples of a placed model are made with.
enum class Purpose { kProgram, kExamples };

// `options`: those of the compilation, maybe with less memory. `keep_order`: nodes run in the order of the graph, as placement wants it.
bool plan(Context& context, const ir::Graph& graph, const schedule::PlanOptions& options, bool keep_order, Purpose purpose,
          schedule::Plan* out);

bool assemble(Context& context, const schedule::Plan& plan, Purpose purpose, program::ProgramRecords* out);

// Runs the program, and the unoptimised model beside it, on inputs that are given or made up. Fails where they differ.
bool make_examples(Context& context, const ModelFacts& model, const program::ProgramRecords& records, std::vector<Example>* out);

// `purpose`: a program that is only run gets no digests.
bool write(Context& context, const program::ProgramRecords& records, Purpose purpose, program::FileBytes* out);

}  // namespace mote::driver
