#include "mote/compiler/program/describe.h"

#include "mote/ops/op_docs.h"

namespace mote::program {

std::string describe(const Diagnostic& d) {
  std::string text = std::string(status_text(d.status.code())) + ": " + why_text(d.status.why());
  if (d.instruction >= 0) text += "; instruction " + std::to_string(d.instruction);
  if (d.op >= 0) {
    const OpDoc* doc = find_op_doc(static_cast<uint16_t>(d.op));
    text += " (" + (doc != nullptr ? "mote::" + doc->name : "operator " + std::to_string(d.op)) + ")";
  }
  if (d.name != nullptr) text += "; '" + std::string(d.name) + "'";
  if (d.tensor >= 0) text += "; tensor " + std::to_string(d.tensor);
  if (d.expected != 0 || d.found != 0) text += "; expected " + std::to_string(d.expected) + ", found " + std::to_string(d.found);
  return text;
}

}  // namespace mote::program
