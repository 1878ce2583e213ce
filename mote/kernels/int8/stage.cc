#include "mote/kernels/int8/stage.h"

#include "mote/kernels/int8/byte_sum.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

// `count` elements of 32 bits (at most a vector) from i on, the last one again in the lanes behind; 0 where none are given.
MOTE_INLINE VI ints_of(const Each& e, int32_t i, int32_t count) {
  if (!e.given()) return hn::Zero(I32());
  if (!e.varies()) return set_ints(e.at<int32_t>(0));
  if (count >= kIntLanes) return load_ints(&e.at<int32_t>(i));
  Lanes<int32_t> some;
  for (int32_t k = 0; k < kIntLanes; ++k) some.v[k] = e.at<int32_t>(i + (k < count ? k : count - 1));
  return load_ints(some.v);
}

#if HWY_HAVE_FLOAT64
// x to the nearest whole number, ties away from zero, within the bounds; NaN as 0.
template <class D>
MOTE_INLINE hn::Vec<D> round_away_within(D d, hn::Vec<D> x, const Bounds& b) {
  x = hn::IfThenElseZero(hn::Eq(x, x), x);
  const auto whole = hn::Trunc(x), rest = hn::Abs(hn::Sub(x, whole));
  const auto more = hn::IfThenElseZero(hn::Ge(rest, hn::Set(d, 0.5)), hn::CopySign(hn::Set(d, 1.0), x));
  return hn::Min(hn::Set(d, static_cast<double>(b.hi)), hn::Max(hn::Set(d, static_cast<double>(b.lo)), hn::Add(whole, more)));
}

// The same as s32 plus the zero point, of v * multipliers.
MOTE_INLINE VI scale_by_doubles(VI v, const double* multipliers, const Bounds& b) {
  const hn::Repartition<double, I32> d;
  const hn::Half<I32> half;
  constexpr int kHalf = kIntLanes / 2;
  const auto part = [&](hn::Vec<hn::Half<I32>> sums, const double* m) {
    return hn::DemoteTo(half, round_away_within(d, hn::Mul(hn::PromoteTo(d, sums), hn::Load(d, m)), b));
  };
  const VI all = hn::Combine(I32(), part(hn::UpperHalf(half, v), multipliers + kHalf), part(hn::LowerHalf(half, v), multipliers));
  return hn::Add(all, set_ints(b.zero));
}

#else
MOTE_INLINE VI scale_by_doubles(VI v, const double* multipliers, const Bounds& b) {
  Lanes<int32_t> some;
  hn::Store(v, I32(), some.v);
  for (int i = 0; i < kIntLanes; ++i) {
    const double exact = some.v[i] * multipliers[i], high = exact > b.hi ? b.hi : exact == exact ? exact : 0, x = high < b.lo ? b.lo : high;
    const int32_t whole = static_cast<int32_t>(x);
    const double rest = x - whole;
    some.v[i] = whole + (rest >= 0.5) - (rest <= -0.5) + b.zero;
  }
  return hn::Load(I32(), some.v);
}
#endif

}  // namespace

struct StoreRows {
  enum class How { kFixed, kReal, kDouble };

  static MOTE_INLINE VI sum_of(const Columns& c, const Outputs& o, int32_t v, int32_t m, VI base) {
    VI x = hn::Add(load_ints(o.sums + m * o.sum_stride + v), base);
    if (o.zeros) {
      const RowTerms& t = o.terms[m];
      x = hn::Add(x, hn::Mul(set_ints(t.zero_factor), hn::Load(I32(), c.zero + o.at + v)));
      if (t.weight_factor != 0) x = hn::Add(x, hn::Mul(set_ints(t.weight_factor), hn::Load(I32(), c.weight + o.at + v)));
    }
    return x;
  }

  // What a residual adds to the sums of its outputs.
  struct InSums {
    MOTE_INLINE explicit InSums(const Stage& s) {
      if (!s.residual_in_sums()) return;
      zero = s.residual_->b_zero, shift = -s.residual_->b_shift;
      half = shift > 0 ? 1 << (shift - 1) : 0;
    }
    MOTE_INLINE VI of(VI residual, VI factor) const {
      return hn::ShiftRightSame(hn::Add(hn::Mul(hn::Sub(residual, set_ints(zero)), factor), set_ints(half)), shift);
    }
    int32_t zero = 0, shift = 0, half = 0;
  };

  static MOTE_INLINE VI scaled(How how, VI x, const Factor& factor, const double* reals, const Bounds& bounds) {
    switch (how) {
      case How::kFixed: return clamp_within(factor.scale<false>(x), bounds);
      case How::kDouble: return scale_by_doubles(x, reals, bounds);
      default: return round_within(hn::Mul(hn::ConvertTo(FloatOfInts(), x), hn::BitCast(FloatOfInts(), factor.multiplier)), bounds);
    }
  }

  // Up to a vector of elements of 8 or 16 bits.
  static MOTE_INLINE VI load_any(DType type, const uint8_t* p, int32_t count) {
    switch (type) {
      case DType::s8: return load_as_ints(reinterpret_cast<const int8_t*>(p), count);
      case DType::u8: return load_as_ints(p, count);
      default: return load_as_ints(reinterpret_cast<const int16_t*>(p), count);
    }
  }
  [[gnu::noinline, maybe_unused]] static VI load_few(DType type, const uint8_t* p, int32_t count) { return load_any(type, p, count); }
  static MOTE_INLINE VI load_as(DType type, const uint8_t* p, int32_t count) {
    if constexpr (kIntLanes == 16) return load_any(type, p, count);  // masks need no code of their own
    else return count >= kIntLanes ? load_any(type, p, kIntLanes) : load_few(type, p, count);
  }

  // Any type and any way of scaling, for what is not as most layers are.
  static void run(const Stage& s, const Columns& c, const Outputs& o) {
    const How how = s.double_ ? How::kDouble : s.real_ ? How::kReal : How::kFixed;
    const Bounds bounds = s.bounds_;
    const bool residual = o.residual != nullptr, to_sums = residual && s.residual_in_sums(), bytes = s.type_ != DType::s16;
    const SumOf sum(residual ? *s.residual_ : ops::QuantBinaryAttrs{}, s.type_);
    const InSums in_sums(s);
    for (int32_t v = 0; v < o.count; v += kIntLanes) {
      const int32_t at = o.at + v, left = o.count - v, place = bytes ? v : 2 * v;
      const VI base = hn::Load(I32(), c.base + at);
      const Factor factor{hn::Load(I32(), c.multiplier + at), hn::Load(I32(), c.left + at), hn::Load(I32(), c.right + at)};
      for (int32_t m = 0; m < o.rows; ++m) {
        const VI r = residual ? load_as(s.type_, o.residual[m] + place, left) : hn::Zero(I32());
        VI x = sum_of(c, o, v, m, base);
        if (to_sums) x = hn::Add(x, in_sums.of(r, hn::Load(I32(), c.residual + at)));
        x = scaled(how, x, factor, c.real + at, bounds);
        if (residual && !to_sums) x = sum(x, r);
        if (bytes) store_ints(x, left, o.out[m] + place);
        else store_ints(x, left, reinterpret_cast<int16_t*>(o.out[m] + place));
      }
    }
  }

  // Bytes scaled by small reals or simple factors, without a residual or with one that goes to the sums: the way of most layers, four
  // vectors at a time.
  template <bool Real, bool Adds, int V>
  static MOTE_INLINE void run_bytes(const Stage& s, const InSums& in_sums, const Columns& c, const Outputs& o, int32_t v, int32_t count,
                                    const ByteBounds& bounds) {
    VI base[V], multiplier[V], right[V], factor[V], x[V];
    SmallScale<> scale[V];
    unroll<V>([&](auto i) MOTE_LAMBDA {
      base[i] = hn::Load(I32(), c.base + o.at + v + i * kIntLanes);
      multiplier[i] = hn::Load(I32(), c.multiplier + o.at + v + i * kIntLanes);
      right[i] = hn::Load(I32(), c.right + o.at + v + i * kIntLanes);
      if (!Real && !Adds) scale[i] = SmallScale(multiplier[i], right[i]);
      if (Adds) factor[i] = hn::Load(I32(), c.residual + o.at + v + i * kIntLanes);
    });
    for (int32_t m = 0; m < o.rows; ++m) {
      unroll<V>([&](auto i) MOTE_LAMBDA {
        const FloatOfInts d;
        VI sum = sum_of(c, o, v + i * kIntLanes, m, base[i]);
        if constexpr (Adds) {
          const VI r = load_as(s.type_, o.residual[m] + v + i * kIntLanes, count - i * kIntLanes);
          sum = hn::Add(sum, in_sums.of(r, factor[i]));
        }
        if constexpr (Real) x[i] = nearest_small(hn::Mul(hn::ConvertTo(d, sum), hn::BitCast(d, multiplier[i])));
        else if constexpr (Adds) x[i] = rounding_shift_right(high_mul(sum, multiplier[i]), right[i]);
        else x[i] = scale[i](sum);
      });
      store_bytes<V>(x, bounds, count, o.out[m] + v);
    }
  }
  template <bool Real, bool Adds>
  static void run_bytes(const Stage& s, const Columns& c, const Outputs& o) {
    const ByteBounds bounds(s.bounds_, s.type_);
    const InSums in_sums(s);
    for (int32_t v = 0; v < o.count; v += 4 * kIntLanes) {
      const int32_t left = o.count - v;
      if (left > 3 * kIntLanes) run_bytes<Real, Adds, 4>(s, in_sums, c, o, v, left, bounds);
      else if (left > 2 * kIntLanes) run_bytes<Real, Adds, 3>(s, in_sums, c, o, v, left, bounds);
      else if (left > kIntLanes) run_bytes<Real, Adds, 2>(s, in_sums, c, o, v, left, bounds);
      else run_bytes<Real, Adds, 1>(s, in_sums, c, o, v, left, bounds);
    }
  }

  [[gnu::noinline]] static void add_exactly(const Stage& s, const VI* r, VI* y) {
    const ByteSum<false> add(*s.residual_, s.bounds_.zero);
    unroll<4>([&](auto i) MOTE_LAMBDA { y[i] = add(y[i], r[i]); });
  }

  // Bytes to which a residual is added after they have been scaled, by small reals or simple factors as the bytes themselves.
  template <bool Real>
  static void run_added(const Stage& s, const Columns& c, const Outputs& o) {
    constexpr int kV = kRowVectors, kRows = 4 / kV;
    const ops::QuantBinaryAttrs& a = *s.residual_;
    const ByteBounds bounds(Bounds(a.clamp_lo, a.clamp_hi, a.y_zero, s.type_), s.type_);
    const std::conditional_t<Real, ByteSum<true>, NearSum> add(a, s.bounds_.zero);
    const VI lo = set_ints(s.bounds_.lo), hi = set_ints(s.bounds_.hi);
    for (int32_t v = 0; v < o.count; v += kV * kIntLanes) {
      VI base[kV];
      VFI real[kV];
      SmallScale<> scale[kV];
      unroll<kV>([&](auto i) MOTE_LAMBDA {
        const int32_t at = o.at + v + i * kIntLanes;
        base[i] = hn::Load(I32(), c.base + at);
        if constexpr (Real) real[i] = hn::BitCast(FloatOfInts(), hn::Load(I32(), c.multiplier + at));
        else scale[i] = SmallScale<>(hn::Load(I32(), c.multiplier + at), hn::Load(I32(), c.right + at));
      });
      for (int32_t m = 0; m < o.rows; m += kRows) {
        const int32_t rows = o.rows - m < kRows ? o.rows - m : kRows;
        VI y[4], r[4];
        unroll<4>([&](auto i) MOTE_LAMBDA {
          constexpr int kVector = i % kV;
          const int32_t row = m + (i / kV < rows ? i / kV : 0), left = o.count - v - kVector * kIntLanes;
          VI x = hn::Add(load_ints(o.sums + row * o.sum_stride + v + kVector * kIntLanes), base[kVector]);
          if constexpr (Real) x = nearest_small(hn::Mul(hn::ConvertTo(FloatOfInts(), x), real[kVector]));
          else x = scale[kVector](x);
          const uint8_t* from = o.residual[row] + v + kVector * kIntLanes;
          r[i] = load_as(s.type_, from, left);
          y[i] = hn::Min(hi, hn::Max(lo, x));
        });
        if constexpr (Real) {
          unroll<4>([&](auto i) MOTE_LAMBDA { y[i] = add(y[i], r[i]); });
        } else {
          VFI z[4];
          unroll<4>([&](auto i) MOTE_LAMBDA { z[i] = add(y[i], r[i]); });
          if (add.right(z)) unroll<4>([&](auto i) MOTE_LAMBDA { y[i] = nearest_small(z[i]); });
          else add_exactly(s, r, y);
        }
        store_rows<kV>(y, bounds, o.count - v, rows, o.out + m, v);
      }
    }
  }

  static void run_sums(const Columns& c, const Outputs& o) {
    for (int32_t v = 0; v < o.count; v += kIntLanes) {
      const VI base = hn::Load(I32(), c.base + o.at + v);
      for (int32_t m = 0; m < o.rows; ++m) store_ints(sum_of(c, o, v, m, base), o.count - v, reinterpret_cast<int32_t*>(o.out[m]) + v);
    }
  }

  static void run_floats(const Stage& s, const Columns& c, const Outputs& o) {
    const FloatOfInts d;
    const bool bias = s.bias_.given();
    for (int32_t v = 0; v < o.count; v += kIntLanes) {
      const VI base = hn::Load(I32(), c.base + o.at + v);
      const VFI multiplier = hn::BitCast(d, hn::Load(I32(), c.multiplier + o.at + v)),
                add = hn::BitCast(d, hn::Load(I32(), c.left + o.at + v));
      for (int32_t m = 0; m < o.rows; ++m) {
        const VI x = sum_of(c, o, v, m, base);
        VFI y = hn::Mul(hn::ConvertTo(d, x), hn::Mul(hn::Set(d, o.terms[m].scale), multiplier));
        if (bias) y = hn::Add(y, add);
        store_narrow(y, o.count - v, reinterpret_cast<float*>(o.out[m]) + v);
      }
    }
  }

  static void run_any(const Stage& s, const Columns& c, const Outputs& o) {
    const bool residual = o.residual != nullptr, quick = !residual || s.residual_in_sums(), real = s.real_ && c.small,
               fixed = !s.real_ && !s.double_ && c.simple;
    if (s.type_ == DType::s16 || (!real && !fixed)) return run(s, c, o);
    if (quick && residual) return real ? run_bytes<true, true>(s, c, o) : run_bytes<false, true>(s, c, o);
    if (quick) return real ? run_bytes<true, false>(s, c, o) : run_bytes<false, false>(s, c, o);
    if (!o.zeros && real && ByteSum<true>::can(*s.residual_)) return run_added<true>(s, c, o);
    if (!o.zeros && fixed && ByteSum<false>::can(*s.residual_)) return run_added<false>(s, c, o);
    run(s, c, o);
  }
};

void Stage::describe(int32_t first, int32_t count, int32_t terms, Columns* columns) const noexcept {
  // Products of 9 bits each, as many as these, and a bias as large as that give sums that SmallScale takes.
  constexpr int32_t kMostTerms = 8192, kMostBias = 1 << 29;
  static_assert(int64_t{kMostTerms} * 255 * 255 + kMostBias <= kMostSmall);
  Columns& c = *columns;
  const bool f32 = type_ == DType::f32;
  auto simple = hn::FirstN(I32(), static_cast<size_t>(kIntLanes)), small = simple;
  for (int32_t i = 0; i < count; i += kIntLanes) {
    const int32_t n = first + i, some = count - i < kIntLanes ? count - i : kIntLanes;
    const VI bias = ints_of(bias_, n, some), shift = ints_of(shift_, n, some);
    const VI multiplier = double_ ? hn::Zero(I32()) : ints_of(multiplier_, n, some);
    const Factor f = Factor::make(multiplier, shift);
    hn::Store(f32 ? hn::Zero(I32()) : bias, I32(), c.base + i);
    hn::Store(multiplier, I32(), c.multiplier + i);
    hn::Store(f32 ? bias : f.left, I32(), c.left + i);
    hn::Store(f.right, I32(), c.right + i);
    if (residual_factor_.given()) hn::Store(ints_of(residual_factor_, n, some), I32(), c.residual + i);
    simple = hn::And(simple, hn::And(f.is_simple(shift), hn::And(hn::Lt(bias, set_ints(kMostBias)), hn::Gt(bias, set_ints(-kMostBias)))));
    // As integers, the bits of floats without their sign have the order of the numbers; not a number comes last.
    small = hn::And(small, hn::Lt(hn::And(multiplier, set_ints(0x7fffffff)), set_ints(0x3f800000)));
    for (int32_t k = 0; double_ && k < kIntLanes; ++k) c.real[i + k] = multiplier_.at<double>(n + (k < some ? k : some - 1));
    if (!w_zero_.given()) hn::Store(set_ints(b_zero_), I32(), c.zero + i);
    for (int32_t k = 0; w_zero_.given() && k < kIntLanes; ++k)
      c.zero[i + k] = w_zero_.zero_point(n + (k < some ? k : some - 1), w_type_) - w_shift_;
  }
  c.simple = terms <= kMostTerms && hn::AllTrue(I32(), simple);
  c.small = hn::AllTrue(I32(), small);
}

void Stage::add_zero_points(int32_t excess, int32_t k, int32_t count, Columns* columns) const noexcept {
  const VI sums = set_ints(wrapping_sub(0, excess)), zeros = set_ints(wrapping_mul(excess, k));
  for (int32_t i = 0; i < count; i += kIntLanes) {
    VI v = hn::Add(hn::Load(I32(), columns->base + i), hn::Mul(sums, hn::Load(I32(), columns->weight + i)));
    if (has_w_zero()) v = hn::Add(v, hn::Mul(zeros, hn::Load(I32(), columns->zero + i)));
    hn::Store(v, I32(), columns->base + i);
  }
}

void Stage::store(const Columns& columns, const Outputs& o) const noexcept {
  if (type_ == DType::s32) return StoreRows::run_sums(columns, o);
  if (type_ == DType::f32) return StoreRows::run_floats(*this, columns, o);
  StoreRows::run_any(*this, columns, o);
}

}  // namespace mote::kernels::MOTE_ISA_NAME
