#include "mote/compiler/frontends/onnx/import.h"

namespace mote::frontends::onnx {

#define MOTE_ONNX_FAMILY(name) void add_##name##_ops(OpTable& table);
#include "mote/compiler/frontends/onnx/families.def"
#undef MOTE_ONNX_FAMILY

const OpTable& op_table() {
  static const OpTable* const table = [] {
    auto* t = new OpTable;  // never freed: importers may run until the process ends
#define MOTE_ONNX_FAMILY(name) add_##name##_ops(*t);
#include "mote/compiler/frontends/onnx/families.def"
#undef MOTE_ONNX_FAMILY
    return t;
  }();
  return *table;
}

}  // namespace mote::frontends::onnx
