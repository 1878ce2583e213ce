#pragma once

// A front end turns a model file into a Graph. One folder each, one line in frontends.def.

#include <functional>
#include <map>
#include <string>

#include "mote/compiler/ir/graph.h"
#include "mote/compiler/ir/problem.h"

namespace mote::frontends {

struct DimRange {
  int32_t min = 1, max = 1;
};

struct ImportOptions {
  std::map<std::string, ir::Dims> shapes;  // --shape INPUT=1x3x224x224
  std::map<std::string, DimRange> dims;    // --dim NAME=MIN..MAX, --dim NAME=N; an unnamed one is called INPUT.AXIS
  std::map<std::string, ir::Dims> more;    // Symbol::more by its name: the driver finds them (driver/ranges.h)
  bool partial = false;                    // operators that are not supported become custom ones (ir::Graph::missing_ops)
  int64_t max_trips = 4096;                // bound for loops whose trip count the model does not bound (--max-trips)
};

// A symbol of the graph, with the further sizes that the options have for it.
inline ir::Symbol make_symbol(const ImportOptions& options, const std::string& name, int32_t min, int32_t max) {
  const auto more = options.more.find(name);
  return {name, min, max, more == options.more.end() ? ir::Dims{} : more->second};
}

struct Source {
  std::string path;  // for messages, and for external data beside it
  ir::Bytes bytes;
  // Where the model is no file of a front end: makes the graph, under this name of a format. May be called again for the same model.
  std::string format = {};
  std::function<bool(const ImportOptions&, ir::Graph&, ir::Problems*)> import = {};
};

struct Frontend {
  const char* name;        // "onnx"
  const char* extensions;  // ".onnx"
  // True when the bytes carry the format's signature; null: it has none.
  bool (*recognises)(const Source&);
  // True when they may be of this format: asked where neither a signature nor a name decides. Null: they cannot without a signature.
  bool (*resembles)(const Source&);
  // Fills `graph` (empty before). Reports everything that is unsupported at once; false when anything was.
  bool (*import)(const Source&, const ImportOptions&, ir::Graph& graph, ir::Problems* problems);
};

// By signature first, then by extension, then by what the bytes resemble; null when no front end fits.
const Frontend* find_frontend(const Source& source);

}  // namespace mote::frontends
