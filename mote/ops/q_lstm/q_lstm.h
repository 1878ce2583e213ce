#pragma once

#include "mote/ops/common/quant.h"
#include "mote/ops/common/select.h"

namespace mote::ops::q_lstm {

struct Attrs {
  uint32_t time_major = 0;
  uint32_t coupled = 0;
  int32_t input_multiplier[4] = {};
  int32_t input_shift[4] = {};
  int32_t recurrent_multiplier[4] = {};
  int32_t recurrent_shift[4] = {};
  int32_t cell_exponent = -11;
  int32_t cell_clip = 0;
  int32_t hidden_multiplier = 0;
  int32_t hidden_shift = 0;
  int32_t hidden_zero = 0;
  int32_t projection_multiplier = 0;
  int32_t projection_shift = 0;
  int32_t projection_clip = 0;
  int32_t output_zero = 0;
};
using Types = TypeList<int8_t>;

constexpr int kX = 0, kHidden = 1, kCell = 2, kInputWeights = 3, kRecurrentWeights = 4, kInputBias = 5, kRecurrentBias = 6, kProjection = 7,
              kProjectionBias = 8;

Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo =
    OpInfo("Runs a quantized LSTM over a sequence: 8-bit input, output and weights, 16-bit cell state (TFLite's full-integer kernel).")
        .signature(
            "x, hidden, cell, input_weights, recurrent_weights, input_bias, recurrent_bias, projection?, projection_bias? -> y?, hidden, "
            "cell")
        .inputs(7, 9)
        .outputs(3)
        .types(mask_of_list(Types{}))
        .ranks(3, 3)
        .flags(kIntegerExact)
        .scratch(&scratch);
inline constexpr auto kAttrs = std::make_tuple(
    attr("time_major", &Attrs::time_major, "1: x and y are (T, B, ...), 0: (B, T, ...)"),
    attr("coupled", &Attrs::coupled, "1: no input gate; it is one minus the forget gate, and the gates are forget, cell, output"),
    attr("input_multiplier", &Attrs::input_multiplier,
         "per gate (input, forget, cell, output): scales the product with x to 12 bits of fraction"),
    attr("input_shift", &Attrs::input_shift, "its shifts"),
    attr("recurrent_multiplier", &Attrs::recurrent_multiplier, "per gate: scales the product with the hidden state"),
    attr("recurrent_shift", &Attrs::recurrent_shift, "its shifts"),
    attr("cell_exponent", &Attrs::cell_exponent, "the cell state has scale 2^cell_exponent, -15 to -9"),
    attr("cell_clip", &Attrs::cell_clip, "0, or the greatest magnitude of the cell state"),
    attr("hidden_multiplier", &Attrs::hidden_multiplier, "scales output gate times tanh(cell)"),
    attr("hidden_shift", &Attrs::hidden_shift, "its shift"), attr("hidden_zero", &Attrs::hidden_zero, "added to that product"),
    attr("projection_multiplier", &Attrs::projection_multiplier, "scales the product with the projection"),
    attr("projection_shift", &Attrs::projection_shift, "its shift"),
    attr("projection_clip", &Attrs::projection_clip, "0, or the greatest magnitude of the projection"),
    attr("output_zero", &Attrs::output_zero, "with projection: zero point of the output"));

// x s8 (B, T, I), hidden s8 (B, O), cell s16 (B, C), input_weights s8 (gates, C, I), recurrent_weights s8 (gates, C, O), biases s32
// (gates, C) with the zero points of x and hidden folded in, projection s8 (O, C), projection_bias s32 (O).
Status infer(const Attrs& a, const InferContext& c) noexcept;
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_lstm
