#include "mote/compiler/frontends/tflite/op.h"

namespace mote::frontends::tflite {

#define MOTE_TFLITE_CUSTOM(name, function, inputs) void function(Op&);
#include "mote/compiler/frontends/tflite/custom_ops.def"
#undef MOTE_TFLITE_CUSTOM

OpImporter find_importer(const Operator& source) {
  switch (source.code) {
#define MOTE_TFLITE_OP(code, function, inputs) \
  case BuiltinOperator::code:                  \
    return {&function, inputs};
#include "mote/compiler/frontends/tflite/builtin_ops.def"
#undef MOTE_TFLITE_OP
    default: break;
  }
  if (source.code != BuiltinOperator::CUSTOM) return {};
#define MOTE_TFLITE_CUSTOM(name, function, inputs) \
  if (source.custom_code == name) return {&function, inputs};
#include "mote/compiler/frontends/tflite/custom_ops.def"
#undef MOTE_TFLITE_CUSTOM
  return {};
}

}  // namespace mote::frontends::tflite
