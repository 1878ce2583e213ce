// requantize, quantize and dequantize with one scale per tensor, four vectors at a time.

#include "mote/ops/requantize/requantize.h"
#include "mote/kernels/common/loops.h"
#include "mote/kernels/int8/requantize/bytes.h"
#include "mote/kernels/int8/requantize/narrow.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/quantize/quantize.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

constexpr int32_t kBlock = 4 * kIntLanes;

// Copies a tail, since loads read whole blocks.
template <class T>
MOTE_INLINE const T* full_block(const T* x, int32_t count, T* tail) {
  if (count >= kBlock) return x;
  __builtin_memcpy(tail, x, static_cast<size_t>(count) * sizeof(T));
  return tail;
}
template <class T, class V>
MOTE_INLINE void store_vectors(const V* v, int32_t count, T* y) {
  unroll<4>([&](auto k) MOTE_LAMBDA {
    if (count > k * kIntLanes) store_narrow(v[k], count - k * kIntLanes, y + k * kIntLanes);
  });
}

// y = f(x): f computes a block of n elements at most. X, Y: types of the elements.
template <class X, class Y, class F>
Status map_blocks(const OpContext& c, double cost, const F& function) {
  const Tensor &x = c.input(0), &y = c.output(0);
  const TensorDesc* operands[] = {x.desc, y.desc};
  for_each_run<2>(*y.desc, operands, c.rows, c.threads, cost, [&](const int64_t* at, const int64_t*, int32_t n) {
    const F f = function;  // a copy, which stores to y cannot alias
    alignas(64) X tail[kBlock] = {};
    const X* from = reinterpret_cast<const X*>(x.as<uint8_t>() + at[0]);
    Y* to = reinterpret_cast<Y*>(y.as<uint8_t>() + at[1]);
    for (int32_t i = 0; i < n; i += kBlock) f(full_block(from + i, n - i, tail), n - i, to + i);
  });
  return Status::kOk;
}

// Loads s8, u8 or s16 as s32 less their zero point.
template <class X>
struct DecodedInts {
  DecodedInts(DType type, int32_t zero_point) : flip(type == DType::s8 ? 128 : 0), zero(wrapping_add(zero_point, flip)) {}
  MOTE_INLINE VI operator()(const X* p) const {
    if constexpr (sizeof(X) == 1) return hn::Sub(hn::Xor(load_as_ints(p, kIntLanes), set_ints(flip)), set_ints(zero));
    else return hn::Sub(load_as_ints(p, kIntLanes), set_ints(zero));
  }
  int32_t flip, zero;
};

// Requantizes s32. Y: uint8_t for s8 and u8 outputs, or int32_t. 8-bit inputs are converted to s32 first.
template <class Y>
struct RequantizeBlock {
  explicit RequantizeBlock(const OpContext& c)
      : bounds(ClampRange(c.attrs<ops::requantize::Attrs>().clamp_lo, c.attrs<ops::requantize::Attrs>().clamp_hi,
                          c.attrs<ops::requantize::Attrs>().output_zero, c.output(0).dtype()),
               c.output(0).dtype()),
        zero(c.attrs<ops::requantize::Attrs>().input_zero),
        is_real(c.input(1).dtype() == DType::f32) {
    const int32_t multiplier = *c.input(1).as<const int32_t>(), shift = is_real ? 0 : *c.input(2).as<const int32_t>();
    factor = FixedPointScale::make(multiplier, shift);
    right_shift_only = !is_real && FixedPointScale::right_shift_only(multiplier, shift);
    left_shift_only = !is_real && multiplier != kInt32Min && shift >= 0;
  }
  MOTE_INLINE void operator()(const int32_t* x, int32_t n, Y* y) const {
    VI v[4];
    unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = hn::Sub(load_ints(x + k * kIntLanes), set_ints(zero)); });
    if (right_shift_only) {
      unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = factor.template scale<true>(v[k]); });
    } else if (left_shift_only) {
      unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = high_mul(hn::Shl(v[k], factor.left_shift), factor.multiplier); });
    } else if (!is_real) {
      for (int k = 0; k < 4; ++k) v[k] = factor.template scale<false>(v[k]);
    } else if constexpr (sizeof(Y) == 1) {
      const FloatOfInts d;
      const VFI real = hn::BitCast(d, factor.multiplier);
      const ClampRange range(-1000, 1000, 0, DType::s16);
      unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = round_clamp_and_offset(hn::Mul(hn::ConvertTo(d, v[k]), real), range); });
    }
    if constexpr (sizeof(Y) == 1) store_bytes<4>(v, bounds, n, y);
    else store_vectors(v, n, y);
  }
  FixedPointScale factor;
  ByteClampRange bounds;
  int32_t zero;
  bool is_real, right_shift_only, left_shift_only;
};
// A block of x as s32.
MOTE_INLINE const int32_t* load_as_s32(const uint8_t* x, DType type, int32_t count, int32_t* block) {
  if (type == DType::s32) return full_block(reinterpret_cast<const int32_t*>(x), count, block);
  const int32_t flip = type == DType::s8 ? 128 : 0;
  alignas(64) uint8_t tail[kBlock] = {};
  const uint8_t* bytes = full_block(x, count, tail);
  for (int32_t k = 0; k < kBlock; k += kIntLanes)
    hn::Store(hn::Sub(hn::Xor(load_as_ints(bytes + k, kIntLanes), set_ints(flip)), set_ints(flip)), I32(), block + k);
  return block;
}
template <class Y>
Status requantize_ints(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const TensorDesc* operands[] = {x.desc, y.desc};
  const RequantizeBlock<Y> requantize_block(c);
  const int32_t width = static_cast<int32_t>(dtype_bytes(x.dtype()));
  for_each_run<2>(*y.desc, operands, c.rows, c.threads, 8, [&](const int64_t* at, const int64_t*, int32_t n) {
    const RequantizeBlock<Y> f = requantize_block;  // a copy, which stores to y cannot alias
    alignas(64) int32_t block[kBlock] = {};
    Y* to = reinterpret_cast<Y*>(y.as<uint8_t>() + at[1]);
    for (int32_t i = 0; i < n; i += kBlock)
      f(load_as_s32(x.as<const uint8_t>() + at[0] + int64_t{i} * width, x.dtype(), n - i, block), n - i, to + i);
  });
  return Status::kOk;
}

// f32 to Y: uint8_t for s8 and u8, or int16_t.
template <class Y>
struct QuantizeBlock {
  explicit QuantizeBlock(const OpContext& c, int32_t zero)
      : scale(*c.input(1).as<const float>()),
        range(ops::kNoClampLo, ops::kNoClampHi, sizeof(Y) == 1 ? 0 : zero, sizeof(Y) == 1 ? DType::s16 : c.output(0).dtype()),
        bounds(ClampRange(ops::kNoClampLo, ops::kNoClampHi, zero, c.output(0).dtype()), c.output(0).dtype()),
        half_away(c.attrs<ops::quantize::Attrs>().rounding != 0) {}
  MOTE_INLINE void operator()(const float* x, int32_t n, Y* y) const {
    VI v[4];
    unroll<4>([&](auto k) MOTE_LAMBDA {
      const VFI real = scale(hn::LoadU(FloatOfInts(), x + k * kIntLanes));
      v[k] = round_clamp_and_offset(half_away ? round_half_away(real) : real, range);
    });
    if constexpr (sizeof(Y) == 1) store_bytes<4>(v, bounds, n, y);
    else
      unroll<4>([&](auto k) MOTE_LAMBDA {
        if (n > k * kIntLanes) store_ints(v[k], n - k * kIntLanes, y + k * kIntLanes);
      });
  }
  Divisor scale;
  ClampRange range;
  ByteClampRange bounds;
  bool half_away;
};

// X to f32: uint8_t for s8 and u8, or int16_t.
template <class X>
struct DequantizeBlock {
  MOTE_INLINE void operator()(const X* x, int32_t n, float* y) const {
    const FloatOfInts d;
    VFI v[4];
    unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = hn::Mul(hn::ConvertTo(d, decode(x + k * kIntLanes)), hn::Set(d, scale)); });
    store_vectors(v, n, y);
  }
  DecodedInts<X> decode;
  float scale;
};

// Input 2 of quantize and dequantize.
int32_t zero_of(const OpContext& c, DType type) {
  if (!c.has_input(2)) return 0;
  switch (type) {
    case DType::s8: return *c.input(2).as<const int8_t>();
    case DType::u8: return *c.input(2).as<const uint8_t>();
    default: return *c.input(2).as<const int16_t>();
  }
}
template <class Y>
Status quantize_f32(const OpContext& c) noexcept {
  return map_blocks<float, Y>(c, 8, QuantizeBlock<Y>(c, zero_of(c, c.output(0).dtype())));
}
template <class X>
Status dequantize_f32(const OpContext& c) noexcept {
  const DType type = c.input(0).dtype();
  return map_blocks<X, float>(c, 8, DequantizeBlock<X>{{type, zero_of(c, type)}, *c.input(1).as<const float>()});
}

bool is_byte(DType t) { return t == DType::s8 || t == DType::u8; }
bool is_per_tensor(const OpContext& c) { return c.input(1).count() == 1 && (!c.has_input(2) || c.input(2).count() == 1); }

}  // namespace

KernelFn select_requantize(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::requantize::Attrs>();
  const DType x = c.input(0).dtype(), y = c.output(0).dtype();
  if (c.input(1).count() != 1 || (!is_byte(x) && x != DType::s32)) return nullptr;
  if (is_byte(y)) return &requantize_ints<uint8_t>;
  // s32 outputs are stored as they are: fixed-point scales, no zero point, no clamp.
  if (y != DType::s32 || !c.has_input(2) || a.output_zero != 0 || a.clamp_lo != ops::kNoClampLo || a.clamp_hi != ops::kNoClampHi)
    return nullptr;
  return &requantize_ints<int32_t>;
}
KernelFn select_quantize(const OpContext& c) noexcept {
  if (c.input(0).dtype() != DType::f32 || !is_per_tensor(c)) return nullptr;
  if (is_byte(c.output(0).dtype())) return &quantize_f32<uint8_t>;
  return c.output(0).dtype() == DType::s16 ? &quantize_f32<int16_t> : nullptr;
}
KernelFn select_dequantize(const OpContext& c) noexcept {
  if (c.output(0).dtype() != DType::f32 || !is_per_tensor(c)) return nullptr;
  if (is_byte(c.input(0).dtype())) return &dequantize_f32<uint8_t>;
  return c.input(0).dtype() == DType::s16 ? &dequantize_f32<int16_t> : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
