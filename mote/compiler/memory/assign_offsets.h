#pragma once

// The memory planner: gives buffers offsets in one bank of memory so that buffers that are live at the same step do not overlap.

#include <cstdint>
#include <vector>

#include "mote/compiler/memory/live_ranges.h"

namespace mote::memory {

// A buffer that wants a place.
struct BufferRequest {
  uint64_t bytes = 0;
  uint32_t alignment = 16;
  LiveRange live;
  uint64_t offset = 0;  // the result
  // The request whose bytes this one may overwrite although both are live at one step: the operand of a kernel that reads its input ahead
  // of where it writes. Allowed when this buffer starts at least `distance` bytes before that one or, with `starts_after`, behind its
  // start. -1: none. No two requests name the same one.
  int32_t overwrites = -1;
  int64_t distance = 0;
  bool starts_after = false;
};

// The bytes that a request and the one it overwrites can have in common at most.
uint64_t shared_bytes(const BufferRequest& request, const BufferRequest& overwritten);

// How long to search for a smaller plan: a few fixed orders, or local search behind them.
enum class Effort { kQuick, kThorough };

// Sets the offset of every request and returns the end of the highest one. Deterministic.
uint64_t assign_offsets(std::vector<BufferRequest>& requests, Effort effort = Effort::kThorough);

// The largest sum of live bytes at any step, with shared bytes counted once: no assignment needs less.
uint64_t lower_bound(const std::vector<BufferRequest>& requests);

}  // namespace mote::memory
