#pragma once

// Recurrent layers: their operands, and the decomposed step for forms that no operator of Mote has (hybrid weights, layer normalisation).

#include <functional>

#include "mote/compiler/frontends/tflite/products.h"

namespace mote::frontends::tflite {

// Which inputs hold what; gates in TensorFlow Lite's order: input, forget, cell, output. Optional ones may be absent.
struct LstmInputs {
  uint32_t x = 0;
  uint32_t input_weights = 1, recurrent_weights = 5, peepholes = 9, biases = 12, projection = 16, projection_bias = 17;
  uint32_t hidden = 18, cell = 19, layer_norm = 20;
};

// Fails the operator unless the weights and biases of all gates it has, and both states, are there.
bool need_gates(Op& op, const LstmInputs& i);

struct Recurrence {
  ActivationFunctionType act = ActivationFunctionType::TANH;
  float cell_clip = 0, projection_clip = 0;
  bool time_major = true, backward = false, asymmetric = false;
};

// States carried from step to step, then what a step gives out.
using States = std::vector<Value*>;
using Step = std::function<States(ir::NodeBuilder& b, Value* x, const States& states)>;

// Runs a step over x (time, batch, features), or backwards. The first state is the output of each step; *last has the states after the
// last one. Gives (time, batch, units).
Value* run_steps(Op& op, Value* x, const States& first, bool backward, const Step& step, States* last);

// The value of a state operand, and what it becomes at the end of the run.
void keep_state(Op& op, uint32_t input, Value* state, Value* next);

// (rows, K) x weights (N, K): float, or hybrid when the weights have 8 bits; plus bias, which may be null.
Value* dense(Op& op, ir::NodeBuilder& b, Value* x, uint32_t weights, Value* bias, bool asymmetric);

// x with the time first, and back.
Value* time_first(Op& op, Value* x, bool time_major);

}  // namespace mote::frontends::tflite
