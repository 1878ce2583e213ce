#include "mote/tools/emit_tosa.h"

#include "mote/compiler/emit/tosa/emit_tosa.h"

namespace mote::tools {
namespace {

// dequantize -> operator -> quantize as one integer operator, without what else the second phase does.
void make_integers(ir::Graph& graph, const passes::PassOptions& options) {
  constexpr int kMostRounds = 20;
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    for (const char* name : {"quant_moves", "quant_products", "quant_elements", "quant_tables", "fold", "identities", "cse", "dce"})
      changed = passes::run_pass(name, graph, options) || changed;
  }
}

}  // namespace

bool model_to_tosa(const frontends::Source& source, const driver::CompileOptions& options, std::vector<uint8_t>* out,
                   ir::Problems* problems, std::vector<std::string>* rounding) {
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
  if (options.passes.fuse && options.passes.optimize) make_integers(graph, how);
  return emit::emit_tosa(graph, out, problems, rounding);
}

}  // namespace mote::tools
