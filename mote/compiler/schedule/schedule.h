#pragma once

// From graph to plan: order, sharing, strips, banks and offsets.

#include <functional>

#include "mote/compiler/ir/graph.h"
#include "mote/compiler/memory/assign_offsets.h"
#include "mote/compiler/schedule/plan.h"
#include "mote/compiler/target/target.h"
#include "mote/runtime/op_registry.h"

namespace mote::schedule {

// Strips (depth-first tiles, strips.h): none; where the target's cost model finds them no slower; or whatever makes the arena smallest.
enum class Strips : uint8_t { kOff, kAuto, kMinMemory };

struct PlanOptions {
  bool reorder = true;  // look for an order with a smaller peak
  bool in_place = true;
  bool views = true;  // concat, split, slice, reshape, pad without copies
  Strips strips = Strips::kOff;
  uint64_t strip_ram = 0;                  // with kMinMemory: bytes of the arena to aim at; 0: as small as it gets
  const target::Target* target = nullptr;  // with kAuto; null: the generic one
  uint32_t alignment = 64;                 // of large tensors; small ones have 16 bytes
  bool io_in_arena = false;  // inputs and outputs lie in the arena too, and share it: the caller fills and fetches them in place
  std::vector<Bank> banks;   // fast ones first; tensors that do not fit go to the next. Empty: one without a limit
  // For programs that need not pass the runtime's verifier: which steps have a kernel that computes pixel after pixel (Step::in_order).
  // Called once the steps are known, before memory is shared.
  std::function<std::vector<bool>(const Plan& plan)> in_order;
  // Runs convolutions in strips where their output may then overlap the input (overlap_rows.h): less memory, a little more time.
  bool overlap_rows = false;
  // The user's own memory planner: sets the offsets of a bank's buffers. The plan is verified afterwards.
  std::function<bool(const Bank& bank, std::vector<memory::BufferRequest>* blocks, std::string* error)> place;
  const OpRegistry* ops = nullptr;  // null: the built-in operators. Custom ones must be in it
};

// False with *error, which names the node, when the graph cannot be planned.
bool make_plan(const ir::Graph& graph, const PlanOptions& options, Plan* out, std::string* error);

}  // namespace mote::schedule
