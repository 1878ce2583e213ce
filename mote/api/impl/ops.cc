#include "mote/api/ops.h"

#include "mote/ops/op_table.h"

namespace {

const char* name_of(mote::OpId id) {
  switch (id) {
#define MOTE_OP(number, name) \
  case mote::OpId::name:      \
    return "mote::" #name;
#include "mote/ops/ops.def"
#undef MOTE_OP
    case mote::OpId::kNone: break;
  }
  return "";
}

}  // namespace

extern "C" const char* mote_op_name(uint32_t index) {
  const mote::Span<const mote::OpDef> ops = mote::builtin_ops();
  return index < ops.size ? name_of(static_cast<mote::OpId>(ops[index].id)) : nullptr;
}
