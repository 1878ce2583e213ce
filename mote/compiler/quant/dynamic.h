#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "mote/compiler/ir/graph.h"
#include "mote/compiler/quant/codes.h"
#include "mote/ops/dynamic_quantize/dynamic_quantize.h"

namespace mote::quant {

// How a product's input is quantized at run time.
struct DynamicForm {
  ops::dynamic_quantize::Attrs how;
  bool zero_points = true;  // the product reads them
};
using DynamicForms = std::map<std::string, DynamicForm>;  // by the product's name, which named_in() finds

// Products of tensors that are quantized while running (TFLite's hybrid operators) as the float products they stand for, so that they
// can be quantized statically. Returns their dynamic forms.
DynamicForms undo_dynamic(ir::Graph& graph);

// One scale and zero point for each row of a matrix, each batch of a convolution. False where dynamic quantization is not profitable.
bool dynamic_form(const ir::Node& product, DynamicForm* out);

// Inputs that are quantized while running: the 8-bit numbers, scales and zero points, by the f32 value, mode, and axis rows begin at.
using DynamicInputs = std::map<std::tuple<const ir::Value*, uint32_t, int>, std::vector<ir::Value*>>;

// The inverse: an f32 product becomes an 8-bit one. Products of one input share its quantized values. False, with the graph unchanged,
// where that is not possible; *error is set when it should have been.
bool write_dynamic(ir::Graph& graph, ir::Node& product, const DynamicForm& form, const QuantWeights& weights, DynamicInputs* inputs,
                   std::string* error);

}  // namespace mote::quant
