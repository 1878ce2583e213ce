// The first stage: from a model to a graph of Mote's operators.

#include "mote/compiler/driver/narrow_io.h"
#include "mote/compiler/driver/own_pass.h"
#include "mote/compiler/driver/ranges.h"
#include "mote/compiler/driver/stages.h"
#include "mote/compiler/driver/suggest.h"
#include "mote/compiler/frontends/common/notes.h"
#include "mote/compiler/frontends/common/open_dims.h"
#include "mote/compiler/frontends/common/other_formats.h"

namespace mote::driver {
namespace {

bool import_once(Context& c, const frontends::Frontend* frontend, const frontends::ImportOptions& options,
                 std::unique_ptr<ir::Graph>* out) {
  *out = std::make_unique<ir::Graph>();
  ir::Graph& graph = **out;
  const bool done =
      c.source.import ? c.source.import(options, graph, &c.problems) : frontend->import(c.source, options, graph, &c.problems);
  c.out.source_nodes = graph.source_nodes;
  c.out.missing_ops = graph.missing_ops;
  if (!done) {
    if (c.options.suggest_sizes) suggest_sizes(c.source, c.options, frontends::open_dims(graph), &c.problems);
    return c.problems.empty() ? c.fail(file_part(c.source.path), "the model cannot be read") : false;
  }
  const auto narrow = [](ir::Graph& g, std::string* error) { return narrow_io(g, {}, error); };
  return run_own_pass(c, c.options.attach, "--audio-frontend", graph) && run_own_pass(c, c.options.after_import, "own pass", graph) &&
         (!c.options.io_int8 || run_own_pass(c, narrow, "--io int8", graph));
}

constexpr int kMostSamples = 12;  // sizes that find_samples() may add

// Reads the model again with further samples, until none is missing; *unforeseen: where one is, when there are too many.
bool add_samples(Context& c, const frontends::Frontend* frontend, frontends::ImportOptions* options, std::unique_ptr<ir::Graph>* graph,
                 std::string* unforeseen) {
  for (int i = 0; find_samples(**graph, options, unforeseen); ++i) {
    if (i == kMostSamples) return true;
    if (!import_once(c, frontend, *options, graph)) return false;
  }
  return true;
}

// Null with a problem where the file is of no format that is read.
const frontends::Frontend* frontend_of(Context& c) {
  const frontends::Frontend* frontend = frontends::find_frontend(c.source);
  if (frontend != nullptr && frontend->recognises != nullptr && frontend->recognises(c.source)) return frontend;
  const frontends::OtherFormat* other = frontends::other_format(c.source);
  if (other == nullptr && frontend != nullptr) return frontend;
  c.fail(file_part(c.source.path),
         std::string("expected an ONNX, TFLite, torch.export, ExecuTorch or TOSA model, found ") +
             (other != nullptr ? other->what : "none of these"),
         other != nullptr ? frontends::advice_for(*other, c.source.path) : "see docs/compiling.md for what can be read");
  return nullptr;
}

}  // namespace

bool import_model(Context& c, ImportedGraph* out) {
  c.begin_stage("import", 0);
  const frontends::Frontend* frontend = c.source.import ? nullptr : frontend_of(c);
  if (!c.source.import && frontend == nullptr) return false;
  c.out.frontend = c.source.import ? c.source.format : frontend->name;
  ModelFacts& model = out->model;
  model.import = c.options.import;
  if (!import_once(c, frontend, model.import, &out->graph)) return false;
  // Facts of values depend on ranges and samples of open dimensions: with others the model is read again. A size that the samples did not
  // show may be why one is refused, so samples come first; what lies outside of a narrowed range needs none.
  std::string unforeseen;
  if (!add_samples(c, frontend, &model.import, &out->graph, &unforeseen)) return false;
  if (narrow_ranges(*out->graph, &model.import, &c.out.notes) &&
      (!import_once(c, frontend, model.import, &out->graph) || !add_samples(c, frontend, &model.import, &out->graph, &unforeseen)))
    return false;
  if (!unforeseen.empty())
    return c.fail(file_part(c.source.path), "sizes change from one to the next in more ways than can be planned for: at " + unforeseen,
                  "give a smaller range to --dim");
  model.signature = signature_of(*out->graph);
  model.symbols = out->graph->symbols;
  return true;
}

}  // namespace mote::driver
