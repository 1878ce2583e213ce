#pragma once

// The activation that convolutions and matrix products apply to their result. Operators hold it as three plain attributes:
// uint32_t activation; float act_a, act_b.

#include <cmath>

#include "mote/core/op.h"

namespace mote::ops {

// Values are part of the program format.
enum class Activation : uint32_t {
  kNone = 0,
  kClamp = 1,  // to [a, b]
  kRelu = 2,
  kRelu6 = 3,
  kLeaky = 4,  // a * x below 0
  kSigmoid = 5,
  kTanh = 6,
  kSilu = 7,
  kHardSwish = 8,
  kGelu = 9,          // by erf
  kGeluTanh = 10,     // its tanh approximation
  kHardSigmoid = 11,  // a * x + b, clamped to [0, 1]
  kElu = 12,          // a * (exp(x) - 1) below 0
  kSoftplus = 13,
  kMish = 14,
};
constexpr uint32_t kActivationCount = 15;

template <class A>
constexpr auto activation_fields() {
  return std::make_tuple(
      attr("activation", &A::activation,
           "applied last: 0 none, 1 clamp to [a, b], 2 relu, 3 relu6, 4 leaky relu (a), 5 sigmoid, 6 tanh, 7 silu, 8 hard "
           "swish, 9 gelu, 10 gelu by tanh, 11 hard sigmoid (a, b), 12 elu (a), 13 softplus, 14 mish"),
      attr("act_a", &A::act_a, "first parameter of the activation"), attr("act_b", &A::act_b, "second parameter of the activation"));
}

template <class A>
Status check_activation(const InferContext& c, const A& a) noexcept {
  if (a.activation >= kActivationCount) return c.reject(Why::kAttribute, kActivationCount - 1, a.activation);
  const bool clamp = a.activation == static_cast<uint32_t>(Activation::kClamp);
  return clamp && !(a.act_a <= a.act_b) ? c.reject(Why::kAttribute) : Status(Status::kOk);
}

// NaN stays NaN. C: float or double.
template <class C>
C apply_activation(uint32_t kind, float a, float b, C x) noexcept {
  const auto clamp = [](C v, C lo, C hi) { return v < lo ? lo : v > hi ? hi : v; };
  const auto soft = [](C v) { return (v > 0 ? v : C(0)) + std::log1p(std::exp(-std::fabs(v))); };  // log(1 + exp(v)) without overflow
  const C ca = static_cast<C>(a), cb = static_cast<C>(b);
  switch (static_cast<Activation>(kind)) {
    case Activation::kClamp: return clamp(x, ca, cb);
    case Activation::kRelu: return x < 0 ? C(0) : x;
    case Activation::kRelu6: return clamp(x, 0, 6);
    case Activation::kLeaky: return x < 0 ? ca * x : x;
    case Activation::kSigmoid: return 1 / (1 + std::exp(-x));
    case Activation::kTanh: return std::tanh(x);
    case Activation::kSilu: return x / (1 + std::exp(-x));
    case Activation::kHardSwish: return x * clamp(x + 3, 0, 6) / 6;
    case Activation::kGelu: return C(0.5) * x * std::erfc(x * C(-0.70710678118654752));  // as gelu.cc: 1 + erf(z) would cancel
    case Activation::kGeluTanh: return x * (1 + std::tanh(C(0.79788456080286535588) * (x + C(0.044715) * x * x * x))) / 2;
    case Activation::kHardSigmoid: return clamp(ca * x + cb, 0, 1);
    case Activation::kElu: return x < 0 ? ca * std::expm1(x) : x;
    case Activation::kSoftplus: return soft(x);
    case Activation::kMish: return x * std::tanh(soft(x));
    case Activation::kNone: break;
  }
  return x;
}

}  // namespace mote::ops
