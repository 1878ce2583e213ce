#include <map>

#include "mote/compiler/frontends/tflite/builtin_table.h"
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

Refusal why_refused(BuiltinOperator code) {
  switch (code) {
#define MOTE_TFLITE_REFUSED(name, why, advice) \
  case BuiltinOperator::name:                  \
    return {why, advice};
#include "mote/compiler/frontends/tflite/refused_ops.def"
#undef MOTE_TFLITE_REFUSED
    case BuiltinOperator::CUSTOM: return {"there is no custom operator of this name", "replace it by builtin operators, or register it"};
    default: return {"the format has no such operator, or a version newer than Mote does", "convert for an older TensorFlow Lite"};
  }
}

std::string builtin_table() {
  std::map<std::string, std::string> rows;
#define MOTE_TFLITE_OP(code, function, inputs) rows[#code] = "read";
#include "mote/compiler/frontends/tflite/builtin_ops.def"
#undef MOTE_TFLITE_OP
  const size_t read = rows.size();
#define MOTE_TFLITE_REFUSED(code, why, advice) rows[#code] = std::string("refused: ") + (why) + "; " + (advice);
#include "mote/compiler/frontends/tflite/refused_ops.def"
#undef MOTE_TFLITE_REFUSED
  std::string s = "# TensorFlow Lite operators\n\nMade by `mote ops --tflite`; do not edit. What `mote compile` reads of the " +
                  std::to_string(rows.size()) + " builtin operators: " + std::to_string(read) +
                  ". `tests/tflite`\nholds them against LiteRT's reference kernels. Custom operators that are read:";
#define MOTE_TFLITE_CUSTOM(name, function, inputs) s += std::string(" `") + (name) + "`";
#include "mote/compiler/frontends/tflite/custom_ops.def"
#undef MOTE_TFLITE_CUSTOM
  s += ".\n\n| operator | |\n|---|---|\n";
  for (const auto& row : rows) s += "| `" + row.first + "` | " + row.second + " |\n";
  return s;
}

}  // namespace mote::frontends::tflite
