#include "mote/api/impl/memory.h"

#include "mote/api/mote.h"
#include "mote/core/status.h"
#include "mote/platform/memory.h"

namespace mote::api {
namespace {

// Set while no handle exists (mote.h says so), hence without a lock.
struct Hook {
  mote_allocate_fn allocate = nullptr;
  mote_release_fn release = nullptr;
  void* context = nullptr;
} hook;

}  // namespace

void* allocate(size_t bytes, size_t alignment) noexcept {
  return hook.allocate != nullptr ? hook.allocate(hook.context, bytes, alignment) : host_allocate(bytes, alignment);
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  if (hook.release != nullptr) hook.release(hook.context, memory);
  else host_release(memory);
}

}  // namespace mote::api

extern "C" mote_status mote_set_allocator(mote_allocate_fn allocate, mote_release_fn release, void* context) {
  if ((allocate == nullptr) != (release == nullptr)) return mote::Status(mote::Status::kInvalidArgument, mote::Why::kApiArgument).bits();
  mote::api::hook.allocate = allocate;
  mote::api::hook.release = release;
  mote::api::hook.context = context;
  return MOTE_OK;
}
