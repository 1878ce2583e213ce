// Integer operators that work element by element: sums, products, changes of scale and type, tables.

#include "mote/kernels/common/nest.h"
#include "mote/kernels/int8/sum.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/q_add/q_add.h"
#include "mote/ops/q_lut/q_lut.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/q_sub/q_sub.h"
#include "mote/ops/quantize/quantize.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

// y = f(x), elements of X and Y one behind the other.
template <class X, class Y, class F>
MOTE_INLINE void map(const X* x, Y* y, int32_t n, const F& f) {
  for (int32_t i = 0; i < n; i += kIntLanes) f.store(f(load_narrow(x + i, n - i)), n - i, y + i);
}
template <class X, class Y, class F>
Status run_unary(const OpContext& c, double cost, const F& f) {
  const Tensor &x = c.input(0), &y = c.output(0);
  const TensorDesc* operands[] = {x.desc, y.desc};
  each_run<2>(*y.desc, operands, c.rows, c.threads, cost, [&](const int64_t* at, const int64_t*, int32_t n) {
    map(reinterpret_cast<const X*>(x.as<uint8_t>() + at[0]), reinterpret_cast<Y*>(y.as<uint8_t>() + at[1]), n, f);
  });
  return Status::kOk;
}

// y = f(a, b) with broadcasting.
template <class T, class F>
Status run_binary(const OpContext& c, const F& f) {
  const Tensor &a = c.input(0), &b = c.input(1), &y = c.output(0);
  const TensorDesc* operands[] = {a.desc, b.desc, y.desc};
  each_run<3>(*y.desc, operands, c.rows, c.threads, 2, [&](const int64_t* at, const int64_t* steps, int32_t n) {
    const T *p = reinterpret_cast<const T*>(a.as<uint8_t>() + at[0]), *q = reinterpret_cast<const T*>(b.as<uint8_t>() + at[1]);
    T* to = reinterpret_cast<T*>(y.as<uint8_t>() + at[2]);
    const bool one_p = steps[0] == 0, one_q = steps[1] == 0;
    const VI all_p = set_ints(p[0]), all_q = set_ints(q[0]);
    for (int32_t i = 0; i < n; i += kIntLanes)
      store_ints(f(one_p ? all_p : load_as_ints(p + i, n - i), one_q ? all_q : load_as_ints(q + i, n - i)), n - i, to + i);
  });
  return Status::kOk;
}

template <class T, int Sign>
Status run_sum(const OpContext& c) noexcept {
  return run_binary<T>(c, SumOf<Sign>(c.attrs<ops::QuantBinaryAttrs>(), dtype_of<T>));
}
template <int Sign>
KernelFn select_sum(const OpContext& c) {
  if (!SumOf<Sign>::can(c.attrs<ops::QuantBinaryAttrs>())) return nullptr;
  switch (c.input(0).dtype()) {
    case DType::s8: return &run_sum<int8_t, Sign>;
    case DType::u8: return &run_sum<uint8_t, Sign>;
    default: return nullptr;
  }
}

class ProductOf {
 public:
  ProductOf(const ops::q_mul::Attrs& a, DType type)
      : bounds_(a.clamp_lo, a.clamp_hi, a.y_zero, type), factor_(Factor::make(a.multiplier, a.shift)), y_scale_(a.y_scale), a_(a) {
    simple_ = Factor::is_simple(a.multiplier, a.shift);
  }
  MOTE_INLINE VI operator()(VI a, VI b) const {
    a = hn::Sub(a, set_ints(a_.a_zero));
    b = hn::Sub(b, set_ints(a_.b_zero));
    if (a_.mode == 0) {
      const VI p = hn::Mul(a, b);
      return clamp_within(simple_ ? factor_.scale<true>(p) : factor_.scale<false>(p), bounds_);
    }
    const FloatOfInts d;
    const VFI p = hn::Mul(hn::ConvertTo(d, a), hn::Set(d, a_.a_scale)), q = hn::Mul(hn::ConvertTo(d, b), hn::Set(d, a_.b_scale));
    return round_within(y_scale_(hn::Mul(p, q)), bounds_);
  }

 private:
  Bounds bounds_;
  Factor factor_;
  Divisor y_scale_;
  const ops::q_mul::Attrs& a_;
  bool simple_;
};
template <class T>
Status run_mul(const OpContext& c) noexcept {
  return run_binary<T>(c, ProductOf(c.attrs<ops::q_mul::Attrs>(), dtype_of<T>));
}

// Integers with another scale.
struct Rescale {
  Factor factor;
  VFI real;
  Bounds bounds;
  int32_t zero;
  bool is_real, simple;

  explicit Rescale(const OpContext& c)
      : bounds(c.attrs<ops::requantize::Attrs>().clamp_lo, c.attrs<ops::requantize::Attrs>().clamp_hi,
               c.attrs<ops::requantize::Attrs>().output_zero, c.output(0).dtype()) {
    is_real = c.input(1).dtype() == DType::f32;
    const int32_t multiplier = *c.input(1).as<const int32_t>(), shift = is_real ? 0 : *c.input(2).as<const int32_t>();
    zero = c.attrs<ops::requantize::Attrs>().input_zero;
    factor = Factor::make(multiplier, shift);
    real = hn::BitCast(FloatOfInts(), factor.multiplier);
    simple = Factor::is_simple(multiplier, shift);
  }
  static MOTE_INLINE VI ints_of(VI v) { return v; }
  template <class V>
  static MOTE_INLINE VI ints_of(V narrow) {
    return hn::PromoteTo(I32(), narrow);
  }
  template <class V>
  MOTE_INLINE VI operator()(V narrow) const {
    const VI x = hn::Sub(ints_of(narrow), set_ints(zero));
    if (is_real) return round_within(hn::Mul(hn::ConvertTo(FloatOfInts(), x), real), bounds);
    return clamp_within(simple ? factor.scale<true>(x) : factor.scale<false>(x), bounds);
  }
  template <class Y>
  static MOTE_INLINE void store(VI v, int32_t n, Y* y) {
    store_ints(v, n, y);
  }
};
template <class X, class Y>
Status run_requantize(const OpContext& c) noexcept {
  return run_unary<X, Y>(c, 2, Rescale(c));
}

struct ToInts {
  Divisor scale;
  Bounds bounds;
  bool away;
  ToInts(const OpContext& c, int32_t zero)
      : scale(*c.input(1).as<const float>()),
        bounds(ops::kNoClampLo, ops::kNoClampHi, zero, c.output(0).dtype()),
        away(c.attrs<ops::quantize::Attrs>().rounding != 0) {}
  MOTE_INLINE VI operator()(VFI x) const {
    x = scale(x);
    return away ? round_within(round_away(x), bounds) : round_within(x, bounds);
  }
  template <class Y>
  static MOTE_INLINE void store(VI v, int32_t n, Y* y) {
    store_ints(v, n, y);
  }
};
template <class Y>
Status run_quantize(const OpContext& c) noexcept {
  return run_unary<float, Y>(c, 1, ToInts(c, c.has_input(2) ? *c.input(2).as<const Y>() : 0));
}

struct ToFloats {
  float scale;
  int32_t zero;
  template <class V>
  MOTE_INLINE VFI operator()(V narrow) const {
    const FloatOfInts d;
    return hn::Mul(hn::ConvertTo(d, hn::Sub(hn::PromoteTo(I32(), narrow), set_ints(zero))), hn::Set(d, scale));
  }
  static MOTE_INLINE void store(VFI v, int32_t n, float* y) { store_narrow(v, n, y); }
};
template <class X>
Status run_dequantize(const OpContext& c) noexcept {
  return run_unary<X, float>(c, 1, ToFloats{*c.input(1).as<const float>(), c.has_input(2) ? *c.input(2).as<const X>() : 0});
}

// Sixteen entries of the table at a time: of the bytes, only those that begin with the right four bits become an index below 16.
Status run_lut(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const uint8_t* table = c.input(1).as<const uint8_t>();
  const TensorDesc* operands[] = {x.desc, y.desc};
  each_run<2>(*y.desc, operands, c.rows, c.threads, 1, [&](const int64_t* at, const int64_t*, int32_t n) {
    // x86 looks at the low four bits of an index below 128, others at all of it.
    constexpr uint8_t kLift = HWY_ARCH_X86 ? 0x70 : 0;
    const hn::CappedTag<uint8_t, 64> d;
    constexpr int32_t kStep = static_cast<int32_t>(hn::MaxLanes(d));
    const uint8_t* from = x.as<uint8_t>() + at[0];
    uint8_t* to = y.as<uint8_t>() + at[1];
    int32_t i = 0;
    for (; i + kStep <= n; i += kStep) {
      const auto v = hn::LoadU(d, from + i);
      auto found = hn::Zero(d);
      for (int part = 0; part < 16; ++part) {
        const auto index = hn::SaturatedAdd(hn::Xor(v, hn::Set(d, static_cast<uint8_t>(part * 16))), hn::Set(d, kLift));
        found = hn::Or(found, hn::TableLookupBytesOr0(hn::LoadDup128(d, table + part * 16), index));
      }
      hn::StoreU(found, d, to + i);
    }
    for (; i < n; ++i) to[i] = table[from[i]];
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_add(const OpContext& c) noexcept { return select_sum<1>(c); }
KernelFn select_q_sub(const OpContext& c) noexcept { return select_sum<-1>(c); }
KernelFn select_q_mul(const OpContext& c) noexcept {
  switch (c.input(0).dtype()) {
    case DType::s8: return &run_mul<int8_t>;
    case DType::u8: return &run_mul<uint8_t>;
    default: return nullptr;
  }
}
KernelFn select_q_lut(const OpContext&) noexcept { return &run_lut; }

template <class X>
static KernelFn select_requantize_to(DType y) {
  switch (y) {
    case DType::s8: return &run_requantize<X, int8_t>;
    case DType::u8: return &run_requantize<X, uint8_t>;
    case DType::s32: return &run_requantize<X, int32_t>;
    default: return nullptr;
  }
}
KernelFn select_requantize(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::requantize::Attrs>();
  const DType y = c.output(0).dtype();
  if (c.input(1).count() != 1) return nullptr;
  // Wide results as they come: with fixed-point factors, nothing to add and no bounds.
  if (y == DType::s32 && (!c.has_input(2) || a.output_zero != 0 || a.clamp_lo != ops::kNoClampLo || a.clamp_hi != ops::kNoClampHi))
    return nullptr;
  switch (c.input(0).dtype()) {
    case DType::s8: return select_requantize_to<int8_t>(y);
    case DType::u8: return select_requantize_to<uint8_t>(y);
    case DType::s32: return select_requantize_to<int32_t>(y);
    default: return nullptr;
  }
}
KernelFn select_quantize(const OpContext& c) noexcept {
  if (c.input(0).dtype() != DType::f32 || c.input(1).count() != 1 || (c.has_input(2) && c.input(2).count() != 1)) return nullptr;
  switch (c.output(0).dtype()) {
    case DType::s8: return &run_quantize<int8_t>;
    case DType::u8: return &run_quantize<uint8_t>;
    case DType::s16: return &run_quantize<int16_t>;
    default: return nullptr;
  }
}
KernelFn select_dequantize(const OpContext& c) noexcept {
  if (c.output(0).dtype() != DType::f32 || c.input(1).count() != 1 || (c.has_input(2) && c.input(2).count() != 1)) return nullptr;
  switch (c.input(0).dtype()) {
    case DType::s8: return &run_dequantize<int8_t>;
    case DType::u8: return &run_dequantize<uint8_t>;
    case DType::s16: return &run_dequantize<int16_t>;
    default: return nullptr;
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME
