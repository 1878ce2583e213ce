#pragma once

// f16 to f32 and back: round to nearest even, infinities and NaN included.

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

using Half = hn::Rebind<hwy::float16_t, F32>;
using VH = hn::Vec<Half>;

#if HWY_ARCH_WASM  // no instructions, and Highway's emulation handles finite values only
namespace f16_bits {
using Bits = hn::RebindToSigned<F32>;
using VB = hn::Vec<Bits>;
MOTE_INLINE VB set(int32_t v) { return hn::Set(Bits(), v); }
MOTE_INLINE VF floats(VB v) { return hn::BitCast(F32(), v); }
}  // namespace f16_bits

MOTE_INLINE VF to_floats(VH h) {
  using namespace f16_bits;
  const VB bits = hn::PromoteTo(Bits(), hn::BitCast(hn::Rebind<uint16_t, F32>(), h)), size = hn::And(bits, set(0x7fff));
  // Multiplying by 2^112 rebiases the exponent, exactly for denormals too.
  const VB finite = hn::BitCast(Bits(), hn::Mul(floats(hn::ShiftLeft<13>(size)), floats(set(0x77800000))));
  const VB special = hn::Or(hn::ShiftLeft<13>(size), set(0x7f800000));
  const VB value = hn::IfThenElse(hn::Gt(size, set(0x7bff)), special, finite);
  return floats(hn::Or(value, hn::ShiftLeft<16>(hn::Sub(bits, size))));
}
MOTE_INLINE VH to_halves(VF v) {
  using namespace f16_bits;
  const VB bits = hn::BitCast(Bits(), v), size = hn::And(bits, set(0x7fffffff));
  // Normal numbers: add half a unit in the last place, less one bit where the last place is even (ties to even). Overflow gives infinity.
  const VB odd = hn::And(hn::ShiftRight<13>(size), set(1));
  const VB normal = hn::ShiftRight<13>(hn::Add(hn::Sub(size, set(0x38000000 - 0xfff)), odd));
  // Denormals: adding 0.5 makes the f32 addition round at their last place.
  const VB small = hn::Sub(hn::BitCast(Bits(), hn::Add(floats(size), broadcast(0.5f))), set(0x3f000000));
  const VB finite = hn::IfThenElse(hn::Lt(size, set(0x38800000)), small, hn::Min(normal, set(0x7c00)));
  const VB value =
      hn::IfThenElse(hn::Gt(size, set(0x7f800000)), hn::Or(set(0x7e00), hn::ShiftRight<13>(hn::And(size, set(0x7fffff)))), finite);
  const VB sign = hn::And(hn::ShiftRight<16>(bits), set(0x8000));
  return hn::BitCast(Half(), hn::TruncateTo(hn::Rebind<uint16_t, F32>(), hn::BitCast(hn::RebindToUnsigned<F32>(), hn::Or(value, sign))));
}
#else
MOTE_INLINE VF to_floats(VH h) { return hn::PromoteTo(F32(), h); }
MOTE_INLINE VH to_halves(VF v) { return hn::DemoteTo(Half(), v); }
#endif

}  // namespace mote::kernels::MOTE_ISA_NAME
