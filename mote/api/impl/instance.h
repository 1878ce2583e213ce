#pragma once

#include "mote/api/impl/program.h"
#include "mote/platform/thread_pool.h"
#include "mote/runtime/instance.h"

namespace mote::api {

// The buffer an input or output has now.
struct IoBuffer {
  void* own = nullptr;  // this layer's, once it was asked for
  size_t own_bytes = 0;
  void* bound = nullptr;  // the caller's, or `own`
  size_t bound_bytes = 0;
};

}  // namespace mote::api

struct mote_instance {
  mote_program* program = nullptr;  // a reference
  mote::Instance instance;
  mote::TraceHook hook;
  mote::Threads threads;             // the caller's, where there are any
  mote::ThreadPool* pool = nullptr;  // this layer's
  mote_trace_fn trace = nullptr;
  void* trace_context = nullptr;
  uint64_t memory_limit = 0;
  uint64_t allocated_bytes = 0;

  // What this layer allocated; null where the caller gave memory.
  void* instance_memory = nullptr;
  void* scratch_memory = nullptr;
  mote::api::Array<void*> bank_memory;
  mote::api::Array<mote::ByteSpan> banks;
  mote::api::Array<mote::api::IoBuffer> buffers;  // as the program's ios
  mote::api::Array<uint32_t> released;            // for each segment: how many parts said that they need its bytes no more

  mote_instance() = default;
  ~mote_instance();

  const mote::ProgramTable& table() const { return program->table(); }
  // Counts memory that is about to be allocated. False and *why where it is beyond the limit.
  bool count(uint64_t bytes, mote::Diagnostic* why) noexcept;
  // Memory within the limit; null and *why otherwise.
  void* take(uint64_t bytes, size_t alignment, mote::Diagnostic* why) noexcept;
};

namespace mote::api {

// The number of an input or output in the program's list, or -1 and *why.
int64_t io_index(const mote_instance& instance, uint32_t method, uint32_t index, bool output, Diagnostic* why) noexcept;

// Gives back what the backends of a new instance have copied, where no part of it needs the bytes: pages of a mapping to the system, memory
// of this layer to the allocator where there will be no other instance.
void give_blobs_back(mote_instance& instance) noexcept;

}  // namespace mote::api
