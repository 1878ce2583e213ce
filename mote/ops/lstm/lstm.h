#pragma once

#include "mote/ops/common/recurrent.h"

namespace mote::ops::lstm {

struct Attrs {
  int32_t hidden = 0;
  int32_t direction = 0;
  int32_t layout = 0;
  int32_t input_forget = 0;
  float clip = 0;
  float cell_clip = 0;
  int32_t activations[8] = {5, 6, 6, 5, 6, 6};
  float alpha[8] = {};
  float beta[8] = {};
  int32_t clip_gates_only = 0;
};
using Types = FloatTypes;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo =
    OpInfo("Runs a long short-term memory layer over a sequence; gates lie in the order input, output, forget, cell (iofc).")
        .signature("x, w, r, b?, lengths?, h0?, c0?, peephole?, projection? -> y?, y_h?, y_c?")
        .inputs(3, 9)
        .outputs(1, 3)
        .types(mask_of_list(Types{}))
        .ranks(3, 3)
        .scratch(&scratch)
        .onnx("LSTM");
inline constexpr auto kAttrs = std::make_tuple(
    attr("hidden", &Attrs::hidden, "units H; 0: as w says"), attr("direction", &Attrs::direction, "0 forward, 1 reverse, 2 both"),
    attr("layout", &Attrs::layout, "0: time first, 1: batch first"),
    attr("input_forget", &Attrs::input_forget, "1: the forget gate is 1 - input gate"),
    attr("clip", &Attrs::clip, "bounds what enters the activations to [-clip, clip]; 0: not"),
    attr("cell_clip", &Attrs::cell_clip, "bounds the cell state itself to [-cell_clip, cell_clip]; 0: not"),
    attr("activations", &Attrs::activations,
         "of the gates, of the cell's input, of the output; kinds as in rnn; the second direction's follow"),
    attr("alpha", &Attrs::alpha, "first parameter of each activation"), attr("beta", &Attrs::beta, "second parameter of each activation"),
    attr("clip_gates_only", &Attrs::clip_gates_only,
         "1: clip does not bound the cell state that enters the last activation (ONNX Runtime)"));

// Beside what recurrent.h says: c0 (D, B, H), peephole (D, 3*H) in the order iof, projection (D, O, H): h = projection * h.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(require_range(c, a.input_forget, 0, 1));
  MOTE_TRY(require_range(c, a.clip_gates_only, 0, 1));
  if (!(a.cell_clip >= 0)) return c.reject(Why::kAttribute, 0, -1);
  if (c.has(8)) MOTE_TRY(require_rank(c, 8, 3));
  RecurrentShape s;
  MOTE_TRY(infer_recurrent(a, c, 4, 3, c.has(8) ? c.in(8).dims[1] : -1, &s));
  MOTE_TRY(require_state(a, c, 5, s, s.out));
  MOTE_TRY(require_state(a, c, 6, s, s.hidden));
  if (c.has(7)) MOTE_TRY(require_operand(c, 7, c.in(0).dtype, {s.directions, int64_t{3} * s.hidden}));
  if (c.has(8)) MOTE_TRY(require_operand(c, 8, c.in(0).dtype, {s.directions, s.out, s.hidden}));
  MOTE_TRY(set_sequence(a, c, s));
  MOTE_TRY(set_state(a, c, 1, s, s.out));
  return set_state(a, c, 2, s, s.hidden);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::lstm
