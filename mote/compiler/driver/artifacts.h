#pragma once

// What the stages of a compilation hand to each other (stages.h). A graph is moved from stage to stage: it cannot be copied.

#include <memory>
#include <vector>

#include "mote/compiler/driver/golden.h"
#include "mote/compiler/frontends/frontend.h"
#include "mote/compiler/ir/graph.h"
#include "mote/compiler/placement/place.h"
#include "mote/compiler/program/records.h"
#include "mote/compiler/schedule/plan.h"

namespace mote::driver {

// What is known of the model itself, whatever passes make of its graph.
struct ModelFacts {
  Signature signature;              // inputs and outputs; their types are those of the program once the graph is optimized
  frontends::ImportOptions import;  // with open dimensions narrowed to the sizes at which the model can be computed
  std::vector<ir::Symbol> symbols;  // the open dimensions
};

// Mote's operators in place of the model's, with what is attached in front and the user's own early passes applied.
struct ImportedGraph {
  std::unique_ptr<ir::Graph> graph;
  ModelFacts model;
};

// All passes applied, the quantizer's edits among them; metadata and evidence complete.
struct OptimizedGraph {
  std::unique_ptr<ir::Graph> graph;
  ModelFacts model;
};

// Parts that leave the CPU are delegate nodes. Without backends and a policy: the optimized graph as it was.
struct PlacedGraph {
  std::unique_ptr<ir::Graph> graph;
  ModelFacts model;
  placement::Placed placement;
};

// The stages behind that make a schedule::Plan, program::ProgramRecords and program::FileBytes.

}  // namespace mote::driver
