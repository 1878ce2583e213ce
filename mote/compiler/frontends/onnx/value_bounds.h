#pragma once

// Ranges of what an input holds, given with --dim 'INPUT[0]=1..64': where a model computes sizes from the values of an input, these
// bound the sizes.

#include <map>
#include <string>

#include "mote/compiler/frontends/frontend.h"
#include "mote/compiler/ir/graph.h"
#include "onnx.pb.h"

namespace mote::frontends::onnx {

using ValueRanges = std::map<std::string, std::map<int64_t, DimRange>>;  // by input and element

// Moves the options that speak of elements of inputs out of `options`.
ValueRanges take_value_ranges(const ::onnx::GraphProto& g, ImportOptions* options);

// The input's values, those outside of the ranges taken as the nearest inside; null with *error when the ranges do not fit.
ir::Value* bound_values(ir::Graph& graph, ir::Block& block, ir::Value* input, const std::map<int64_t, DimRange>& ranges,
                        std::string* error);

// What to type when a size depends on these operands: the options for the input that decides. Empty when it is no input's values.
std::string advice_for_values(const std::vector<ir::Value*>& operands);

}  // namespace mote::frontends::onnx
