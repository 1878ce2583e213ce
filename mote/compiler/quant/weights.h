#pragma once

// Constant weights and tables in few bits, activations in f32 or, dynamically, in 8 bits found while running. Nothing here needs data.

#include "mote/compiler/quant/groups.h"
#include "mote/compiler/quant/scheme.h"

namespace mote::quant {

struct CompactOptions {
  Scheme scheme = Scheme::kInt8Weights;  // none that is_static()
  GroupOptions groups;                   // of int4
  float smooth = 0.5f;                   // of int8-dynamic: smooth.h
  bool pairs = true;                     // of int8-dynamic: codes.h
  bool weight_scales = true;             // of 8 bits: for the least squared error
  bool rounding = true;                  // for the least error of outputs, where there is data
  std::set<std::string> in_float;        // nodes of the model to leave alone
};

// Codes that were chosen with data, by the product's output; others are found from the weights alone.
struct CompactRecipe {
  std::map<int, QuantWeights> bytes;
  std::map<int, GroupWeights> groups;
};

// Notes that need no warning.
inline constexpr const char* kFew = "few weights";
inline constexpr const char* kNoKernel = "no kernel reads such weights in a smaller type";

// A product or table of the model, and the precision it was given.
struct CompactOp {
  int id = 0;  // of its output
  std::string name, op, precision;
  std::string note;  // why it is not what was asked for
};

// Works where the quantizer does (CompileOptions::quantize), on all methods. False with *error.
bool write_compact(const CompactOptions& options, const CompactRecipe& recipe, ir::Graph& graph, std::vector<CompactOp>* ops,
                   std::string* error);

// A constant table of f32 that is looked up, large enough for small numbers.
bool is_table(const ir::Node& node);

// Products whose codes data may choose, as write_compact() meets them. Changes the graph into the form it works on.
std::vector<ir::Node*> compact_products(const CompactOptions& options, ir::Graph& graph);

}  // namespace mote::quant
