#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "mote/compiler/ir/graph.h"
#include "mote/compiler/quant/codes.h"
#include "mote/ops/dynamic_quantize/dynamic_quantize.h"

namespace mote::quant {

// How a product's input is quantized while running.
struct DynamicForm {
  ops::dynamic_quantize::Attrs how;
  bool zero_points = true;  // the product reads them
};
using DynamicForms = std::map<std::string, DynamicForm>;  // by the product's name, which named_in() finds

// Products of tensors that are quantized while running (TFLite's hybrid operators) as the float products they stand for, so that they
// can be quantized for good. Returns what they were.
DynamicForms undo_dynamic(ir::Graph& graph);

// Each row of a matrix, each batch of a convolution, with a scale and zero point of its own. False where that does not pay.
bool dynamic_form(const ir::Node& product, DynamicForm* out);

// Inputs that are quantized while running: the 8-bit numbers, scales and zero points, by the f32 value, mode, and axis rows begin at.
using DynamicInputs = std::map<std::tuple<const ir::Value*, uint32_t, int>, std::vector<ir::Value*>>;

// The other way: a product of f32 becomes one of 8-bit numbers. Products of the same input share its numbers. False, and nothing done,
// where that is not possible; *error is set where it should have been.
bool write_dynamic(ir::Graph& graph, ir::Node& product, const DynamicForm& form, const QuantWeights& weights, DynamicInputs* inputs,
                   std::string* error);

}  // namespace mote::quant
