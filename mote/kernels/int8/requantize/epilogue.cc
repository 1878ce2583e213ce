#include "mote/kernels/int8/requantize/epilogue.h"

#include "mote/kernels/int8/requantize/add_bytes.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

// `count` 32-bit elements (at most a vector) from i on, the last one repeated in the remaining lanes; 0 where the operand is not given.
MOTE_INLINE VI load_operand(const BroadcastOperand& e, int32_t i, int32_t count) {
  if (!e.given()) return hn::Zero(I32());
  if (!e.varies()) return set_ints(e.at<int32_t>(0));
  if (count >= kIntLanes) return load_ints(&e.at<int32_t>(i));
  LaneBuffer<int32_t> buffer;
  for (int32_t k = 0; k < kIntLanes; ++k) buffer.v[k] = e.at<int32_t>(i + (k < count ? k : count - 1));
  return load_ints(buffer.v);
}

#if HWY_HAVE_FLOAT64
// Rounds half away from zero and clamps; NaN counts as 0.
template <class D>
MOTE_INLINE hn::Vec<D> round_half_away_and_clamp(D d, hn::Vec<D> x, const ClampRange& b) {
  x = hn::IfThenElseZero(hn::Eq(x, x), x);
  const auto integer = hn::Trunc(x), fraction = hn::Abs(hn::Sub(x, integer));
  const auto away = hn::IfThenElseZero(hn::Ge(fraction, hn::Set(d, 0.5)), hn::CopySign(hn::Set(d, 1.0), x));
  return hn::Min(hn::Set(d, static_cast<double>(b.hi)), hn::Max(hn::Set(d, static_cast<double>(b.lo)), hn::Add(integer, away)));
}

// v * multipliers, rounded half away from zero and clamped, plus the zero point.
MOTE_INLINE VI scale_f64(VI v, const double* multipliers, const ClampRange& b) {
  const hn::Repartition<double, I32> d;
  const hn::Half<I32> half;
  constexpr int kHalf = kIntLanes / 2;
  const auto scale_half = [&](hn::Vec<hn::Half<I32>> acc, const double* m) {
    return hn::DemoteTo(half, round_half_away_and_clamp(d, hn::Mul(hn::PromoteTo(d, acc), hn::Load(d, m)), b));
  };
  const VI all =
      hn::Combine(I32(), scale_half(hn::UpperHalf(half, v), multipliers + kHalf), scale_half(hn::LowerHalf(half, v), multipliers));
  return hn::Add(all, set_ints(b.zero));
}

#else
MOTE_INLINE VI scale_f64(VI v, const double* multipliers, const ClampRange& b) {
  LaneBuffer<int32_t> buffer;
  hn::Store(v, I32(), buffer.v);
  for (int i = 0; i < kIntLanes; ++i) {
    const double exact = buffer.v[i] * multipliers[i],
                 high = exact > b.hi     ? b.hi
                        : exact == exact ? exact
                                         : 0,
                 x = high < b.lo ? b.lo : high;
    const int32_t integer = static_cast<int32_t>(x);
    const double fraction = x - integer;
    buffer.v[i] = integer + (fraction >= 0.5) - (fraction <= -0.5) + b.zero;
  }
  return hn::Load(I32(), buffer.v);
}
#endif

}  // namespace

struct EpilogueKernels {
  enum class ScaleKind { kFixed, kReal, kDouble };

  static MOTE_INLINE VI corrected_accumulator(const ChannelParams& c, const OutputTile& o, int32_t v, int32_t m, VI base) {
    VI x = hn::Add(load_ints(o.accumulators + m * o.stride + v), base);
    if (o.apply_corrections) {
      const RowCorrection& t = o.corrections[m];
      x = hn::Add(x, hn::Mul(set_ints(t.zero_factor), hn::Load(I32(), c.weight_zero + o.first + v)));
      if (t.weight_factor != 0) x = hn::Add(x, hn::Mul(set_ints(t.weight_factor), hn::Load(I32(), c.weight_sum + o.first + v)));
    }
    return x;
  }

  // The term that a residual adds to the accumulators (QuantMode::kSums).
  struct ResidualInAccumulator {
    MOTE_INLINE explicit ResidualInAccumulator(const RequantEpilogue& e) {
      if (!e.residual_in_accumulator()) return;
      zero = e.residual_->b_zero, shift = -e.residual_->b_shift;
      half = shift > 0 ? 1 << (shift - 1) : 0;
    }
    MOTE_INLINE VI term(VI residual, VI factor) const {
      return hn::ShiftRightSame(hn::Add(hn::Mul(hn::Sub(residual, set_ints(zero)), factor), set_ints(half)), shift);
    }
    int32_t zero = 0, shift = 0, half = 0;
  };

  static MOTE_INLINE VI requantize_vector(ScaleKind kind, VI x, const FixedPointScale& factor, const double* reals,
                                          const ClampRange& bounds) {
    switch (kind) {
      case ScaleKind::kFixed: return clamp_and_offset(factor.scale<false>(x), bounds);
      case ScaleKind::kDouble: return scale_f64(x, reals, bounds);
      default:
        return round_clamp_and_offset(hn::Mul(hn::ConvertTo(FloatOfInts(), x), hn::BitCast(FloatOfInts(), factor.multiplier)), bounds);
    }
  }

  // Loads up to a vector of 8- or 16-bit elements.
  static MOTE_INLINE VI load_vector(DType type, const uint8_t* p, int32_t count) {
    switch (type) {
      case DType::s8: return load_as_ints(reinterpret_cast<const int8_t*>(p), count);
      case DType::u8: return load_as_ints(p, count);
      default: return load_as_ints(reinterpret_cast<const int16_t*>(p), count);
    }
  }
  [[gnu::noinline, maybe_unused]] static VI load_tail(DType type, const uint8_t* p, int32_t count) { return load_vector(type, p, count); }
  static MOTE_INLINE VI load_residual(DType type, const uint8_t* p, int32_t count) {
    if constexpr (kIntLanes == 16) return load_vector(type, p, count);  // masked loads: tails need no code of their own
    else return count >= kIntLanes ? load_vector(type, p, kIntLanes) : load_tail(type, p, count);
  }

  // Generic path: any 8- or 16-bit output type, scale and residual; used by layers that the specialised paths reject.
  static void requantize_generic(const RequantEpilogue& e, const ChannelParams& c, const OutputTile& o) {
    const ScaleKind kind = e.double_ ? ScaleKind::kDouble : e.real_ ? ScaleKind::kReal : ScaleKind::kFixed;
    const ClampRange bounds = e.bounds_;
    const bool residual = o.residual != nullptr, residual_in_acc = residual && e.residual_in_accumulator(), bytes = e.type_ != DType::s16;
    const AddResidual add_residual(residual ? *e.residual_ : ops::QuantBinaryAttrs{}, e.type_);
    const ResidualInAccumulator residual_term(e);
    for (int32_t v = 0; v < o.count; v += kIntLanes) {
      const int32_t at = o.first + v, remaining = o.count - v, offset = bytes ? v : 2 * v;
      const VI base = hn::Load(I32(), c.base + at);
      const FixedPointScale factor{hn::Load(I32(), c.multiplier + at), hn::Load(I32(), c.left_shift + at),
                                   hn::Load(I32(), c.right_shift + at)};
      for (int32_t m = 0; m < o.rows; ++m) {
        const VI r = residual ? load_residual(e.type_, o.residual[m] + offset, remaining) : hn::Zero(I32());
        VI x = corrected_accumulator(c, o, v, m, base);
        if (residual_in_acc) x = hn::Add(x, residual_term.term(r, hn::Load(I32(), c.residual_multiplier + at)));
        x = requantize_vector(kind, x, factor, c.multiplier_f64 + at, bounds);
        if (residual && !residual_in_acc) x = add_residual(x, r);
        if (bytes) store_ints(x, remaining, o.out[m] + offset);
        else store_ints(x, remaining, reinterpret_cast<int16_t*>(o.out[m] + offset));
      }
    }
  }

  // 8-bit outputs with ChannelParams::real_below_one or fast_fixed_point, without a residual or with one that is added to accumulators:
  // most layers. V vectors of a row at a time.
  template <bool Real, bool AddsResidual, int V>
  static MOTE_INLINE void requantize_bytes(const RequantEpilogue& e, const ResidualInAccumulator& residual_term, const ChannelParams& c,
                                           const OutputTile& o, int32_t v, int32_t count, const ByteClampRange& bounds) {
    VI base[V], multiplier[V], right_shift[V], factor[V], x[V];
    FastFixedPointScale<> scale[V];
    unroll<V>([&](auto i) MOTE_LAMBDA {
      base[i] = hn::Load(I32(), c.base + o.first + v + i * kIntLanes);
      multiplier[i] = hn::Load(I32(), c.multiplier + o.first + v + i * kIntLanes);
      right_shift[i] = hn::Load(I32(), c.right_shift + o.first + v + i * kIntLanes);
      if (!Real && !AddsResidual) scale[i] = FastFixedPointScale(multiplier[i], right_shift[i]);
      if (AddsResidual) factor[i] = hn::Load(I32(), c.residual_multiplier + o.first + v + i * kIntLanes);
    });
    for (int32_t m = 0; m < o.rows; ++m) {
      unroll<V>([&](auto i) MOTE_LAMBDA {
        const FloatOfInts d;
        VI acc = corrected_accumulator(c, o, v + i * kIntLanes, m, base[i]);
        if constexpr (AddsResidual) {
          const VI r = load_residual(e.type_, o.residual[m] + v + i * kIntLanes, count - i * kIntLanes);
          acc = hn::Add(acc, residual_term.term(r, factor[i]));
        }
        if constexpr (Real) x[i] = round_half_even(hn::Mul(hn::ConvertTo(d, acc), hn::BitCast(d, multiplier[i])));
        else if constexpr (AddsResidual) x[i] = rounding_shift_right(high_mul(acc, multiplier[i]), right_shift[i]);
        else x[i] = scale[i](acc);
      });
      store_bytes<V>(x, bounds, count, o.out[m] + v);
    }
  }
  template <bool Real, bool AddsResidual>
  static void requantize_bytes(const RequantEpilogue& e, const ChannelParams& c, const OutputTile& o) {
    const ByteClampRange bounds(e.bounds_, e.type_);
    const ResidualInAccumulator residual_term(e);
    for (int32_t v = 0; v < o.count; v += 4 * kIntLanes) {
      const int32_t remaining = o.count - v;
      if (remaining > 3 * kIntLanes) requantize_bytes<Real, AddsResidual, 4>(e, residual_term, c, o, v, remaining, bounds);
      else if (remaining > 2 * kIntLanes) requantize_bytes<Real, AddsResidual, 3>(e, residual_term, c, o, v, remaining, bounds);
      else if (remaining > kIntLanes) requantize_bytes<Real, AddsResidual, 2>(e, residual_term, c, o, v, remaining, bounds);
      else requantize_bytes<Real, AddsResidual, 1>(e, residual_term, c, o, v, remaining, bounds);
    }
  }

  [[gnu::noinline]] static void add_fixed_point_exactly(const RequantEpilogue& e, const VI* r, VI* y) {
    const AddBytesFixedPoint add(*e.residual_, e.bounds_.zero);
    unroll<4>([&](auto i) MOTE_LAMBDA { y[i] = add(y[i], r[i]); });
  }

  // 8-bit outputs with ChannelParams::real_below_one or fast_fixed_point, to which a residual is added after requantization.
  template <bool Real>
  static void requantize_bytes_then_add(const RequantEpilogue& e, const ChannelParams& c, const OutputTile& o) {
    constexpr int kVectors = kVectorsPerRow, kRows = 4 / kVectors;
    const ops::QuantBinaryAttrs& a = *e.residual_;
    const ByteClampRange bounds(ClampRange(a.clamp_lo, a.clamp_hi, a.y_zero, e.type_), e.type_);
    const std::conditional_t<Real, AddBytesReal, AddBytesInFloat> add(a, e.bounds_.zero);
    const VI lo = set_ints(e.bounds_.lo), hi = set_ints(e.bounds_.hi);
    for (int32_t v = 0; v < o.count; v += kVectors * kIntLanes) {
      VI base[kVectors];
      VFI real[kVectors];
      FastFixedPointScale<> scale[kVectors];
      unroll<kVectors>([&](auto i) MOTE_LAMBDA {
        const int32_t at = o.first + v + i * kIntLanes;
        base[i] = hn::Load(I32(), c.base + at);
        if constexpr (Real) real[i] = hn::BitCast(FloatOfInts(), hn::Load(I32(), c.multiplier + at));
        else scale[i] = FastFixedPointScale<>(hn::Load(I32(), c.multiplier + at), hn::Load(I32(), c.right_shift + at));
      });
      for (int32_t m = 0; m < o.rows; m += kRows) {
        const int32_t rows = o.rows - m < kRows ? o.rows - m : kRows;
        VI y[4], r[4];
        unroll<4>([&](auto i) MOTE_LAMBDA {
          constexpr int kVector = i % kVectors;
          const int32_t row = m + (i / kVectors < rows ? i / kVectors : 0), remaining = o.count - v - kVector * kIntLanes;
          VI x = hn::Add(load_ints(o.accumulators + row * o.stride + v + kVector * kIntLanes), base[kVector]);
          if constexpr (Real) x = round_half_even(hn::Mul(hn::ConvertTo(FloatOfInts(), x), real[kVector]));
          else x = scale[kVector](x);
          const uint8_t* from = o.residual[row] + v + kVector * kIntLanes;
          r[i] = load_residual(e.type_, from, remaining);
          y[i] = hn::Min(hi, hn::Max(lo, x));
        });
        if constexpr (Real) {
          unroll<4>([&](auto i) MOTE_LAMBDA { y[i] = add(y[i], r[i]); });
        } else {
          VFI z[4];
          unroll<4>([&](auto i) MOTE_LAMBDA { z[i] = add(y[i], r[i]); });
          if (add.rounding_is_certain(z)) unroll<4>([&](auto i) MOTE_LAMBDA { y[i] = round_half_even(z[i]); });
          else add_fixed_point_exactly(e, r, y);
        }
        store_rows<kVectors>(y, bounds, o.count - v, rows, o.out + m, v);
      }
    }
  }

  static void store_accumulators(const ChannelParams& c, const OutputTile& o) {
    for (int32_t v = 0; v < o.count; v += kIntLanes) {
      const VI base = hn::Load(I32(), c.base + o.first + v);
      for (int32_t m = 0; m < o.rows; ++m)
        store_ints(corrected_accumulator(c, o, v, m, base), o.count - v, reinterpret_cast<int32_t*>(o.out[m]) + v);
    }
  }

  static void store_f32(const RequantEpilogue& e, const ChannelParams& c, const OutputTile& o) {
    const FloatOfInts d;
    const bool bias = e.bias_.given();
    for (int32_t v = 0; v < o.count; v += kIntLanes) {
      const VI base = hn::Load(I32(), c.base + o.first + v);
      const VFI multiplier = hn::BitCast(d, hn::Load(I32(), c.multiplier + o.first + v)),
                add = hn::BitCast(d, hn::Load(I32(), c.left_shift + o.first + v));
      for (int32_t m = 0; m < o.rows; ++m) {
        const VI x = corrected_accumulator(c, o, v, m, base);
        VFI y = hn::Mul(hn::ConvertTo(d, x), hn::Mul(hn::Set(d, o.corrections[m].scale), multiplier));
        if (bias) y = hn::Add(y, add);
        store_narrow(y, o.count - v, reinterpret_cast<float*>(o.out[m]) + v);
      }
    }
  }

  static void requantize(const RequantEpilogue& e, const ChannelParams& c, const OutputTile& o) {
    const bool residual = o.residual != nullptr, no_final_add = !residual || e.residual_in_accumulator(),
               real = e.real_ && c.real_below_one, fixed = !e.real_ && !e.double_ && c.fast_fixed_point;
    if (e.type_ == DType::s16 || (!real && !fixed)) return requantize_generic(e, c, o);
    if (no_final_add && residual) return real ? requantize_bytes<true, true>(e, c, o) : requantize_bytes<false, true>(e, c, o);
    if (no_final_add) return real ? requantize_bytes<true, false>(e, c, o) : requantize_bytes<false, false>(e, c, o);
    if (!o.apply_corrections && real && AddBytesReal::supports(*e.residual_)) return requantize_bytes_then_add<true>(e, c, o);
    if (!o.apply_corrections && fixed && AddBytesFixedPoint::supports(*e.residual_)) return requantize_bytes_then_add<false>(e, c, o);
    requantize_generic(e, c, o);
  }
};

void RequantEpilogue::load_params(int32_t first, int32_t count, int32_t terms, ChannelParams* params) const noexcept {
  // Accumulators of this many products of 9-bit values, plus a bias of this magnitude, are in the range of FastFixedPointScale.
  constexpr int32_t kMaxTerms = 8192, kMaxBias = 1 << 29;
  static_assert(int64_t{kMaxTerms} * 255 * 255 + kMaxBias <= kFastFixedPointMax);
  ChannelParams& c = *params;
  const bool f32 = type_ == DType::f32;
  auto fast_fixed_point = hn::FirstN(I32(), static_cast<size_t>(kIntLanes)), real_below_one = fast_fixed_point;
  for (int32_t i = 0; i < count; i += kIntLanes) {
    const int32_t n = first + i, lanes = count - i < kIntLanes ? count - i : kIntLanes;
    const VI bias = load_operand(bias_, n, lanes), shift = load_operand(shift_, n, lanes);
    const VI multiplier = double_ ? hn::Zero(I32()) : load_operand(multiplier_, n, lanes);
    const FixedPointScale f = FixedPointScale::make(multiplier, shift);
    hn::Store(f32 ? hn::Zero(I32()) : bias, I32(), c.base + i);
    hn::Store(multiplier, I32(), c.multiplier + i);
    hn::Store(f32 ? bias : f.left_shift, I32(), c.left_shift + i);
    hn::Store(f.right_shift, I32(), c.right_shift + i);
    if (residual_factor_.given()) hn::Store(load_operand(residual_factor_, n, lanes), I32(), c.residual_multiplier + i);
    fast_fixed_point = hn::And(
        fast_fixed_point, hn::And(f.right_shift_only(shift), hn::And(hn::Lt(bias, set_ints(kMaxBias)), hn::Gt(bias, set_ints(-kMaxBias)))));
    // Bits of floats without their sign compare like the numbers, and NaN is greater than all: this is |multiplier| < 1.
    real_below_one = hn::And(real_below_one, hn::Lt(hn::And(multiplier, set_ints(0x7fffffff)), set_ints(0x3f800000)));
    for (int32_t k = 0; double_ && k < kIntLanes; ++k) c.multiplier_f64[i + k] = multiplier_.at<double>(n + (k < lanes ? k : lanes - 1));
    if (!w_zero_.given()) hn::Store(set_ints(weight_zero_), I32(), c.weight_zero + i);
    for (int32_t k = 0; w_zero_.given() && k < kIntLanes; ++k)
      c.weight_zero[i + k] = w_zero_.zero_point(n + (k < lanes ? k : lanes - 1), w_type_) - weight_offset_;
  }
  c.fast_fixed_point = terms <= kMaxTerms && hn::AllTrue(I32(), fast_fixed_point);
  c.real_below_one = hn::AllTrue(I32(), real_below_one);
}

void RequantEpilogue::add_zero_points(int32_t excess, int32_t k, int32_t count, ChannelParams* params) const noexcept {
  const VI weight_factor = set_ints(wrapping_sub(0, excess)), zero_factor = set_ints(wrapping_mul(excess, k));
  for (int32_t i = 0; i < count; i += kIntLanes) {
    VI v = hn::Add(hn::Load(I32(), params->base + i), hn::Mul(weight_factor, hn::Load(I32(), params->weight_sum + i)));
    if (has_w_zero()) v = hn::Add(v, hn::Mul(zero_factor, hn::Load(I32(), params->weight_zero + i)));
    hn::Store(v, I32(), params->base + i);
  }
}

void RequantEpilogue::store(const ChannelParams& params, const OutputTile& o) const noexcept {
  if (type_ == DType::s32) return EpilogueKernels::store_accumulators(params, o);
  if (type_ == DType::f32) return EpilogueKernels::store_f32(*this, params, o);
  EpilogueKernels::requantize(*this, params, o);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
