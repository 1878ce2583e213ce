#pragma once

// Everything that turns a prepared float graph into one with 8-bit numbers.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "mote/compiler/quant/equalise.h"
#include "mote/compiler/quant/grid.h"
#include "mote/compiler/quant/layout.h"

namespace mote::quant {

// Weights of a product: one row for each output channel, whatever the operator's own order of elements is.
struct WeightRows {
  int64_t rows = 0, columns = 0;
  std::vector<float> values;  // (rows, columns)
};
WeightRows weight_rows(const ir::Node& product);
void set_weight_rows(ir::Graph& graph, ir::Node& product, WeightRows rows);

struct QuantWeights {
  std::vector<int8_t> codes;  // (rows, columns), -127..127
  std::vector<float> scales;  // one for each row
};

// Nearest codes; scales from the largest magnitude of each row.
QuantWeights nearest_weights(const WeightRows& weights);
// The same with the scale of each row chosen for the least squared error.
QuantWeights best_scaled_weights(const WeightRows& weights);
// Rows whose scale is so small that the bias would not fit 32 bits at this scale of the input get a larger one.
void fit_bias(const WeightRows& weights, const std::vector<double>& bias, float input_scale, QuantWeights* out);

struct Recipe {
  ChannelFactors factors;             // equalise(): applied to the prepared graph before apply()
  const Grid* grid(int value) const;  // null: its range was not observed

  float smooth = 0;                               // smooth.h
  bool wide = false;                              // activations have 16 bits and zero point 0; grids are symmetric ones of 8
  std::set<int> in_float;                         // outputs of products that stay in float
  std::map<int, Grid> grids;                      // by value
  std::map<int, Grid> spare;                      // of values that become 8-bit numbers only when other products stay in float
  std::map<int, QuantWeights> weights;            // by the product's output; nearest_weights where there is none
  std::map<int, std::vector<double>> bias_shift;  // by the product's output: added to its bias
};

// Writes quantize and dequantize nodes, which the passes for quantized models then turn into integer operators. `expose`: values that
// become outputs of the first method (shown_name), as the 8-bit numbers show them. False with *error when a grid is missing.
bool apply(const Recipe& recipe, ir::Graph& graph, const std::set<int>& expose, std::string* error);

}  // namespace mote::quant
