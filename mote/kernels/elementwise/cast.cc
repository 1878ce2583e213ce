// cast between element types with the semantics of ops/cast: float to integer truncates and saturates (NaN gives 0), integers wrap.

#include <limits>

#include "mote/kernels/common/f16.h"
#include "mote/kernels/elementwise/rows.h"

namespace mote::kernels::MOTE_ISA_NAME::elementwise {
namespace {

using S32 = hn::RebindToSigned<F32>;

// A boolean in memory: any byte but 0 reads as true, true is stored as 1.
struct Bool {
  uint8_t byte;
};

template <class To, class From>
MOTE_INLINE To convert(From v) {
  if constexpr (std::is_same_v<From, Bool>) return convert<To>(static_cast<uint8_t>(v.byte != 0));
  else if constexpr (std::is_same_v<To, Bool>) return Bool{static_cast<uint8_t>(v != From(0))};
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    using L = std::numeric_limits<To>;
    constexpr From kEnd = From(2) * static_cast<From>(To(1) << (L::digits - 1));
    return v != v ? To(0) : v >= kEnd ? L::max() : v <= static_cast<From>(L::min()) ? L::min() : static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

template <class From, class To>
struct Convert {
  static constexpr int kCost = kRare;
  static void row(const OpContext&, const void* x, void* y, int32_t n) {
    const From* in = static_cast<const From*>(x);
    To* out = static_cast<To*>(y);
    for (int32_t i = 0; i < n; ++i) out[i] = convert<To>(in[i]);
  }
};

// Vectorized conversions; the tail of a row uses the scalar loop above.
struct FloatToInt : Convert<float, int32_t> {
  static void row(const OpContext& c, const void* x, void* y, int32_t n) {
    const float* in = static_cast<const float*>(x);
    int32_t* out = static_cast<int32_t*>(y);
    const S32 d;
    int32_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      const VF v = load(in + i), end = broadcast(2147483648.0f);
      const auto whole = hn::IfThenElse(hn::RebindMask(d, hn::Ge(v, end)), hn::Set(d, 0x7fffffff), hn::ConvertTo(d, v));
      hn::StoreU(hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(v, v)), whole), d, out + i);
    }
    Convert::row(c, in + i, out + i, n - i);
  }
};
struct IntToFloat : Convert<int32_t, float> {
  static void row(const OpContext& c, const void* x, void* y, int32_t n) {
    const int32_t* in = static_cast<const int32_t*>(x);
    float* out = static_cast<float*>(y);
    int32_t i = 0;
    for (; i + kLanes <= n; i += kLanes) store(hn::ConvertTo(F32(), hn::LoadU(S32(), in + i)), out + i);
    Convert::row(c, in + i, out + i, n - i);
  }
};
template <class B>
struct ByteToFloat : Convert<B, float> {
  static void row(const OpContext& c, const void* x, void* y, int32_t n) {
    const B* in = static_cast<const B*>(x);
    float* out = static_cast<float*>(y);
    const hn::Rebind<B, F32> bytes;
    int32_t i = 0;
    for (; i + kLanes <= n; i += kLanes) store(hn::ConvertTo(F32(), hn::PromoteTo(S32(), hn::LoadU(bytes, in + i))), out + i);
    Convert<B, float>::row(c, in + i, out + i, n - i);
  }
};
template <class B>
struct ByteToInt : Convert<B, int32_t> {
  static void row(const OpContext& c, const void* x, void* y, int32_t n) {
    const B* in = static_cast<const B*>(x);
    int32_t* out = static_cast<int32_t*>(y);
    const hn::Rebind<B, F32> bytes;
    int32_t i = 0;
    for (; i + kLanes <= n; i += kLanes) hn::StoreU(hn::PromoteTo(S32(), hn::LoadU(bytes, in + i)), S32(), out + i);
    Convert<B, int32_t>::row(c, in + i, out + i, n - i);
  }
};

// Every byte but 0 converts to 1.
struct BoolToFloat : Convert<Bool, float> {
  static void row(const OpContext& c, const void* x, void* y, int32_t n) {
    const uint8_t* in = static_cast<const uint8_t*>(x);
    float* out = static_cast<float*>(y);
    const hn::Rebind<uint8_t, F32> bytes;
    int32_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      const auto byte = hn::Min(hn::LoadU(bytes, in + i), hn::Set(bytes, uint8_t{1}));
      store(hn::ConvertTo(F32(), hn::PromoteTo(S32(), byte)), out + i);
    }
    Convert::row(c, in + i, out + i, n - i);
  }
};

// The tail goes through a padded buffer.
struct HalfToFloat {
  static constexpr int kCost = kRare;
  static void row(const OpContext&, const void* x, void* y, int32_t n) {
    const auto* in = static_cast<const hwy::float16_t*>(x);
    float* out = static_cast<float*>(y);
    int32_t i = 0;
    for (; i + kLanes <= n; i += kLanes) store(to_floats(hn::LoadU(Half(), in + i)), out + i);
    if (i == n) return;
    alignas(64) hwy::float16_t tail[kLanes] = {};
    for (int32_t k = i; k < n; ++k) tail[k - i] = in[k];
    store_partial(to_floats(hn::Load(Half(), tail)), n - i, out + i);
  }
};
struct FloatToHalf {
  static constexpr int kCost = kRare;
  static void row(const OpContext&, const void* x, void* y, int32_t n) {
    const float* in = static_cast<const float*>(x);
    auto* out = static_cast<hwy::float16_t*>(y);
    int32_t i = 0;
    for (; i + kLanes <= n; i += kLanes) hn::StoreU(to_halves(load(in + i)), Half(), out + i);
    if (i == n) return;
    alignas(64) hwy::float16_t tail[kLanes];
    hn::Store(to_halves(load_partial(in + i, n - i)), Half(), tail);
    for (int32_t k = i; k < n; ++k) out[k] = tail[k - i];
  }
};

template <class From>
KernelFn select_cast_from(const OpContext& c) {
  switch (c.output(0).dtype()) {
    case DType::f32: return select_unary<Convert<From, float>>(c);
    case DType::s8: return select_unary<Convert<From, int8_t>>(c);
    case DType::u8: return select_unary<Convert<From, uint8_t>>(c);
    case DType::s32: return select_unary<Convert<From, int32_t>>(c);
    case DType::s64: return select_unary<Convert<From, int64_t>>(c);
    case DType::boolean: return select_unary<Convert<From, Bool>>(c);
    default: return nullptr;
  }
}

template <class B>
KernelFn select_cast_from_bytes(const OpContext& c) {
  switch (c.output(0).dtype()) {
    case DType::f32: return select_unary<ByteToFloat<B>>(c);
    case DType::s32: return select_unary<ByteToInt<B>>(c);
    default: return select_cast_from<B>(c);
  }
}

}  // namespace

KernelFn select_cast(const OpContext& c) noexcept {
  const DType to = c.output(0).dtype();
  switch (c.input(0).dtype()) {
    case DType::f32:
      return to == DType::s32 ? select_unary<FloatToInt>(c) : to == DType::f16 ? select_unary<FloatToHalf>(c) : select_cast_from<float>(c);
    case DType::f16: return to == DType::f32 ? select_unary<HalfToFloat>(c) : nullptr;
    case DType::s8: return select_cast_from_bytes<int8_t>(c);
    case DType::u8: return select_cast_from_bytes<uint8_t>(c);
    case DType::s32: return to == DType::f32 ? select_unary<IntToFloat>(c) : select_cast_from<int32_t>(c);
    case DType::s64: return select_cast_from<int64_t>(c);
    case DType::boolean: return to == DType::f32 ? select_unary<BoolToFloat>(c) : select_cast_from<Bool>(c);
    default: return nullptr;
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME::elementwise
