// Changes of scale and type, element by element, four vectors at a time.

#include "mote/kernels/common/nest.h"
#include "mote/kernels/int8/bytes.h"
#include "mote/kernels/int8/narrow.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/quantize/quantize.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

constexpr int32_t kBlock = 4 * kIntLanes;

// What is not a whole block goes through memory of our own.
template <class T>
MOTE_INLINE const T* whole_block(const T* x, int32_t count, T* rest) {
  if (count >= kBlock) return x;
  __builtin_memcpy(rest, x, static_cast<size_t>(count) * sizeof(T));
  return rest;
}
template <class T, class V>
MOTE_INLINE void store_block(const V* v, int32_t count, T* y) {
  unroll<4>([&](auto k) MOTE_LAMBDA {
    if (count > k * kIntLanes) store_narrow(v[k], count - k * kIntLanes, y + k * kIntLanes);
  });
}

// y = f(x) for n neighbours: x is read as X, f takes a block of it.
template <class X, class Y, class F>
Status run_each(const OpContext& c, double cost, const F& function) {
  const Tensor &x = c.input(0), &y = c.output(0);
  const TensorDesc* operands[] = {x.desc, y.desc};
  each_run<2>(*y.desc, operands, c.rows, c.threads, cost, [&](const int64_t* at, const int64_t*, int32_t n) {
    const F f = function;  // of its own: what is stored cannot change it
    alignas(64) X rest[kBlock] = {};
    const X* from = reinterpret_cast<const X*>(x.as<uint8_t>() + at[0]);
    Y* to = reinterpret_cast<Y*>(y.as<uint8_t>() + at[1]);
    for (int32_t i = 0; i < n; i += kBlock) f(whole_block(from + i, n - i, rest), n - i, to + i);
  });
  return Status::kOk;
}

// Bytes of either type, or s16, as numbers without their zero point.
template <class X>
struct Numbers {
  Numbers(DType type, int32_t zero_point) : flip(type == DType::s8 ? 128 : 0), zero(wrapping_add(zero_point, flip)) {}
  MOTE_INLINE VI operator()(const X* p) const {
    if constexpr (sizeof(X) == 1) return hn::Sub(hn::Xor(load_as_ints(p, kIntLanes), set_ints(flip)), set_ints(zero));
    else return hn::Sub(load_as_ints(p, kIntLanes), set_ints(zero));
  }
  int32_t flip, zero;
};

// s32 with another scale. Y: uint8_t for both types of bytes, or int32_t. Bytes become s32 first.
template <class Y>
struct Rescale {
  explicit Rescale(const OpContext& c)
      : bounds(Bounds(c.attrs<ops::requantize::Attrs>().clamp_lo, c.attrs<ops::requantize::Attrs>().clamp_hi,
                      c.attrs<ops::requantize::Attrs>().output_zero, c.output(0).dtype()),
               c.output(0).dtype()),
        zero(c.attrs<ops::requantize::Attrs>().input_zero),
        is_real(c.input(1).dtype() == DType::f32) {
    const int32_t multiplier = *c.input(1).as<const int32_t>(), shift = is_real ? 0 : *c.input(2).as<const int32_t>();
    factor = Factor::make(multiplier, shift);
    simple = !is_real && Factor::is_simple(multiplier, shift);
    grows = !is_real && multiplier != kLeast && shift >= 0;
  }
  MOTE_INLINE void operator()(const int32_t* x, int32_t n, Y* y) const {
    VI v[4];
    unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = hn::Sub(load_ints(x + k * kIntLanes), set_ints(zero)); });
    if (simple) {
      unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = factor.template scale<true>(v[k]); });
    } else if (grows) {
      unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = high_mul(hn::Shl(v[k], factor.left), factor.multiplier); });
    } else if (!is_real) {
      for (int k = 0; k < 4; ++k) v[k] = factor.template scale<false>(v[k]);
    } else if constexpr (sizeof(Y) == 1) {
      const FloatOfInts d;
      const VFI real = hn::BitCast(d, factor.multiplier);
      const Bounds within(-1000, 1000, 0, DType::s16);
      unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = round_within(hn::Mul(hn::ConvertTo(d, v[k]), real), within); });
    }
    if constexpr (sizeof(Y) == 1) store_bytes<4>(v, bounds, n, y);
    else store_block(v, n, y);
  }
  Factor factor;
  ByteBounds bounds;
  int32_t zero;
  bool is_real, simple, grows;
};
// A block of x as s32.
MOTE_INLINE const int32_t* as_s32(const uint8_t* x, DType type, int32_t count, int32_t* block) {
  if (type == DType::s32) return whole_block(reinterpret_cast<const int32_t*>(x), count, block);
  const int32_t flip = type == DType::s8 ? 128 : 0;
  alignas(64) uint8_t rest[kBlock] = {};
  const uint8_t* bytes = whole_block(x, count, rest);
  for (int32_t k = 0; k < kBlock; k += kIntLanes)
    hn::Store(hn::Sub(hn::Xor(load_as_ints(bytes + k, kIntLanes), set_ints(flip)), set_ints(flip)), I32(), block + k);
  return block;
}
template <class Y>
Status run_requantize(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const TensorDesc* operands[] = {x.desc, y.desc};
  const Rescale<Y> rescale(c);
  const int32_t width = static_cast<int32_t>(dtype_bytes(x.dtype()));
  each_run<2>(*y.desc, operands, c.rows, c.threads, 8, [&](const int64_t* at, const int64_t*, int32_t n) {
    const Rescale<Y> f = rescale;  // of its own: what is stored cannot change it
    alignas(64) int32_t block[kBlock] = {};
    Y* to = reinterpret_cast<Y*>(y.as<uint8_t>() + at[1]);
    for (int32_t i = 0; i < n; i += kBlock)
      f(as_s32(x.as<const uint8_t>() + at[0] + int64_t{i} * width, x.dtype(), n - i, block), n - i, to + i);
  });
  return Status::kOk;
}

// Y: uint8_t for both types of bytes, or int16_t.
template <class Y>
struct ToInts {
  explicit ToInts(const OpContext& c, int32_t zero)
      : scale(*c.input(1).as<const float>()),
        within(ops::kNoClampLo, ops::kNoClampHi, sizeof(Y) == 1 ? 0 : zero, sizeof(Y) == 1 ? DType::s16 : c.output(0).dtype()),
        bounds(Bounds(ops::kNoClampLo, ops::kNoClampHi, zero, c.output(0).dtype()), c.output(0).dtype()),
        away(c.attrs<ops::quantize::Attrs>().rounding != 0) {}
  MOTE_INLINE void operator()(const float* x, int32_t n, Y* y) const {
    VI v[4];
    unroll<4>([&](auto k) MOTE_LAMBDA {
      const VFI real = scale(hn::LoadU(FloatOfInts(), x + k * kIntLanes));
      v[k] = round_within(away ? round_away(real) : real, within);
    });
    if constexpr (sizeof(Y) == 1) store_bytes<4>(v, bounds, n, y);
    else
      unroll<4>([&](auto k) MOTE_LAMBDA {
        if (n > k * kIntLanes) store_ints(v[k], n - k * kIntLanes, y + k * kIntLanes);
      });
  }
  Divisor scale;
  Bounds within;
  ByteBounds bounds;
  bool away;
};

// X: uint8_t for both types of bytes, or int16_t.
template <class X>
struct ToFloats {
  MOTE_INLINE void operator()(const X* x, int32_t n, float* y) const {
    const FloatOfInts d;
    VFI v[4];
    unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = hn::Mul(hn::ConvertTo(d, numbers(x + k * kIntLanes)), hn::Set(d, scale)); });
    store_block(v, n, y);
  }
  Numbers<X> numbers;
  float scale;
};

// The zero point of quantize and dequantize, input 2.
int32_t zero_of(const OpContext& c, DType type) {
  if (!c.has_input(2)) return 0;
  switch (type) {
    case DType::s8: return *c.input(2).as<const int8_t>();
    case DType::u8: return *c.input(2).as<const uint8_t>();
    default: return *c.input(2).as<const int16_t>();
  }
}
template <class Y>
Status run_quantize(const OpContext& c) noexcept {
  return run_each<float, Y>(c, 8, ToInts<Y>(c, zero_of(c, c.output(0).dtype())));
}
template <class X>
Status run_dequantize(const OpContext& c) noexcept {
  const DType type = c.input(0).dtype();
  return run_each<X, float>(c, 8, ToFloats<X>{{type, zero_of(c, type)}, *c.input(1).as<const float>()});
}

bool is_byte(DType t) { return t == DType::s8 || t == DType::u8; }
bool one_scale(const OpContext& c) { return c.input(1).count() == 1 && (!c.has_input(2) || c.input(2).count() == 1); }

}  // namespace

KernelFn select_requantize(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::requantize::Attrs>();
  const DType x = c.input(0).dtype(), y = c.output(0).dtype();
  if (c.input(1).count() != 1 || (!is_byte(x) && x != DType::s32)) return nullptr;
  if (is_byte(y)) return &run_requantize<uint8_t>;
  // Wide results as they come: with fixed-point factors, nothing to add and no bounds.
  if (y != DType::s32 || !c.has_input(2) || a.output_zero != 0 || a.clamp_lo != ops::kNoClampLo || a.clamp_hi != ops::kNoClampHi)
    return nullptr;
  return &run_requantize<int32_t>;
}
KernelFn select_quantize(const OpContext& c) noexcept {
  if (c.input(0).dtype() != DType::f32 || !one_scale(c)) return nullptr;
  if (is_byte(c.output(0).dtype())) return &run_quantize<uint8_t>;
  return c.output(0).dtype() == DType::s16 ? &run_quantize<int16_t> : nullptr;
}
KernelFn select_dequantize(const OpContext& c) noexcept {
  if (c.output(0).dtype() != DType::f32 || !one_scale(c)) return nullptr;
  if (is_byte(c.input(0).dtype())) return &run_dequantize<uint8_t>;
  return c.input(0).dtype() == DType::s16 ? &run_dequantize<int16_t> : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
