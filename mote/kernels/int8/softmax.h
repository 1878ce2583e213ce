#pragma once

// Softmax of 8-bit elements: how far an element is below the greatest one is a number below 256, so its exponential comes from a table.
// A few rows at a time: what they are divided by is found for all of them together.

#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/rows_of.h"
#include "mote/kernels/int8/bytes.h"
#include "mote/kernels/int8/narrow.h"
#include "mote/kernels/portable.h"
#include "mote/ops/q_softmax/q_softmax.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::q_softmax::Attrs;
using U32 = hn::RebindToUnsigned<I32>;

constexpr int32_t kMaxLength = 2048;  // so that sums fit 32 bits
constexpr int32_t kBlock = 4 * kIntLanes;

using Block8 = hn::CappedTag<uint8_t, kBlock>;

#if HWY_ARCH_X86
MOTE_INLINE uint8_t greatest_lane(__m128i v) {
  // The least of 16-bit lanes is what there is an instruction for.
  const __m128i other = _mm_xor_si128(v, _mm_set1_epi8(-1));
  return static_cast<uint8_t>(~_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_min_epu8(other, _mm_srli_epi16(other, 8)))));
}
MOTE_INLINE uint8_t greatest_lane(__m256i v) {
  return greatest_lane(_mm_max_epu8(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
}
#if defined(__AVX512BW__)
MOTE_INLINE uint8_t greatest_lane(__m512i v) {
  return greatest_lane(_mm256_max_epu8(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1)));
}
#endif
MOTE_INLINE uint8_t greatest_lane(hn::Vec<Block8> v) { return greatest_lane(v.raw); }
#else
MOTE_INLINE uint8_t greatest_lane(hn::Vec<Block8> v) {
  alignas(64) uint8_t lanes[kBlock];
  hn::Store(v, Block8(), lanes);
  VI wide = hn::Zero(I32());
  unroll<4>([&](auto k) MOTE_LAMBDA { wide = hn::Max(wide, load_as_ints(lanes + k * kIntLanes, kIntLanes)); });
  return static_cast<uint8_t>(hn::GetLane(hn::MaxOfLanes(I32(), wide)));
}
#endif

// The greatest of n elements; `flip` makes u8 of them.
MOTE_INLINE uint8_t greatest(const uint8_t* x, int32_t n, uint8_t flip) {
  const Block8 d;
  const auto flips = hn::Set(d, flip);
  alignas(64) uint8_t rest[kBlock + 64];
  if (n < kBlock) {
    hn::Store(flips, d, rest);
    for (int32_t i = 0; i < n; ++i) rest[i] = x[i];
    x = rest, n = kBlock;
  }
  // The last ones perhaps twice.
  auto most = hn::Xor(hn::LoadU(d, x + n - kBlock), flips);
  for (int32_t i = 0; i + kBlock < n; i += kBlock) most = hn::Max(most, hn::Xor(hn::LoadU(d, x + i), flips));
  return static_cast<uint8_t>(greatest_lane(most) ^ flip);
}

// Exponentials of a row's elements as `table` orders them within a block, zeros in the rest of the last block, and their sum with 12
// integer bits.
template <class Table>
MOTE_INLINE int32_t exponentials(const Table& table, const uint8_t* x, int32_t n, uint8_t greatest_one, int32_t* out) {
  const Block8 d;
  const auto most = hn::Set(d, greatest_one);
  alignas(64) uint8_t rest[kBlock + 64];
  auto sums = hn::Zero(U32());
  const auto half = hn::Set(U32(), 1u << 11);
  for (int32_t i = 0; i < n; i += kBlock) {
    const uint8_t* from = x + i;
    if (n - i < kBlock) copy_bytes(rest, from, n - i), from = rest;
    table.look_up(hn::Sub(most, hn::LoadU(d, from)), n - i, out + i);
    unroll<4>([&](auto k) MOTE_LAMBDA {
      const auto exp = hn::BitCast(U32(), hn::Load(I32(), out + i + k * kIntLanes));
      sums = hn::Add(sums, hn::ShiftRight<12>(hn::Add(exp, half)));
    });
  }
  return static_cast<int32_t>(hn::GetLane(hn::SumOfLanes(U32(), sums)));
}

// One divided by 1 + fraction (31 bits), by the portable kernel's Newton steps; what saturates there does not come up for these.
MOTE_INLINE VI reciprocals(VI fraction) {
  const VI half = hn::Add(hn::ShiftRight<1>(fraction), set_ints(1 << 30));
  VI x = hn::Add(set_ints(1515870810), high_mul(half, set_ints(-1010580540)));
  for (int i = 0; i < 3; ++i) x = hn::Add(x, hn::ShiftLeft<2>(high_mul(x, hn::Sub(set_ints(1 << 29), high_mul(half, x)))));
  return hn::IfThenElse(hn::Gt(x, set_ints((1 << 30) - 1)), set_ints(0x7fffffff), hn::ShiftLeft<1>(x));
}

// exp * scale / 2^31, rounded, then / 2^right, rounded; nothing is negative, and right is not 0.
#if HWY_ARCH_WASM
class Scaled {
 public:
  Scaled(int32_t scale, int right) : scale_(set_ints(scale)), right_(set_ints(right - 1)) {}
  MOTE_INLINE VI operator()(VI exp) const { return rounding_shift_right(high_mul(scale_, exp), right_); }

 private:
  VI scale_, right_;
};
#else
class Scaled {
 public:
  Scaled(int32_t scale, int right)
      : scale_(set_ints(scale)), add_(hn::Set(Wide(), (int64_t{1} << 30) + (int64_t{1} << (30 + right)))), right_(right) {}
  MOTE_INLINE VI operator()(VI exp) const {
    const hn::RebindToUnsigned<Wide> u64;
    const VI odd_exp = hn::BitCast(I32(), hn::ShiftRight<32>(hn::BitCast(u64, exp)));
    const auto even = hn::BitCast(u64, hn::Add(hn::MulEven(exp, scale_), add_)),
               odd = hn::BitCast(u64, hn::Add(hn::MulEven(odd_exp, scale_), add_));
    return hn::OddEven(hn::BitCast(I32(), hn::ShiftRightSame(odd, right_ - 1)), hn::BitCast(I32(), hn::ShiftRightSame(even, 31 + right_)));
  }

 private:
  using Wide = hn::Repartition<int64_t, I32>;
  VI scale_;
  hn::Vec<Wide> add_;
  int right_;
};
#endif

template <class Table>
MOTE_INLINE void write(const int32_t* exps, const Scaled& scaled, const ByteBounds& bounds, bool wide, int32_t n, uint8_t* y) {
  for (int32_t i = 0; i < n; i += kBlock) {
    VI v[4];
    unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = scaled(hn::Load(I32(), exps + i + k * kIntLanes)); });
    if (!wide) {
      Table::store(v, bounds, n - i, y + i);
      continue;
    }
    for (int32_t k = 0; k < 4 && i + k * kIntLanes < n; ++k) {
      const int32_t at = i + k * kIntLanes;
      store_ints(hn::Min(set_ints(32767), hn::Sub(v[k], set_ints(32768))), n - at, reinterpret_cast<int16_t*>(y) + at);
    }
  }
}

// Table: made from 256 exponentials; look_up(how far below, how many of them count, out) and store(), as store_bytes, of a block.
template <class Table>
Status run_softmax(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const int32_t n = y.dim(y.rank() - 1);
  if (y.count() == 0) return Status::kOk;
  alignas(64) int32_t exponential[256];
  softmax_exponentials(c.attrs<Attrs>(), exponential);
  const Table table(exponential);
  const RowsOf in(x), out(y);
  const uint8_t flip = x.dtype() == DType::s8 ? 128 : 0;
  const bool wide = y.dtype() == DType::s16;
  const ByteBounds bounds(Bounds(ops::kNoClampLo, ops::kNoClampHi, y.dtype() == DType::s8 ? -128 : 0, y.dtype()), y.dtype());
  const int32_t rows = y.count() / n, step = (n + kBlock - 1) / kBlock * kBlock, fit = kMaxLength / step,
                most = fit < kIntLanes ? fit : kIntLanes, groups = (rows + most - 1) / most;
  split_rows(c.threads, groups, static_cast<double>(y.count()) * 25, [&](int32_t group) {
    alignas(64) int32_t exps[kMaxLength], scales[kIntLanes] = {};
    int right[kIntLanes];
    uint8_t greatest_of[kIntLanes];
    const uint8_t* from[kIntLanes];
    const Table own = table;  // what is stored cannot change it
    const int32_t first = group * most, count = rows - first < most ? rows - first : most;
    // Apart from what needs them, so that they are found one behind the other without waiting.
    for (int32_t i = 0; i < count; ++i) from[i] = in(first + i), greatest_of[i] = greatest(from[i], n, flip);
    for (int32_t i = 0; i < count; ++i) {
      const uint32_t sum = static_cast<uint32_t>(exponentials(own, from[i], n, greatest_of[i], exps + i * step));
      const int zeros = __builtin_clz(sum | 1u), exponent = 12 - zeros + 31 - (wide ? 16 : 8);
      scales[i] = static_cast<int32_t>(sum << zeros & 0x7fffffffu);
      right[i] = exponent > 31 ? 31 : exponent;
    }
    hn::Store(reciprocals(hn::Load(I32(), scales)), I32(), scales);
    for (int32_t i = 0; i < count; ++i) write<Table>(exps + i * step, Scaled(scales[i], right[i]), bounds, wide, n, out(first + i));
  });
  return Status::kOk;
}

inline bool can_softmax(const OpContext& c) {
  const Tensor& x = c.input(0);
  if (x.rank() < 2 || x.dim(x.rank() - 1) > kMaxLength || x.stride(x.rank() - 1) != 1) return false;
  return x.dtype() == DType::s8 || x.dtype() == DType::u8;
}

}  // namespace
}  // namespace mote::kernels::MOTE_ISA_NAME
