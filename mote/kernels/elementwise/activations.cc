// Activation operators of f32.

#include "mote/kernels/common/activate.h"
#include "mote/kernels/elementwise/rows.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/elu/elu.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/hard_sigmoid/hard_sigmoid.h"
#include "mote/ops/leaky_relu/leaky_relu.h"
#include "mote/ops/silu/silu.h"
#include "mote/ops/softplus/softplus.h"

namespace mote::kernels::MOTE_ISA_NAME::elementwise {
namespace {

// Operators with the definition of the fused activation of the same name.
template <Activation Kind>
struct FusedActivation {
  explicit FusedActivation(const OpContext&) {}
  VF operator()(VF x) const { return activate<Kind>(x, x, x); }
};
using Relu = FusedActivation<Activation::kRelu>;
using Sigmoid = FusedActivation<Activation::kSigmoid>;
using Tanh = FusedActivation<Activation::kTanh>;
using Gelu = FusedActivation<Activation::kGelu>;
using GeluTanh = FusedActivation<Activation::kGeluTanh>;

struct HardSwish {
  explicit HardSwish(const OpContext&) {}
  VF operator()(VF x) const {
    const VF gate = clamp(hn::Add(x, broadcast(3.0f)), hn::Zero(F32()), broadcast(6.0f));
    return hn::Mul(x, hn::Mul(gate, broadcast(1.0f / 6)));  // in this order large x do not overflow to infinity
  }
};

struct Clip {
  explicit Clip(const OpContext& c) : lo(bound(c, 1, c.attrs<ops::clip::Attrs>().lo)), hi(bound(c, 2, c.attrs<ops::clip::Attrs>().hi)) {}
  static VF bound(const OpContext& c, int i, float attribute) {
    const bool given = c.has_input(i) && c.input(i).count() > 0;
    return broadcast(given ? *c.input(i).as<const float>() : attribute);
  }
  // A bound that is NaN makes every result NaN.
  VF operator()(VF x) const {
    const VF raised = hn::IfThenElse(hn::Or(hn::Gt(lo, x), hn::IsNaN(lo)), lo, x);
    return hn::IfThenElse(hn::Or(hn::Lt(hi, raised), hn::IsNaN(hi)), hi, raised);
  }
  VF lo, hi;
};

struct Leaky {
  explicit Leaky(const OpContext& c) : slope(broadcast(c.attrs<ops::leaky_relu::Attrs>().negative_slope)) {}
  VF operator()(VF x) const { return hn::IfThenElse(hn::Gt(x, hn::Zero(F32())), x, hn::Mul(x, slope)); }
  VF slope;
};

struct HardSigmoid {
  explicit HardSigmoid(const OpContext& c)
      : alpha(broadcast(c.attrs<ops::hard_sigmoid::Attrs>().alpha)), beta(broadcast(c.attrs<ops::hard_sigmoid::Attrs>().beta)) {}
  VF operator()(VF x) const { return clamp(hn::MulAdd(alpha, x, beta), hn::Zero(F32()), broadcast(1.0f)); }
  VF alpha, beta;
};

struct Silu {
  explicit Silu(const OpContext& c) : alpha(broadcast(c.attrs<ops::silu::Attrs>().alpha)) {}
  VF operator()(VF x) const { return silu(x, hn::Mul(alpha, x)); }
  VF alpha;
};

struct Elu {
  explicit Elu(const OpContext& c)
      : scale(broadcast(c.attrs<ops::elu::Attrs>().scale)),
        low(broadcast(c.attrs<ops::elu::Attrs>().alpha * c.attrs<ops::elu::Attrs>().scale)),
        input_scale(broadcast(c.attrs<ops::elu::Attrs>().input_scale)) {}
  VF operator()(VF x) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(F32())), hn::Mul(x, scale), hn::Mul(expm1_negative(hn::Mul(x, input_scale)), low));
  }
  VF scale, low, input_scale;
};

struct Softplus {
  explicit Softplus(const OpContext& c) : beta(broadcast(c.attrs<ops::softplus::Attrs>().beta)) {
    const float t = c.attrs<ops::softplus::Attrs>().threshold;
    threshold = broadcast(t > 0 ? t : HUGE_VALF);
  }
  VF operator()(VF x) const {
    const VF z = hn::Mul(x, beta);
    const VF bend = quotient(softplus(hn::Neg(hn::Abs(z))), beta);
    return hn::IfThenElse(hn::Gt(z, threshold), x, hn::Add(hn::IfThenElseZero(hn::Gt(z, hn::Zero(F32())), x), bend));
  }
  VF beta, threshold;
};

// tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2); from 20 on it is 1.
struct Mish {
  explicit Mish(const OpContext&) {}
  VF operator()(VF x) const {
    const VF two = broadcast(2.0f), e = exp(smaller(broadcast(20.0f), x)), n = hn::Mul(e, hn::Add(e, two));
    return hn::Mul(x, quotient(n, hn::Add(n, two)));
  }
};

}  // namespace

KernelFn select_relu(const OpContext& c) noexcept { return unary_f32<Relu>(c); }
KernelFn select_clip(const OpContext& c) noexcept { return unary_f32<Clip>(c); }
KernelFn select_leaky_relu(const OpContext& c) noexcept { return unary_f32<Leaky>(c); }
KernelFn select_hard_swish(const OpContext& c) noexcept { return unary_f32<HardSwish>(c); }
KernelFn select_hard_sigmoid(const OpContext& c) noexcept { return unary_f32<HardSigmoid>(c); }
KernelFn select_sigmoid(const OpContext& c) noexcept { return unary_f32<Sigmoid, kCostly>(c); }
KernelFn select_tanh(const OpContext& c) noexcept { return unary_f32<Tanh, kCostly>(c); }
KernelFn select_silu(const OpContext& c) noexcept { return unary_f32<Silu, kCostly>(c); }
KernelFn select_elu(const OpContext& c) noexcept {
  return c.attrs<ops::elu::Attrs>().input_scale >= 0 ? unary_f32<Elu, kCostly>(c) : nullptr;
}
KernelFn select_softplus(const OpContext& c) noexcept { return unary_f32<Softplus, kCostly>(c); }
KernelFn select_mish(const OpContext& c) noexcept { return unary_f32<Mish, kCostly>(c); }
KernelFn select_gelu(const OpContext& c) noexcept {
  return c.attrs<ops::gelu::Attrs>().approximate == 0 ? unary_f32<Gelu, kCostly>(c) : unary_f32<GeluTanh, kCostly>(c);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::elementwise
