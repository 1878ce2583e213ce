#pragma once

// What becomes of a piece: a program of its own, which the backend turns into a blob, and a delegate node in its place.

#include "mote/compiler/placement/place.h"

namespace mote::placement {

// Values that go into a piece and come out of it.
struct Boundary {
  std::vector<ir::Value*> inputs, outputs;
};
Boundary boundary_of(const std::vector<ir::Node*>& nodes);

// False with *error.
bool make_blob(const std::vector<ir::Node*>& nodes, const Boundary& boundary, const mote_backend_compiler& backend, const OpRegistry* ops,
               Blob* out, std::string* error);

// The nodes, neighbours in their block, go; with `fallback` they live on in a block of the delegate.
void replace_by_delegate(ir::Graph& graph, const std::vector<ir::Node*>& nodes, const Boundary& boundary, uint32_t blob,
                         const std::string& name, bool fallback);

// Instructions of the CPU and of each delegate, with the costs of their pieces, into records.placements.
void record_ranges(const Placed& placed, program::ProgramRecords* records);

}  // namespace mote::placement
