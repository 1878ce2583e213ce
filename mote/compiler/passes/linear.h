#pragma once

// Convolutions and matrix products as fusing passes see them: weights, bias, residual, activation at the same places.

#include "mote/compiler/passes/rewrite.h"

namespace mote::passes {

constexpr size_t kWeights = 1, kBias = 2, kResidual = 3, kScales = 4;

inline bool is_linear(const Node& n) { return n.is(OpId::conv) || n.is(OpId::conv_transpose) || n.is(OpId::matmul); }

// The linear node that makes `v` only for `user`, in the same block; null otherwise.
Node* linear_for(const Value* v, const Node& user);

struct Activation {
  uint32_t kind = 0;
  float a = 0, b = 0;
};
Activation activation_of(const Node& linear);
void set_activation(Node& linear, const Activation& activation);

// Output channels, and where they are in the weights.
int32_t channels_of(const Node& linear);
// A constant that has one number for each channel (the last axis of `type`) or one for all: the numbers, one for each channel.
std::vector<double> per_channel(const Value* constant, const Type& type);

// The constant float weights with every output channel multiplied; null when they are not plain float constants.
Value* scaled_weights(Graph& graph, const Node& linear, const std::vector<double>& factors);
// The bias as numbers, zeros when there is none; empty when it is not a constant vector of the channels.
std::vector<double> bias_of(const Node& linear);

// A copy of a linear node with other operands in front of `before`, with the names of both; null when it is refused.
Node* rebuilt(Graph& graph, const Node& linear, std::vector<Value*> inputs, Node& before);

// Fast kernels read bf16 weights two channels at a time and bytes four; where a window's channels do not divide, and for groups narrower
// than a panel, whose weights are few, f32 serves better than the smaller type. For conv, conv_transpose and matmul.
bool better_as_floats(const Node& product, DType small);

}  // namespace mote::passes
