#include "mote/compiler/frontends/tosa/table.h"

#include "mote/compiler/frontends/tosa/op.h"

namespace mote::frontends::tosa {

std::string operator_table() {
  std::string text =
      "# TOSA operators\n\nMade by `mote ops --tosa`; do not edit. What `mote compile` takes of the operators in TOSA files "
      "([docs/tosa.md](../tosa.md));\n"
      "the last ones, from MATMUL_T_BLOCK_SCALED on, came with version 1.1.\n\n| id | operator | inputs, at least | status "
      "|\n|---|---|---|---|\n";
  for (const fb::Op code : fb::EnumValuesOp()) {
    if (code == fb::Op::UNKNOWN) continue;
    const OpImporter importer = find_importer(code);
    text += "| " + std::to_string(static_cast<uint32_t>(code)) + " | " + operator_name(code) + " | ";
    text += importer.import != nullptr ? std::to_string(importer.inputs) + " | supported |\n" : " | not supported |\n";
  }
  return text;
}

}  // namespace mote::frontends::tosa
