#pragma once

// Execution orders of a block's nodes, and the search for one with a smaller memory peak.

#include <vector>

#include "mote/compiler/ir/graph.h"
#include "mote/runtime/op_registry.h"

namespace mote::schedule {

struct OrderOptions {
  bool in_place = true, views = true;  // the sharing that will follow
  uint32_t beam = 24;                  // width of the beam search
};

std::vector<const ir::Node*> written_order(const ir::Block& block);

// Searches orders that respect dependencies; nodes that touch the same state keep theirs. The result is no worse than the order as
// written, by the model of order_model.h. Time: linear in nodes x values x beam. Deterministic.
std::vector<const ir::Node*> small_order(const ir::Block& block, const OrderOptions& options);

}  // namespace mote::schedule
