#pragma once

#include <map>
#include <string>
#include <vector>

#include "mote/compiler/ir/graph.h"
#include "mote/compiler/quant/recipe.h"

namespace mote::quant {

// Products of tensors that are quantized while running (TFLite's hybrid operators) as the float products they stand for, so that they
// can be quantized for good.
void undo_dynamic(ir::Graph& graph);

// Inputs that are quantized while running: the 8-bit numbers, scales and zero points, by the f32 value and the axis rows begin at.
using DynamicInputs = std::map<std::pair<const ir::Value*, int>, std::vector<ir::Value*>>;

// The other way: a product of f32 becomes one of 8-bit numbers, each row of a matrix (each batch of a convolution) with a scale and zero
// point of its own, found while running. Products of the same input share them. False, and nothing done, where that is not possible;
// *error is set where it should have been.
bool write_dynamic(ir::Graph& graph, ir::Node& product, const QuantWeights& weights, DynamicInputs* inputs, std::string* error);

}  // namespace mote::quant
