// Comparisons (f32, s32, s64 to booleans) and where.

#include <cstring>

#include "mote/kernels/common/loops.h"
#include "mote/kernels/elementwise/rows.h"

namespace mote::kernels::MOTE_ISA_NAME::elementwise {
namespace {

using S32 = hn::RebindToSigned<F32>;
using Bytes = hn::Rebind<uint8_t, F32>;

// kInts: Highway has this comparison for integer vectors too.
struct Equal {
  static constexpr bool kInts = true;
  template <class V>
  auto operator()(V a, V b) const {
    return hn::Eq(a, b);
  }
  template <class T>
  static bool scalar(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  static constexpr bool kInts = true;
  template <class V>
  auto operator()(V a, V b) const {
    return hn::Not(hn::Eq(a, b));  // NaN is not equal to itself
  }
  template <class T>
  static bool scalar(T a, T b) {
    return a != b;
  }
};
struct Less {
  static constexpr bool kInts = true;
  template <class V>
  auto operator()(V a, V b) const {
    return hn::Lt(a, b);
  }
  template <class T>
  static bool scalar(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  static constexpr bool kInts = false;
  template <class V>
  auto operator()(V a, V b) const {
    return hn::Le(a, b);
  }
  template <class T>
  static bool scalar(T a, T b) {
    return a <= b;
  }
};
// a > b as b < a.
template <class F>
struct Swapped {
  static constexpr bool kInts = F::kInts;
  template <class V>
  auto operator()(V a, V b) const {
    return F()(b, a);
  }
  template <class T>
  static bool scalar(T a, T b) {
    return F::scalar(b, a);
  }
};

template <class T, class F>
struct Compare {
  static constexpr int kCost = kRare;
  static void row(const OpContext&, const void* a, int a_step, const void* b, int b_step, void* y, int32_t n) {
    const T *lhs = static_cast<const T*>(a), *rhs = static_cast<const T*>(b);
    uint8_t* out = static_cast<uint8_t*>(y);
    int32_t i = 0;
    if constexpr (std::is_same_v<T, float> || (std::is_same_v<T, int32_t> && F::kInts)) {
      const hn::Rebind<T, F32> d;
      const S32 di;
      const auto load_operand = [&](const T* p, int step) { return step == 0 ? hn::Set(d, *p) : hn::LoadU(d, p); };
      for (; i + kLanes <= n; i += kLanes) {
        const auto yes = F()(load_operand(lhs + i * a_step, a_step), load_operand(rhs + i * b_step, b_step));
        const auto ones = hn::And(hn::BitCast(di, hn::VecFromMask(d, yes)), hn::Set(di, 1));
        hn::StoreU(hn::DemoteTo(Bytes(), ones), Bytes(), out + i);
      }
    }
    for (; i < n; ++i) out[i] = F::scalar(lhs[i * a_step], rhs[i * b_step]) ? 1 : 0;
  }
};

template <class F>
KernelFn compare(const OpContext& c) {
  switch (c.input(0).dtype()) {
    case DType::f32: return select_binary<Compare<float, F>>(c);
    case DType::s32: return select_binary<Compare<int32_t, F>>(c);
    case DType::s64: return select_binary<Compare<int64_t, F>>(c);
    default: return nullptr;
  }
}

// y[i] = yes[i] ? a[i] : b[i]. Any byte but 0 is true.
template <class W>
void where_row(const uint8_t* yes, int yes_step, const W* a, int a_step, const W* b, int b_step, W* y, int32_t n) {
  int32_t i = 0;
  if constexpr (sizeof(W) == 4) {
    const S32 d;
    const auto load_operand = [&](const W* p, int step) {
      return step == 0 ? hn::Set(d, static_cast<int32_t>(*p)) : hn::LoadU(d, reinterpret_cast<const int32_t*>(p));
    };
    for (; yes_step == 1 && i + kLanes <= n; i += kLanes) {
      const auto no = hn::Eq(hn::PromoteTo(d, hn::LoadU(Bytes(), yes + i)), hn::Zero(d));
      const auto v = hn::IfThenElse(no, load_operand(b + i * b_step, b_step), load_operand(a + i * a_step, a_step));
      hn::StoreU(v, d, reinterpret_cast<int32_t*>(y + i));
    }
  }
  for (; i < n; ++i) y[i] = yes[i * yes_step] != 0 ? a[i * a_step] : b[i * b_step];
}

template <class W>
Status where_any(const OpContext& c) noexcept {
  const Tensor &yes = c.input(0), &a = c.input(1), &b = c.input(2), &y = c.output(0);
  const TensorDesc* operands[] = {yes.desc, a.desc, b.desc, y.desc};
  for_each_run<4>(*y.desc, operands, c.rows, c.threads, kCheap, [&](const int64_t* offset, const int64_t* step, int32_t n) {
    const auto at = [&](const Tensor& t, int k) { return reinterpret_cast<W*>(t.as<uint8_t>() + offset[k]); };
    where_row<W>(yes.as<const uint8_t>() + offset[0], step[0] != 0, at(a, 1), step[1] != 0, at(b, 2), step[2] != 0, at(y, 3), n);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_equal(const OpContext& c) noexcept { return compare<Equal>(c); }
KernelFn select_not_equal(const OpContext& c) noexcept { return compare<NotEqual>(c); }
KernelFn select_less(const OpContext& c) noexcept { return compare<Less>(c); }
KernelFn select_less_equal(const OpContext& c) noexcept { return compare<LessEqual>(c); }
KernelFn select_greater(const OpContext& c) noexcept { return compare<Swapped<Less>>(c); }
KernelFn select_greater_equal(const OpContext& c) noexcept { return compare<Swapped<LessEqual>>(c); }

KernelFn select_where(const OpContext& c) noexcept {
  if (!strided_supported(c)) return nullptr;
  switch (dtype_bytes(c.input(1).dtype())) {
    case 1: return &where_any<uint8_t>;
    case 2: return &where_any<uint16_t>;
    case 4: return &where_any<uint32_t>;
    case 8: return &where_any<uint64_t>;
    default: return nullptr;
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME::elementwise
