// The second stage: passes in two phases, the quantizer between them.

#include <set>

#include "mote/compiler/driver/own_pass.h"
#include "mote/compiler/driver/stages.h"
#include "mote/compiler/frontends/common/notes.h"
#include "mote/compiler/frontends/common/open_dims.h"
#include "mote/format/sha256.h"

namespace mote::driver {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

// Adds the pairs whose key is not yet there.
void add_missing(const Texts& more, Texts* all) {
  std::set<std::string> keys;
  for (const auto& pair : *all) keys.insert(pair.first);
  for (const auto& pair : more)
    if (keys.insert(pair.first).second) all->push_back(pair);
}

// What every program says of its making comes first, then what the front end says (operator set, producer). The user's metadata replace
// the model's.
void add_texts(Context& c, ir::Graph& graph) {
  Texts all = {{"producer", c.options.producer}, {"source.model", file_part(c.source.path)}};
  // What is made to be run once, as the reference of golden examples is, needs no digests: this one reads the whole model.
  if (c.options.write.digests) all.emplace_back("source.sha256", sha256_hex({c.source.bytes.data, c.source.bytes.size}));
  all.emplace_back("source.format", c.out.frontend);
  if (!c.options.options_text.empty()) all.emplace_back("options", c.options.options_text);
  all.emplace_back("target", c.options.target_name);
  all.insert(all.end(), c.options.evidence.begin(), c.options.evidence.end());
  add_missing(graph.evidence, &all);
  graph.evidence = std::move(all);
  all = c.options.metadata;
  add_missing(graph.metadata, &all);
  graph.metadata = std::move(all);
}

// Named intermediate values become outputs.
void expose_values(ir::Graph& graph) {
  for (ir::Method& m : graph.methods) {
    std::set<std::string> taken(m.output_names.begin(), m.output_names.end());
    for (const auto& node : m.block->nodes) {
      for (ir::Value* v : node->outputs) {
        if (v == nullptr || v->name.empty() || v->result_uses > 0 || dtype_bits(v->type.dtype) < 8) continue;
        if (taken.insert(v->name).second) graph.add_output(m, v->name, v);
      }
    }
  }
}

// The quantizer may have given inputs and outputs other types than the model has.
void update_types(const ir::Graph& graph, Signature* signature) {
  const auto update = [](const std::vector<ir::Value*>& values, std::vector<Signature::Io>* ios) {
    for (size_t i = 0; i < std::min(values.size(), ios->size()); ++i) (*ios)[i].dtype = values[i]->type.dtype;
  };
  for (size_t m = 0; m < signature->methods.size(); ++m) {
    update(graph.methods[m].block->arguments, &signature->methods[m].inputs);
    update(graph.methods[m].block->results, &signature->methods[m].outputs);
  }
}

bool quantize(Context& c, passes::PassRun& passes, ir::Graph& graph, std::string* error) {
  if (!c.options.quantize) return true;
  if (!c.options.quantize(graph, error)) return false;
  graph.drop_unused_values();
  return passes.verify("quantize", error);
}

}  // namespace

bool optimize(Context& c, ImportedGraph imported, OptimizedGraph* out) {
  c.begin_stage("passes", 0.1);
  ir::Graph& graph = *imported.graph;
  for (const std::string& note : frontends::assumed_notes(graph)) c.out.notes.push_back(note);
  passes::PassOptions options = c.options.passes;
  options.target = &c.options.target;
  if (c.wants_placement()) options.winograd = false;  // backends have convolutions of their own, which the transformed weights would hide
  options.log = [&c](const std::string& text) { c.log(text); };
  passes::PassRun passes(graph, options);
  std::string error;
  if (!passes.run(passes::Phase::optimize, &error) || !quantize(c, passes, graph, &error) || !passes.run(passes::Phase::legalize, &error))
    return c.fail("passes", error, "this is a defect of Mote: please report it with the model; --no-optimize may go around it");
  if (options.time_passes) passes.print_times();
  if (!run_own_pass(c, c.options.after_passes, "own pass", graph)) return false;
  if (c.options.expose_values) expose_values(graph);
  update_types(graph, &imported.model.signature);
  for (const std::string& note : frontends::notes_of(graph)) c.out.notes.push_back(note);
  add_texts(c, graph);
  *out = {std::move(imported.graph), std::move(imported.model)};
  return true;
}

}  // namespace mote::driver
