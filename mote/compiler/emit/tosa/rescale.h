#pragma once

// RESCALE and its multipliers. Everything here is signed: u8 elements are written as INT8 less 128 (Writer::signed_of).

#include <functional>

#include "mote/compiler/emit/tosa/writer.h"
#include "mote/ops/common/quant.h"

namespace mote::emit::tosa {

// (x - in_zero) * multiplier / 2^shift + out_zero, saturated to `to`. One multiplier and shift, or one for each index of the last axis.
struct Scale {
  std::vector<int32_t> multiplier, shift;
  bool twice = false;  // DOUBLE_ROUND: what TFLite's fixed point does where a shift is above 31
  bool wide = false;   // multipliers of 16 bits, for INT48
  double in_zero = 0, out_zero = 0;
  fb::DType to = fb::DType::INT32;
};

// A zero point, or a bound of elements, in the signed elements that stand for those of type t.
inline double signed_value(double v, DType t) { return t == DType::u8 ? v - 128 : v; }

// TFLite's fixed point: x * multiplier / 2^31 * 2^shift. Fails outside of what RESCALE takes.
Scale fixed_scale(Writer& w, const std::vector<int64_t>& multiplier, const std::vector<int64_t>& shift);
// The same with both in constants. `wide`: sums of 48 bits, whose multipliers TFLite cuts to 16 bits.
bool read_scale(Writer& w, const Value* multiplier, const Value* shift, bool wide, Scale* s);

// A multiplier for a real factor such that RESCALE gives value(sum), brought into lo..hi, for every sum of 32 bits; value() is monotone and
// close to sum * factor. What it does not agree on is noted: Writer::note_rounding().
Scale fitted_scale(Writer& w, const std::vector<double>& factors, const std::function<int64_t(int64_t sum, size_t channel)>& value,
                   ops::IntRange range);
// The nearest multiplier, unchecked.
Scale nearest_scale(Writer& w, const std::vector<double>& factors);
// What RESCALE computes before the output's zero point and type, for one element.
int64_t rescaled(int64_t x, int32_t multiplier, int32_t shift);

Operand rescale(Writer& w, const Operand& x, const Scale& s);
// (v - zero) * 2^left as INT32, of `rank` dimensions.
Operand widened(Writer& w, const Value* v, int32_t zero, int rank, int left = 0);
// Clamps elements that stand for type t to lo..hi, where that is less than the whole type.
Operand bounded(Writer& w, const Operand& x, DType t, int32_t lo, int32_t hi);

}  // namespace mote::emit::tosa
