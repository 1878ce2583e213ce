#pragma once

// Backends that know operators by families, each a range of neighbouring operators with one function that lowers them.

#include "mote/backends/common/guard.h"
#include "mote/backends/common/piece.h"

namespace mote::backends {

// Null where it was lowered, otherwise why not. check(op): what holds for every family; f.lower(op, to): one family's. `to` may be null:
// then only the answer counts.
template <class Families, class Check, class To>
const char* lower_by_family(const Families& families, Check check, const OpView& op, To* to) {
  for (const auto& f : families) {
    if (op.op < static_cast<uint16_t>(f.first) || op.op > static_cast<uint16_t>(f.last)) continue;
    if (const char* why = check(op)) return why;
    return f.lower(op, to);
  }
  return "it has no kernel there";
}

// mote_backend_compiler::supports by lowering to nothing.
template <class Lower>
const char* supports_by(const mote_backend_op& op, Lower lower) noexcept {
  return guarded_text([&] {
    const char* why = nullptr;
    const OpView v = view_of(op, &why);
    return why != nullptr ? why : lower(v);
  });
}

}  // namespace mote::backends
