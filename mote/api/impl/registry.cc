#include "mote/api/impl/registry.h"

#include <cstring>

#include "mote/api/impl/custom_ops.h"
#include "mote/api/impl/error.h"
#include "mote/api/impl/memory.h"
#include "mote/runtime/verify.h"

namespace mote::api {
namespace {

bool complete(const mote_custom_op& op) noexcept {
  if (op.abi != MOTE_CUSTOM_OP_ABI || op.name == nullptr || op.name[0] == 0 || op.infer == nullptr || op.run == nullptr) return false;
  if (op.attrs_size > 256 || op.attrs_size % 4 != 0 || (op.flags & ~(MOTE_OP_ELEMENTWISE | MOTE_OP_DATA_DEPENDENT)) != 0) return false;
  return op.min_inputs <= op.max_inputs && op.min_outputs <= op.max_outputs && op.max_outputs > 0;
}

bool complete(const mote_backend& b) noexcept {
  return b.abi == MOTE_BACKEND_ABI && b.name != nullptr && b.probe != nullptr && b.init != nullptr && b.execute != nullptr &&
         b.destroy != nullptr && (b.submit == nullptr) == (b.wait == nullptr);
}

}  // namespace

void retain(mote_registry* registry) noexcept {
  if (registry != nullptr) registry->references.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace mote::api

using mote::Status;
using mote::Why;
using mote::api::report;

extern "C" {

mote_status mote_registry_create(mote_registry** out_registry) {
  if (out_registry == nullptr) return Status(Status::kInvalidArgument, Why::kApiArgument).bits();
  mote_registry* r = mote::api::make<mote_registry>();
  if (r == nullptr) return Status(Status::kOutOfMemory, Why::kMemory).bits();
  *out_registry = r;
  return MOTE_OK;
}

mote_status mote_registry_add_op(mote_registry* registry, const mote_custom_op* op, mote_error* error) {
  static const char kDoing[] = "register the operator";
  if (registry == nullptr || op == nullptr) return report(error, kDoing, {Status::kInvalidArgument, Why::kApiArgument});
  if (!mote::api::complete(*op))
    return report(error, kDoing, {Status::kInvalidArgument, Why::kCustomOp}, MOTE_CUSTOM_OP_ABI, op->abi, op->name);
  if (registry->in_use.load()) return report(error, kDoing, {Status::kBusy, Why::kRegistryInUse}, 0, 0, op->name);
  if (registry->op_count == MOTE_MAX_CUSTOM_OPS) return report(error, kDoing, {Status::kOutOfMemory, Why::kRegistryFull}, 0, 0, op->name);
  const int entry = mote::api::take_entry(*op, &registry->ops[registry->op_count]);
  if (entry < 0) return report(error, kDoing, {Status::kOutOfMemory, Why::kRegistryFull}, 0, 0, op->name);
  registry->entries[registry->op_count++] = entry;
  return MOTE_OK;
}

mote_status mote_registry_add_backend(mote_registry* registry, const mote_backend* backend, mote_error* error) {
  static const char kDoing[] = "register the backend";
  if (registry == nullptr || backend == nullptr) return report(error, kDoing, {Status::kInvalidArgument, Why::kApiArgument});
  if (!mote::api::complete(*backend))
    return report(error, kDoing, {Status::kInvalidArgument, Why::kBackendVersion}, MOTE_BACKEND_ABI, backend->abi, backend->name);
  if (registry->in_use.load()) return report(error, kDoing, {Status::kBusy, Why::kRegistryInUse}, 0, 0, backend->name);
  if (registry->backend_count == mote_registry::kMaxBackends)
    return report(error, kDoing, {Status::kOutOfMemory, Why::kRegistryFull}, 0, 0, backend->name);
  registry->backends[registry->backend_count++] = backend;
  return MOTE_OK;
}

void mote_registry_release(mote_registry* registry) {
  if (registry == nullptr || registry->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  for (uint32_t i = 0; i < registry->op_count; ++i) mote::api::give_entry_back(registry->entries[i]);
  mote::api::destroy(registry);
}

}  // extern "C"
