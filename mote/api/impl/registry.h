#pragma once

#include <atomic>

#include "mote/api/mote.h"
#include "mote/ops/op_table.h"
#include "mote/runtime/backend_registry.h"
#include "mote/runtime/op_registry.h"

struct mote_registry {
  static constexpr uint32_t kMaxBackends = 16;

  std::atomic<uint32_t> references{1};
  std::atomic<bool> in_use{false};  // a program was opened with it: the lists must not move any more
  uint32_t op_count = 0;
  uint32_t backend_count = 0;
  mote::OpDef ops[MOTE_MAX_CUSTOM_OPS] = {};
  int entries[MOTE_MAX_CUSTOM_OPS] = {};
  const mote_backend* backends[kMaxBackends] = {};

  mote::BackendList backend_list() const { return {backends, backend_count}; }
};

namespace mote::api {

void retain(mote_registry* registry) noexcept;

}  // namespace mote::api
