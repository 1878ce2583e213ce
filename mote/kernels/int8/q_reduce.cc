// Means and sums of 8-bit elements over any axes: a vector of channels at a time where the last axis stays, and whole lines where it goes.

#include "mote/ops/q_reduce/q_reduce.h"

#include "mote/kernels/common/parallel.h"
#include "mote/kernels/int8/bytes.h"
#include "mote/kernels/int8/narrow.h"
#include "mote/kernels/portable.h"
#include "mote/kernels/reduce/lines.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::q_reduce::Attrs;
using ops::q_reduce::Kind;

constexpr int64_t kMaxCount = 1 << 22;  // elements of a sum, so that 32 bits hold it

// The axes: those that stay, with their steps in x and y, those that are summed, and the last one, whose elements lie side by side.
struct Axes {
  int kept = 0;
  int32_t size[kMaxRank];
  int64_t from[kMaxRank], to[kMaxRank];
  Lines summed;  // without the last one
  int32_t last = 0;
  bool last_stays = false, fits = false;
  explicit Axes(const OpContext& c) {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    const int rank = x.rank();
    if (c.has_input(1) || rank < 1) return;
    uint32_t mask = a.axis_count == 0 ? ~0u : 0u;
    for (int i = 0; i < a.axis_count; ++i) mask |= 1u << (a.axes[i] < 0 ? a.axes[i] + rank : a.axes[i]);
    last_stays = (mask >> (rank - 1) & 1) == 0;
    if (x.stride(rank - 1) != 1 || (last_stays && y.stride(y.rank() - 1) != 1)) return;
    for (int i = 0, at = 0; i < rank - 1; ++i) {
      if ((mask >> i & 1) != 0) {
        summed.push(x.dim(i), x.stride(i));
        at += a.keep_dims != 0;
        continue;
      }
      size[kept] = x.dim(i);
      from[kept] = x.stride(i);
      to[kept++] = y.stride(at++);
    }
    last = x.dim(rank - 1);
    fits = count() > 0 && count() <= kMaxCount;
  }
  int64_t count() const { return summed.count() * (last_stays ? 1 : last); }
  int32_t outer() const {
    int32_t n = 1;
    for (int i = 0; i < kept; ++i) n *= size[i];
    return n;
  }
  // Where result `i` of the outer ones begins, and what it is made of.
  void find(int32_t i, int64_t* out_from, int64_t* out_to) const {
    *out_from = *out_to = 0;
    for (int k = kept - 1; k >= 0; i /= size[k--]) {
      *out_from += i % size[k] * from[k];
      *out_to += i % size[k] * to[k];
    }
  }
};

// From sums to results. s8 are added up as u8, with 128 more.
class End {
 public:
  End(const Attrs& a, DType type, int64_t count)
      : flip(type == DType::s8 ? 128 : 0),
        bounds(Bounds(ops::kNoClampLo, ops::kNoClampHi, a.output_zero, type), type),
        less_(static_cast<int32_t>(count * (a.input_zero + flip))),
        real_(a.mode != 0),
        divisor_(static_cast<Kind>(a.kind) == Kind::kMean ? static_cast<float>(count) : 1.0f),
        scale_(a.real_multiplier) {
    const ops::q_reduce::Scaling s = reduce_scaling(a, count);
    factor_ = Factor::make(s.multiplier, s.shift);
  }
  MOTE_INLINE VI operator()(VI sums) const {
    sums = hn::Sub(sums, set_ints(less_));
    if (!real_) return factor_.scale<false>(sums);
    const FloatOfInts d;
    const VFI mean = quotient(hn::ConvertTo(d, sums), hn::Set(d, divisor_));
    return round_within(hn::Mul(mean, hn::Set(d, scale_)), Bounds(-1000, 1000, 0, DType::s16));
  }
  const uint8_t flip;
  const ByteBounds bounds;

 private:
  int32_t less_;
  bool real_;
  float divisor_, scale_;
  Factor factor_;
};

using U16 = hn::Repartition<uint16_t, I32>;
using U8Half = hn::Rebind<uint8_t, U16>;
constexpr int32_t kChannels = 2 * kIntLanes;

// kChannels channels from x on; sums of 16 bits hold 256 elements.
void sum_channels(const Axes& axes, const End& end, const uint8_t* x, uint8_t* y) {
  const hn::RebindToUnsigned<I32> u32;
  const hn::Half<U16> half;
  const auto flip = hn::Set(U8Half(), end.flip);
  auto low = hn::Zero(u32), high = hn::Zero(u32);
  const int64_t step = axes.summed.step();
  axes.summed.each([&](int64_t line) MOTE_LAMBDA {
    const uint8_t* at = x + line;
    for (int32_t r = axes.summed.length(); r > 0; r -= 256) {
      auto sum = hn::Zero(U16());
      for (int32_t k = r < 256 ? r : 256; k > 0; --k, at += step)
        sum = hn::Add(sum, hn::PromoteTo(U16(), hn::Xor(hn::LoadU(U8Half(), at), flip)));
      low = hn::Add(low, hn::PromoteTo(u32, hn::LowerHalf(half, sum)));
      high = hn::Add(high, hn::PromoteTo(u32, hn::UpperHalf(half, sum)));
    }
  });
  const VI v[2] = {end(hn::BitCast(I32(), low)), end(hn::BitCast(I32(), high))};
  store_bytes<2>(v, end.bounds, kChannels, y);
}
// `count` channels, fewer than that.
void sum_few_channels(const Axes& axes, const End& end, const uint8_t* x, int32_t count, uint8_t* y) {
  const VI flip = set_ints(end.flip);
  const int64_t step = axes.summed.step();
  for (int32_t first = 0; first < count; first += kIntLanes) {
    VI sum = hn::Zero(I32());
    axes.summed.each([&](int64_t line) MOTE_LAMBDA {
      const uint8_t* at = x + first + line;
      for (int32_t r = axes.summed.length(); r > 0; --r, at += step) sum = hn::Add(sum, hn::Xor(load_as_ints(at, count - first), flip));
    });
    const VI v = end(sum);
    store_bytes<1>(&v, end.bounds, count - first < kIntLanes ? count - first : kIntLanes, y + first);
  }
}

// All elements of the lines from x on.
MOTE_INLINE int32_t sum_lines(const Axes& axes, const End& end, const uint8_t* x) {
  const hn::CappedTag<uint8_t, 64> d;
  const hn::Repartition<uint64_t, decltype(d)> u64;
  constexpr int32_t kStep = static_cast<int32_t>(hn::MaxLanes(d));
  const auto flip = hn::Set(d, end.flip);
  auto sums = hn::Zero(u64);
  const auto whole = [&](const uint8_t* line) MOTE_LAMBDA {
    int32_t i = 0;
    for (; i + kStep <= axes.last; i += kStep) sums = hn::Add(sums, hn::SumsOf8(hn::Xor(hn::LoadU(d, line + i), flip)));
    if (i == axes.last) return;
    alignas(64) uint8_t rest[kStep + 64];
    hn::Store(flip, d, rest);
    for (int32_t k = 0; i < axes.last; ++i) rest[k++] = line[i];
    sums = hn::Add(sums, hn::SumsOf8(hn::Xor(hn::Load(d, rest), flip)));
  };
  axes.summed.each([&](int64_t line) MOTE_LAMBDA {
    for (int32_t r = 0; r < axes.summed.length(); ++r) whole(x + line + r * axes.summed.step());
  });
  return static_cast<int32_t>(hn::GetLane(hn::SumOfLanes(u64, sums)));
}

Status run(const OpContext& c) noexcept {
  const Axes axes(c);
  const End end(c.attrs<Attrs>(), c.input(0).dtype(), axes.count());
  const uint8_t* x = c.input(0).as<const uint8_t>();
  uint8_t* y = c.output(0).as<uint8_t>();
  const int32_t outer = axes.outer();
  const double elements = static_cast<double>(outer) * static_cast<double>(axes.summed.count()) * axes.last;
  if (axes.last_stays) {
    const int32_t blocks = (axes.last + kChannels - 1) / kChannels;
    split_rows(c.threads, outer * blocks, elements, [&](int32_t part) {
      int64_t from, to;
      axes.find(part / blocks, &from, &to);
      // The last block begins early where there is another one before it.
      int32_t first = part % blocks * kChannels;
      if (first + kChannels > axes.last && first > 0) first = axes.last - kChannels;
      if (axes.last < kChannels) sum_few_channels(axes, end, x + from, axes.last, y + to);
      else sum_channels(axes, end, x + from + first, y + to + first);
    });
    return Status::kOk;
  }
  split_rows(c.threads, (outer + kIntLanes - 1) / kIntLanes, elements, [&](int32_t part) {
    const int32_t first = part * kIntLanes, count = outer - first < kIntLanes ? outer - first : kIntLanes;
    alignas(64) int32_t sums[kIntLanes] = {};
    uint8_t* at[kIntLanes];
    for (int32_t i = 0; i < count; ++i) {
      int64_t from, to;
      axes.find(first + i, &from, &to);
      sums[i] = sum_lines(axes, end, x + from);
      at[i] = y + to;
    }
    const VI v = end(hn::Load(I32(), sums));
    uint8_t results[kIntLanes];
    store_bytes<1>(&v, end.bounds, kIntLanes, results);
    for (int32_t i = 0; i < count; ++i) *at[i] = results[i];
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_reduce(const OpContext& c) noexcept {
  const Kind kind = static_cast<Kind>(c.attrs<Attrs>().kind);
  const DType type = c.input(0).dtype();
  if ((kind != Kind::kMean && kind != Kind::kSum) || (type != DType::s8 && type != DType::u8)) return nullptr;
  return c.input(0).desc->dynamic == 0 && Axes(c).fits ? &run : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
