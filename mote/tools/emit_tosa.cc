#include "mote/tools/emit_tosa.h"

#include "mote/compiler/emit/tosa/emit_tosa.h"

namespace mote::tools {

bool model_to_tosa(const frontends::Source& source, const driver::CompileOptions& options, std::vector<uint8_t>* out,
                   ir::Problems* problems) {
  const frontends::Frontend* frontend = frontends::find_frontend(source);
  if (frontend == nullptr) {
    problems->push_back({source.path, "expected an ONNX, TFLite, torch.export, ExecuTorch or TOSA model", ""});
    return false;
  }
  ir::Graph graph;
  if (!frontend->import(source, options.import, graph, problems)) return false;
  passes::PassOptions how = options.passes;
  how.fuse = false;
  how.winograd = false;
  std::string error;
  passes::PassRun passes(graph, how);
  if (!passes.run(passes::Phase::optimize, &error)) {
    problems->push_back({"passes", error, ""});
    return false;
  }
  return emit::emit_tosa(graph, out, problems);
}

}  // namespace mote::tools
