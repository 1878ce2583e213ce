#include "mote/runtime/op_registry.h"

#include "mote/core/text.h"

namespace mote {
namespace {

// Lists ordered by id are searched by halving; a list of custom operators (id 0) is walked.
const OpDef* find_by_id(Span<const OpDef> ops, uint16_t id) noexcept {
  size_t low = 0, high = ops.size;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (ops[middle].id < id) low = middle + 1;
    else high = middle;
  }
  return low < ops.size && ops[low].id == id ? &ops[low] : nullptr;
}

const OpDef* find_by_name(Span<const OpDef> ops, const char* name) noexcept {
  for (const OpDef& d : ops)
    if (d.id == 0 && d.name != nullptr && same_text(d.name, name)) return &d;
  return nullptr;
}

}  // namespace

const OpDef* OpRegistry::find(uint16_t id, const char* name) const noexcept {
  for (const OpRegistry* r = this; r != nullptr; r = r->behind_) {
    if (name != nullptr && !r->ops_.empty() && r->ops_[0].id == 0) {
      if (const OpDef* d = find_by_name(r->ops_, name)) return d;
    }
    if (const OpDef* d = find_by_id(r->ops_, id)) return d;
  }
  return nullptr;
}

}  // namespace mote
