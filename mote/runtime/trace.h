#pragma once

#include "mote/core/status.h"

namespace mote {

// What the runtime tells a trace hook. Without a hook nothing is spent.
struct TraceEvent {
  // kDegraded, while an instance is created: the backend of this delegate cannot be had, its fallback will run. `why` says why.
  enum class Kind : uint8_t { kLoad, kInit, kRunBegin, kRunEnd, kInstructionBegin, kInstructionEnd, kDegraded };
  Kind kind;
  uint32_t method;
  uint32_t instruction;
  Status why = Status::kOk;  // of kDegraded
};

struct TraceHook {
  void* self = nullptr;
  void (*event)(void* self, const TraceEvent&) = nullptr;
};

}  // namespace mote
