#include "mote/compiler/frontends/tflite/import.h"
#include "mote/compiler/frontends/tflite/metadata.h"

namespace mote::frontends::tflite {
namespace {

bool import(const Source& source, const ImportOptions& options, ir::Graph& graph, ir::Problems* problems) {
  Model model;
  if (!read_model(source, &model, problems)) return false;
  if (!Importer(model, options, graph, problems).run()) return false;
  add_metadata(model, graph);
  return true;
}

}  // namespace

extern const Frontend kFrontend;
const Frontend kFrontend = {"tflite", ".tflite", is_model, nullptr, import};

}  // namespace mote::frontends::tflite
