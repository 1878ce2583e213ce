#pragma once

// Softmax of 8-bit tensors. The distance of an element to the row's maximum is below 256, so exponentials come from a lookup table. Several
// rows are computed together, so that their reciprocals share vectors.

#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/tensor_rows.h"
#include "mote/kernels/int8/requantize/bytes.h"
#include "mote/kernels/int8/requantize/narrow.h"
#include "mote/kernels/portable.h"
#include "mote/ops/q_softmax/q_softmax.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

using ops::q_softmax::Attrs;
using U32 = hn::RebindToUnsigned<I32>;

constexpr int32_t kMaxLength = 2048;  // of a row, so that 32 bits hold the sum
constexpr int32_t kBlock = 4 * kIntLanes;

using Block8 = hn::CappedTag<uint8_t, kBlock>;

#if HWY_ARCH_X86
MOTE_INLINE uint8_t max_lane(__m128i v) {
  // minpos is the only horizontal minimum of x86: it takes 16-bit lanes and unsigned values, so bytes are inverted.
  const __m128i other = _mm_xor_si128(v, _mm_set1_epi8(-1));
  return static_cast<uint8_t>(~_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_min_epu8(other, _mm_srli_epi16(other, 8)))));
}
MOTE_INLINE uint8_t max_lane(__m256i v) { return max_lane(_mm_max_epu8(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1))); }
#if defined(__AVX512BW__)
MOTE_INLINE uint8_t max_lane(__m512i v) { return max_lane(_mm256_max_epu8(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1))); }
#endif
MOTE_INLINE uint8_t max_lane(hn::Vec<Block8> v) { return max_lane(v.raw); }
#else
MOTE_INLINE uint8_t max_lane(hn::Vec<Block8> v) {
  alignas(64) uint8_t lanes[kBlock];
  hn::Store(v, Block8(), lanes);
  VI lane_max = hn::Zero(I32());
  unroll<4>([&](auto k) MOTE_LAMBDA { lane_max = hn::Max(lane_max, load_as_ints(lanes + k * kIntLanes, kIntLanes)); });
  return static_cast<uint8_t>(hn::GetLane(hn::MaxOfLanes(I32(), lane_max)));
}
#endif

// Maximum of n elements, as u8 with the sign bit flipped by `flip`, returned as stored.
MOTE_INLINE uint8_t max_element(const uint8_t* x, int32_t n, uint8_t flip) {
  const Block8 d;
  const auto mask = hn::Set(d, flip);
  alignas(64) uint8_t tail[kBlock + 64];
  if (n < kBlock) {
    hn::Store(mask, d, tail);
    for (int32_t i = 0; i < n; ++i) tail[i] = x[i];
    x = tail, n = kBlock;
  }
  // The last block may overlap the one before it.
  auto max = hn::Xor(hn::LoadU(d, x + n - kBlock), mask);
  for (int32_t i = 0; i + kBlock < n; i += kBlock) max = hn::Max(max, hn::Xor(hn::LoadU(d, x + i), mask));
  return static_cast<uint8_t>(max_lane(max) ^ flip);
}

// Looks up a row's exponentials, in the order that `table` gives to a block, with zeros up to the end of the last block. Returns their sum
// with 12 integer bits.
template <class Table>
MOTE_INLINE int32_t exponentials(const Table& table, const uint8_t* x, int32_t n, uint8_t max_value, int32_t* out) {
  const Block8 d;
  const auto max = hn::Set(d, max_value);
  alignas(64) uint8_t tail[kBlock + 64];
  auto sum = hn::Zero(U32());
  const auto half = hn::Set(U32(), 1u << 11);
  for (int32_t i = 0; i < n; i += kBlock) {
    const uint8_t* from = x + i;
    if (n - i < kBlock) copy_bytes(tail, from, n - i), from = tail;
    table.look_up(hn::Sub(max, hn::LoadU(d, from)), n - i, out + i);
    unroll<4>([&](auto k) MOTE_LAMBDA {
      const auto exp = hn::BitCast(U32(), hn::Load(I32(), out + i + k * kIntLanes));
      sum = hn::Add(sum, hn::ShiftRight<12>(hn::Add(exp, half)));
    });
  }
  return static_cast<int32_t>(hn::GetLane(hn::SumOfLanes(U32(), sum)));
}

// 1 / (1 + fraction), fraction in Q31, by the Newton steps of the portable kernel, whose saturating cases do not occur for these operands.
MOTE_INLINE VI reciprocals(VI fraction) {
  const VI half = hn::Add(hn::ShiftRight<1>(fraction), set_ints(1 << 30));
  VI x = hn::Add(set_ints(1515870810), high_mul(half, set_ints(-1010580540)));
  for (int i = 0; i < 3; ++i) x = hn::Add(x, hn::ShiftLeft<2>(high_mul(x, hn::Sub(set_ints(1 << 29), high_mul(half, x)))));
  return hn::IfThenElse(hn::Gt(x, set_ints((1 << 30) - 1)), set_ints(0x7fffffff), hn::ShiftLeft<1>(x));
}

// exp * scale / 2^31, rounded, then / 2^right_shift, rounded; no operand is negative, and right_shift is at least 1.
#if HWY_ARCH_WASM
class NormalizedExp {
 public:
  NormalizedExp(int32_t scale, int right_shift) : scale_(set_ints(scale)), right_shift_(set_ints(right_shift - 1)) {}
  MOTE_INLINE VI operator()(VI exp) const { return rounding_shift_right(high_mul(scale_, exp), right_shift_); }

 private:
  VI scale_, right_shift_;
};
#else
class NormalizedExp {
 public:
  NormalizedExp(int32_t scale, int right_shift)
      : scale_(set_ints(scale)),
        rounding_(hn::Set(I64(), (int64_t{1} << 30) + (int64_t{1} << (30 + right_shift)))),
        right_shift_(right_shift) {}
  MOTE_INLINE VI operator()(VI exp) const {
    const hn::RebindToUnsigned<I64> u64;
    const VI odd_exp = hn::BitCast(I32(), hn::ShiftRight<32>(hn::BitCast(u64, exp)));
    const auto even = hn::BitCast(u64, hn::Add(hn::MulEven(exp, scale_), rounding_)),
               odd = hn::BitCast(u64, hn::Add(hn::MulEven(odd_exp, scale_), rounding_));
    return hn::OddEven(hn::BitCast(I32(), hn::ShiftRightSame(odd, right_shift_ - 1)),
                       hn::BitCast(I32(), hn::ShiftRightSame(even, 31 + right_shift_)));
  }

 private:
  using I64 = hn::Repartition<int64_t, I32>;
  VI scale_;
  hn::Vec<I64> rounding_;
  int right_shift_;
};
#endif

template <class Table>
MOTE_INLINE void store_row(const int32_t* exps, const NormalizedExp& normalize, const ByteClampRange& bounds, bool is_s16, int32_t n,
                           uint8_t* y) {
  for (int32_t i = 0; i < n; i += kBlock) {
    VI v[4];
    unroll<4>([&](auto k) MOTE_LAMBDA { v[k] = normalize(hn::Load(I32(), exps + i + k * kIntLanes)); });
    if (!is_s16) {
      Table::store(v, bounds, n - i, y + i);
      continue;
    }
    for (int32_t k = 0; k < 4 && i + k * kIntLanes < n; ++k) {
      const int32_t at = i + k * kIntLanes;
      store_ints(hn::Min(set_ints(32767), hn::Sub(v[k], set_ints(32768))), n - at, reinterpret_cast<int16_t*>(y) + at);
    }
  }
}

// Table: made from 256 exponentials; look_up(distances, count, out) fills a block of out, and store() takes one as store_bytes does.
template <class Table>
Status softmax_s8(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const int32_t n = y.dim(y.rank() - 1);
  if (y.count() == 0) return Status::kOk;
  alignas(64) int32_t exponential[256];
  softmax_exponentials(c.attrs<Attrs>(), exponential);
  const Table table(exponential);
  const TensorRows in(x), out(y);
  const uint8_t flip = x.dtype() == DType::s8 ? 128 : 0;
  const bool is_s16 = y.dtype() == DType::s16;
  const ByteClampRange bounds(ClampRange(ops::kNoClampLo, ops::kNoClampHi, y.dtype() == DType::s8 ? -128 : 0, y.dtype()), y.dtype());
  const int32_t rows = y.count() / n, step = (n + kBlock - 1) / kBlock * kBlock, fit = kMaxLength / step,
                rows_per_group = fit < kIntLanes ? fit : kIntLanes, groups = (rows + rows_per_group - 1) / rows_per_group;
  split_rows(c.threads, groups, static_cast<double>(y.count()) * 25, [&](int32_t group) {
    alignas(64) int32_t exps[kMaxLength], scales[kIntLanes] = {};
    int right_shift[kIntLanes];
    uint8_t maximums[kIntLanes];
    const uint8_t* from[kIntLanes];
    const Table local_table = table;  // a copy, which stores cannot alias
    const int32_t first = group * rows_per_group, count = rows - first < rows_per_group ? rows - first : rows_per_group;
    // In loops of their own, so that the latencies of the rows' maxima overlap.
    for (int32_t i = 0; i < count; ++i) from[i] = in(first + i), maximums[i] = max_element(from[i], n, flip);
    for (int32_t i = 0; i < count; ++i) {
      const uint32_t exp_sum = static_cast<uint32_t>(exponentials(local_table, from[i], n, maximums[i], exps + i * step));
      const int zeros = __builtin_clz(exp_sum | 1u), exponent = 12 - zeros + 31 - (is_s16 ? 16 : 8);
      scales[i] = static_cast<int32_t>(exp_sum << zeros & 0x7fffffffu);
      right_shift[i] = exponent > 31 ? 31 : exponent;
    }
    hn::Store(reciprocals(hn::Load(I32(), scales)), I32(), scales);
    for (int32_t i = 0; i < count; ++i)
      store_row<Table>(exps + i * step, NormalizedExp(scales[i], right_shift[i]), bounds, is_s16, n, out(first + i));
  });
  return Status::kOk;
}

inline bool supports_softmax(const OpContext& c) {
  const Tensor& x = c.input(0);
  if (x.rank() < 2 || x.dim(x.rank() - 1) > kMaxLength || x.stride(x.rank() - 1) != 1) return false;
  return x.dtype() == DType::s8 || x.dtype() == DType::u8;
}

}  // namespace
}  // namespace mote::kernels::MOTE_ISA_NAME::int8
