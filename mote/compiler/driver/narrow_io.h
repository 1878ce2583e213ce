#pragma once

// 8-bit inputs and outputs for models with float ones (--io int8): the caller hands over and takes what the first quantize operator would
// make and the last dequantize operator would read, so that no float tensor of a whole input is ever needed.

#include <map>
#include <string>

#include "mote/compiler/driver/run.h"
#include "mote/compiler/ir/graph.h"
#include "mote/format/reader.h"

namespace mote::driver {

// Inputs of f32 that a quantize operator reads become its 8-bit numbers; outputs of f32 those that a dequantize operator reads, or, by
// `outputs` (the value's id) and for probabilities, new ones. What has no scale stays f32, and the graph's notes say so. False with
// *error when that is everything.
bool narrow_io(ir::Graph& graph, const std::map<int, ir::QuantNote>& outputs, std::string* error);

// The scale of a program's input or output, as its file tells; null: it is not quantized.
const Quant* quant_of(const ProgramTable& table, uint32_t tensor);

// f32 as 8-bit numbers and back, rounded as `quantize` does.
Array quantized(const Array& real, DType to, const ir::QuantNote& how);
Array dequantized(const Array& codes, const ir::QuantNote& how);

// Inputs and outputs of the first method of a program that was compiled so: f32 for a quantized input becomes its codes, codes of a
// quantized output what they stand for.
void to_codes(const ProgramTable& table, std::vector<Array>* inputs);
void to_real(const ProgramTable& table, std::vector<Array>* outputs);
// Runs it on f32.
bool run_real(HostProgram& program, const std::vector<Array>& inputs, std::vector<Array>* outputs, std::string* error);

}  // namespace mote::driver
