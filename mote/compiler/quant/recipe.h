#pragma once

// Everything that turns a prepared float graph into one with 8-bit numbers.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "mote/compiler/quant/codes.h"
#include "mote/compiler/quant/dynamic.h"
#include "mote/compiler/quant/equalise.h"
#include "mote/compiler/quant/grid.h"
#include "mote/compiler/quant/layout.h"

namespace mote::quant {

// pairs: restrict neighbouring codes (codes.h), except for depthwise convolutions, whose kernels do not multiply pairs.
WeightRows weight_rows(const ir::Node& product, bool pairs = false);
void set_weight_rows(ir::Graph& graph, ir::Node& product, WeightRows rows);

struct Recipe {
  ChannelFactors factors;                                        // equalise(): applied to the prepared graph before apply()
  const Grid* grid(int value) const;                             // null: its range was not observed
  bool fuse_residuals() const { return !fixed_point && !wide; }  // of integer_layout

  float smooth = 0;                               // smooth.h
  bool pairs = false;                             // weights, of codes.h
  bool fixed_point = false;                       // fixed.h
  bool wide = false;                              // activations have 16 bits and zero point 0; grids are symmetric ones of 8
  std::set<int> in_float;                         // outputs of products that stay in float
  bool keep_dynamic = false;                      // and those of them that the model quantizes dynamically stay dynamic
  std::map<int, Grid> grids;                      // by value
  std::map<int, Grid> spare;                      // of values that are quantized only when other products stay in float
  std::map<int, QuantWeights> weights;            // by the product's output; nearest_weights where there is none
  std::map<int, std::vector<double>> bias_shift;  // by the product's output: added to its bias
};

// Writes quantize and dequantize nodes; the legalize passes make integer operators of them. `expose`: values that
// become outputs of the first method (shown_name), as the 8-bit numbers show them. `forms`: what prepare() gave. False with *error when a
// grid is missing.
bool apply(const Recipe& recipe, const DynamicForms& forms, ir::Graph& graph, const std::set<int>& expose, std::string* error);

// The dynamic form of a product before prepare(); null when it had none, or its weights are no longer 8-bit numbers.
const DynamicForm* form_of(const DynamicForms& forms, const ir::Node& product, QuantWeights* weights);

}  // namespace mote::quant
