#include "mote/compiler/frontends/tosa/import.h"

namespace mote::frontends::tosa {
namespace {

bool import(const Source& source, const ImportOptions& options, ir::Graph& graph, ir::Problems* problems) {
  Model model;
  return read_model(source, &model, problems) && Importer(model, options, graph, problems).run();
}

}  // namespace

extern const Frontend kFrontend;
const Frontend kFrontend = {"tosa", ".tosa", is_model, nullptr, import};

}  // namespace mote::frontends::tosa
