#pragma once

// Quantized tensors in the way ONNX writes them, dequantize -> operator -> quantize, as the passes that make integer operators read them.

#include "mote/compiler/passes/rewrite.h"

namespace mote::passes {

// One scale and zero point for the whole tensor.
struct Quant {
  float scale = 1;
  int32_t zero = 0;
  DType type = DType::kNone;
};
inline bool operator==(const Quant& a, const Quant& b) { return a.scale == b.scale && a.zero == b.zero && a.type == b.type; }

// Of a dequantize or quantize node with constant scale and zero point; none when they differ along the tensor.
std::optional<Quant> quant_of(const Node& node);
// The dequantize node that makes v (f32), when quant_of knows it.
Node* dequantized(const Value* v);

// Weights: one scale, or one for each index of an axis. Zero points in the same number.
struct QuantWeights {
  Value* values = nullptr;
  std::vector<double> scales, zeros;
  int axis = 0;  // where there are several
};
std::optional<QuantWeights> dequantized_weights(const Value* v);

// Bounds of the integers, from an activation that only cuts off.
struct Clamp {
  int32_t lo = INT32_MIN, hi = INT32_MAX;
};
// relu, relu6 and clamps (kinds of ops::Activation) in the numbers of y; none for other activations.
std::optional<Clamp> clamp_of(uint32_t activation, float a, float b, const Quant& y);

// quantize(x), for numbers that are known.
int32_t quantized(double x, const Quant& q);

// What feeds a quantize node: its operator, with a relu or clip between them taken as a clamp. Both must have no other use.
struct Stage {
  Quant y;
  Clamp clamp;
  Node* op = nullptr;
  std::string name;
};
std::optional<Stage> stage_of(const Node& quantize);

bool is_byte(DType t);

// How many operands hold elements (the rest are shapes and indices) of a node that only moves or picks elements; 0 for others.
size_t moved_operands(const Node& node);
// Element-wise operators of one f32 tensor, the other operands being single numbers: a table for 8-bit numbers.
bool is_function(const Node& node);

}  // namespace mote::passes
