#pragma once

// The activations of ops/common/activation.h on vectors and on rows in memory.

#include "mote/kernels/common/math.h"
#include "mote/ops/common/activation.h"

namespace mote::kernels::MOTE_ISA_NAME {

using ops::Activation;

MOTE_INLINE VF clamp(VF x, VF lo, VF hi) { return smaller(hi, larger(lo, x)); }  // this operand order propagates NaN in x

// The clamp of an activation. needs_function: the activation is not a clamp; activate_row_for() gives the function that computes it.
struct ActivationBounds {
  float lo = -HUGE_VALF, hi = HUGE_VALF;
  bool needs_function = false;
  MOTE_INLINE ActivationBounds(uint32_t activation, float a, float b) {
    switch (static_cast<Activation>(activation)) {
      case Activation::kClamp: lo = a, hi = b; break;
      case Activation::kRelu: lo = 0; break;
      case Activation::kRelu6: lo = 0, hi = 6; break;
      case Activation::kNone: break;
      default: needs_function = true; break;
    }
  }
};

// One vector. Kind is a template argument so that the switch folds away inside loops.
template <Activation Kind>
MOTE_INLINE VF activate(VF x, VF a, VF b) {
  const F32 d;
  const VF zero = hn::Zero(d), one = hn::Set(d, 1.0f);
  const auto below_zero = [&](VF low) MOTE_LAMBDA { return hn::IfThenElse(hn::Lt(x, zero), low, x); };
  switch (Kind) {
    case Activation::kNone: return x;
    case Activation::kClamp: return clamp(x, a, b);
    case Activation::kRelu: return larger(zero, x);
    case Activation::kRelu6: return clamp(x, zero, hn::Set(d, 6.0f));
    case Activation::kLeaky: return below_zero(hn::Mul(a, x));
    case Activation::kSigmoid: return sigmoid(x);
    case Activation::kTanh: return tanh(x);
    case Activation::kSilu: return silu(x, x);
    case Activation::kHardSwish:
      return hn::Mul(hn::Mul(x, clamp(hn::Add(x, hn::Set(d, 3.0f)), zero, hn::Set(d, 6.0f))), hn::Set(d, 1.0f / 6));
    case Activation::kGelu: return gelu(x);
    case Activation::kGeluTanh: return gelu_tanh(x);
    case Activation::kHardSigmoid: return clamp(hn::MulAdd(a, x, b), zero, one);
    case Activation::kElu: return below_zero(hn::Mul(a, expm1_negative(x)));
    case Activation::kSoftplus: return softplus(x);
    case Activation::kMish: return hn::Mul(x, tanh(softplus(x)));
  }
  return x;
}

// Applies the activation in place to elements [first, first + count) of each row; a and b are its parameters.
using ActivateFn = void (*)(float a, float b, float* const* row, int32_t rows, int64_t first, int32_t count);
ActivateFn activate_row_for(uint32_t kind);

}  // namespace mote::kernels::MOTE_ISA_NAME
