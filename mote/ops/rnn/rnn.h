#pragma once

#include "mote/ops/common/recurrent.h"

namespace mote::ops::rnn {

struct Attrs {
  int32_t hidden = 0;
  int32_t direction = 0;
  int32_t layout = 0;
  float clip = 0;
  int32_t activations[8] = {6, 6};
  float alpha[8] = {};
  float beta[8] = {};
};
using Types = FloatTypes;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo = OpInfo("Runs a simple recurrent layer, h = f(w x + r h + b), over a sequence.")
                                    .signature("x, w, r, b?, lengths?, h0? -> y?, y_h?")
                                    .inputs(3, 6)
                                    .outputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .ranks(3, 3)
                                    .scratch(&scratch)
                                    .onnx("RNN");
inline constexpr auto kAttrs = std::make_tuple(
    attr("hidden", &Attrs::hidden, "units H; 0: as w says"), attr("direction", &Attrs::direction, "0 forward, 1 reverse, 2 both"),
    attr("layout", &Attrs::layout, "0: time first, 1: batch first"),
    attr("clip", &Attrs::clip, "bounds what enters the activation to [-clip, clip]; 0: not"),
    attr("activations", &Attrs::activations, kGateActivationDoc), attr("alpha", &Attrs::alpha, "first parameter of each activation"),
    attr("beta", &Attrs::beta, "second parameter of each activation"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  RecurrentShape s;
  MOTE_TRY(infer_recurrent(a, c, 1, 1, -1, &s));
  MOTE_TRY(require_state(a, c, 5, s, s.hidden));
  MOTE_TRY(set_sequence(a, c, s));
  return set_state(a, c, 1, s, s.hidden);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::rnn
