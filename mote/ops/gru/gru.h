#pragma once

#include "mote/ops/common/recurrent.h"

namespace mote::ops::gru {

struct Attrs {
  int32_t hidden = 0;
  int32_t direction = 0;
  int32_t layout = 0;
  int32_t linear_before_reset = 0;
  float clip = 0;
  int32_t activations[8] = {5, 6, 5, 6};
  float alpha[8] = {};
  float beta[8] = {};
};
using Types = FloatTypes;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo = OpInfo("Runs a gated recurrent unit over a sequence; gates lie in the order update, reset, new (zrh).")
                                    .signature("x, w, r, b?, lengths?, h0? -> y?, y_h?")
                                    .inputs(3, 6)
                                    .outputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .ranks(3, 3)
                                    .scratch(&scratch)
                                    .onnx("GRU");
inline constexpr auto kAttrs = std::make_tuple(
    attr("hidden", &Attrs::hidden, "units H; 0: as w says"), attr("direction", &Attrs::direction, "0 forward, 1 reverse, 2 both"),
    attr("layout", &Attrs::layout, "0: time first, 1: batch first"),
    attr("linear_before_reset", &Attrs::linear_before_reset,
         "0: the reset gate scales h before the product with r, 1: the product and its bias (PyTorch)"),
    attr("clip", &Attrs::clip, "bounds what enters the activations to [-clip, clip]; 0: not"),
    attr("activations", &Attrs::activations, "of update and reset, then of new; kinds as in rnn; the second direction's follow"),
    attr("alpha", &Attrs::alpha, "first parameter of each activation"), attr("beta", &Attrs::beta, "second parameter of each activation"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(require_range(c, a.linear_before_reset, 0, 1));
  RecurrentShape s;
  MOTE_TRY(infer_recurrent(a, c, 3, 2, -1, &s));
  MOTE_TRY(require_state(a, c, 5, s, s.hidden));
  MOTE_TRY(set_sequence(a, c, s));
  return set_state(a, c, 1, s, s.hidden);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::gru
