#pragma once

// Loops of the graph: the way all importers write them.

#include <functional>

#include "mote/compiler/frontends/onnx/decompose.h"
#include "mote/compiler/frontends/onnx/import.h"

namespace mote::frontends::onnx {

constexpr size_t kAnyScanned = SIZE_MAX;

struct LoopSpec {
  Value *trips = nullptr, *condition = nullptr;  // scalars s64 and bool; null where absent
  std::vector<Value*> carried;                   // their first contents
  size_t scanned = 0;                            // outputs that are stacked, one row a trip; kAnyScanned: as many as the body gives
  int64_t max_trips = 0;
};

struct LoopBody {
  ir::NodeBuilder builder;
  Value *trip, *condition;
  std::vector<Value*> carried;
  // What the writer sets. Null go_on: until the trips are done.
  Value* go_on = nullptr;
  std::vector<Value*> next, scanned;
  bool given_up = false;  // what it does cannot be a loop: kShapesChange
};

enum class LoopOutcome { kDone, kFailed, kShapesChange };

// Adds a loop. `write` adds the body's nodes and says what they give; false when it failed (and reported that). *out: carried, then
// scanned. kShapesChange: a carried value does not keep its type; nothing was added or reported.
LoopOutcome build_loop(NodeContext& c, const LoopSpec& spec, const std::function<bool(LoopBody&)>& write, std::vector<Value*>* out);

}  // namespace mote::frontends::onnx
