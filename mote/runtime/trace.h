#pragma once

#include <cstdint>

namespace mote {

// What the runtime tells a trace hook. Without a hook nothing is spent.
struct TraceEvent {
  enum class Kind : uint8_t { kLoad, kInit, kRunBegin, kRunEnd, kInstructionBegin, kInstructionEnd };
  Kind kind;
  uint32_t method;
  uint32_t instruction;
};

struct TraceHook {
  void* self = nullptr;
  void (*event)(void* self, const TraceEvent&) = nullptr;
};

}  // namespace mote
