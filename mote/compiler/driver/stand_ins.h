#pragma once

// Custom operators that nobody has yet, for compiling a model with gaps (ImportOptions::partial): they know their types and cannot run.

#include <string>
#include <vector>

#include "mote/compiler/ir/graph.h"
#include "mote/runtime/op_registry.h"

namespace mote::driver {

constexpr size_t kMostMissing = 64;  // kinds of a program: as many custom operators as a process may have (api/custom_op.h)

// While one lives, its operators are those of the thread that made it.
class StandIns {
 public:
  // `missing` is borrowed: at most kMostMissing.
  explicit StandIns(const std::vector<ir::MissingOp>& missing);
  StandIns(const StandIns&) = delete;
  StandIns& operator=(const StandIns&) = delete;
  ~StandIns();
  // Them in front of Mote's own.
  const OpRegistry& ops() const { return registry_; }

 private:
  std::vector<OpDef> definitions_;
  OpRegistry registry_;
};

}  // namespace mote::driver
