// Unary arithmetic of f32, and squares of s32.

#include "mote/kernels/common/exact.h"
#include "mote/kernels/elementwise/rows.h"

namespace mote::kernels::MOTE_ISA_NAME::elementwise {
namespace {

// For functions without parameters.
struct Stateless {
  explicit Stateless(const OpContext&) {}
};

#define MOTE_FUNCTION(Name, value)              \
  struct Name : Stateless {                     \
    using Stateless::Stateless;                 \
    VF operator()(VF x) const { return value; } \
  }
MOTE_FUNCTION(Abs, hn::Abs(x));
MOTE_FUNCTION(Neg, hn::Neg(x));
MOTE_FUNCTION(Square, hn::Mul(x, x));
MOTE_FUNCTION(Sqrt, square_root(x));
MOTE_FUNCTION(Rsqrt, quotient(broadcast(1.0f), square_root(x)));
MOTE_FUNCTION(Reciprocal, quotient(broadcast(1.0f), x));
MOTE_FUNCTION(Floor, with_sign_of(hn::Floor(x), x));
MOTE_FUNCTION(Ceil, with_sign_of(hn::Ceil(x), x));
MOTE_FUNCTION(Trunc, with_sign_of(hn::Trunc(x), x));
MOTE_FUNCTION(Round, with_sign_of(hn::Round(x), x));
MOTE_FUNCTION(Exp, exp(x));
MOTE_FUNCTION(Log, log(x));
MOTE_FUNCTION(Erf, erf(x));
#undef MOTE_FUNCTION

// Squares of s32, which wrap; bit-cast to f32 vectors.
struct SquareInt : Stateless {
  using Stateless::Stateless;
  VF operator()(VF x) const {
    const auto v = hn::BitCast(hn::RebindToUnsigned<F32>(), x);
    return hn::BitCast(F32(), hn::Mul(v, v));
  }
};

}  // namespace

KernelFn select_abs(const OpContext& c) noexcept { return unary_f32<Abs, kRare>(c); }
KernelFn select_neg(const OpContext& c) noexcept { return unary_f32<Neg, kRare>(c); }
KernelFn select_square(const OpContext& c) noexcept {
  return c.input(0).dtype() == DType::s32 ? select_unary<UnaryF32<SquareInt, kRare>>(c) : unary_f32<Square>(c);
}
KernelFn select_sqrt(const OpContext& c) noexcept { return unary_f32<Sqrt, kRare>(c); }
KernelFn select_rsqrt(const OpContext& c) noexcept { return unary_f32<Rsqrt, kRare>(c); }
KernelFn select_reciprocal(const OpContext& c) noexcept { return unary_f32<Reciprocal, kRare>(c); }
KernelFn select_floor(const OpContext& c) noexcept { return unary_f32<Floor, kRare>(c); }
KernelFn select_ceil(const OpContext& c) noexcept { return unary_f32<Ceil, kRare>(c); }
KernelFn select_trunc(const OpContext& c) noexcept { return unary_f32<Trunc, kRare>(c); }
KernelFn select_round(const OpContext& c) noexcept { return unary_f32<Round, kRare>(c); }
KernelFn select_exp(const OpContext& c) noexcept { return unary_f32<Exp, kCostly>(c); }
KernelFn select_log(const OpContext& c) noexcept { return unary_f32<Log, kCostly>(c); }
KernelFn select_erf(const OpContext& c) noexcept { return unary_f32<Erf, kCostly>(c); }

}  // namespace mote::kernels::MOTE_ISA_NAME::elementwise
