#pragma once

#include "mote/core/op.h"

namespace mote {

// A list of operators and, behind it, the lists it was put in front of. Borrowed; all must outlive the programs opened with it.
// Definitions in front win: give one the name of a built-in operator ("mote::conv") to override its kernel on this target.
class OpRegistry {
 public:
  constexpr explicit OpRegistry(Span<const OpDef> ops, const OpRegistry* behind = nullptr) : ops_(ops), behind_(behind) {}

  // The definition for an operator id or, where `name` is not null, for that symbolic name. Null when there is none.
  const OpDef* find(uint16_t id, const char* name) const noexcept;

 private:
  Span<const OpDef> ops_;
  const OpRegistry* behind_;
};

}  // namespace mote
