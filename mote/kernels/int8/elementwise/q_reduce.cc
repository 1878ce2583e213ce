// Means and sums of 8-bit tensors over any axes: a vector of channels at a time where the last axis is kept, and whole lines where it is
// reduced.

#include "mote/ops/q_reduce/q_reduce.h"

#include "mote/kernels/common/parallel.h"
#include "mote/kernels/int8/requantize/bytes.h"
#include "mote/kernels/int8/requantize/narrow.h"
#include "mote/kernels/portable.h"
#include "mote/kernels/reduce/fold.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

using namespace reduce;  // loops over the elements of one output
namespace {

using ops::q_reduce::Attrs;
using ops::q_reduce::Kind;

constexpr int64_t kMaxCount = 1 << 22;  // elements of an output, so that accumulators fit 32 bits

// The axes: kept ones with their steps in x and y, reduced ones, and the last axis, whose elements are contiguous.
struct Axes {
  int kept = 0;
  int32_t size[kMaxRank];
  int64_t from[kMaxRank], to[kMaxRank];
  ReducedLoops summed;  // reduced axes without the last one
  int32_t last = 0;
  bool last_is_kept = false, supported = false;
  explicit Axes(const OpContext& c) {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    const int rank = x.rank();
    if (c.has_input(1) || rank < 1) return;
    uint32_t mask = a.axis_count == 0 ? ~0u : 0u;
    for (int i = 0; i < a.axis_count; ++i) mask |= 1u << (a.axes[i] < 0 ? a.axes[i] + rank : a.axes[i]);
    last_is_kept = (mask >> (rank - 1) & 1) == 0;
    if (x.stride(rank - 1) != 1 || (last_is_kept && y.stride(y.rank() - 1) != 1)) return;
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
    supported = count() > 0 && count() <= kMaxCount;
  }
  int64_t count() const { return summed.count() * (last_is_kept ? 1 : last); }
  int32_t outer_count() const {
    int32_t n = 1;
    for (int i = 0; i < kept; ++i) n *= size[i];
    return n;
  }
  // Offsets of the kept position i in x and y.
  void offsets_of(int32_t i, int64_t* out_from, int64_t* out_to) const {
    *out_from = *out_to = 0;
    for (int k = kept - 1; k >= 0; i /= size[k--]) {
      *out_from += i % size[k] * from[k];
      *out_to += i % size[k] * to[k];
    }
  }
};

// From accumulators to outputs. s8 are accumulated as u8, 128 more.
class ReduceEpilogue {
 public:
  ReduceEpilogue(const Attrs& a, DType type, int64_t count)
      : flip(type == DType::s8 ? 128 : 0),
        bounds(ClampRange(ops::kNoClampLo, ops::kNoClampHi, a.output_zero, type), type),
        offset_(static_cast<int32_t>(count * (a.input_zero + flip))),
        is_real_(a.mode != 0),
        divisor_(static_cast<Kind>(a.kind) == Kind::kMean ? static_cast<float>(count) : 1.0f),
        scale_(a.real_multiplier) {
    const ops::q_reduce::Scaling s = reduce_scaling(a, count);
    fixed_point_ = FixedPointScale::make(s.multiplier, s.shift);
  }
  MOTE_INLINE VI operator()(VI acc) const {
    acc = hn::Sub(acc, set_ints(offset_));
    if (!is_real_) return fixed_point_.scale<false>(acc);
    const FloatOfInts d;
    const VFI mean = quotient(hn::ConvertTo(d, acc), hn::Set(d, divisor_));
    return round_clamp_and_offset(hn::Mul(mean, hn::Set(d, scale_)), ClampRange(-1000, 1000, 0, DType::s16));
  }
  const uint8_t flip;
  const ByteClampRange bounds;

 private:
  int32_t offset_;
  bool is_real_;
  float divisor_, scale_;
  FixedPointScale fixed_point_;
};

using U16 = hn::Repartition<uint16_t, I32>;
using U8Half = hn::Rebind<uint8_t, U16>;
constexpr int32_t kChannels = 2 * kIntLanes;

// Reduces kChannels channels. 16-bit accumulators hold 256 elements, then they are widened.
void sum_channels(const Axes& axes, const ReduceEpilogue& epilogue, const uint8_t* x, uint8_t* y) {
  const hn::RebindToUnsigned<I32> u32;
  const hn::Half<U16> half;
  const auto flip = hn::Set(U8Half(), epilogue.flip);
  auto low = hn::Zero(u32), high = hn::Zero(u32);
  const int64_t step = axes.summed.step();
  axes.summed.for_each_line([&](int64_t line) MOTE_LAMBDA {
    const uint8_t* at = x + line;
    for (int32_t r = axes.summed.length(); r > 0; r -= 256) {
      auto sum = hn::Zero(U16());
      for (int32_t k = r < 256 ? r : 256; k > 0; --k, at += step)
        sum = hn::Add(sum, hn::PromoteTo(U16(), hn::Xor(hn::LoadU(U8Half(), at), flip)));
      low = hn::Add(low, hn::PromoteTo(u32, hn::LowerHalf(half, sum)));
      high = hn::Add(high, hn::PromoteTo(u32, hn::UpperHalf(half, sum)));
    }
  });
  const VI v[2] = {epilogue(hn::BitCast(I32(), low)), epilogue(hn::BitCast(I32(), high))};
  store_bytes<2>(v, epilogue.bounds, kChannels, y);
}
// Tensors with `count` channels, fewer than kChannels.
void sum_channel_tail(const Axes& axes, const ReduceEpilogue& epilogue, const uint8_t* x, int32_t count, uint8_t* y) {
  const VI flip = set_ints(epilogue.flip);
  const int64_t step = axes.summed.step();
  for (int32_t first = 0; first < count; first += kIntLanes) {
    VI sum = hn::Zero(I32());
    axes.summed.for_each_line([&](int64_t line) MOTE_LAMBDA {
      const uint8_t* at = x + first + line;
      for (int32_t r = axes.summed.length(); r > 0; --r, at += step) sum = hn::Add(sum, hn::Xor(load_as_ints(at, count - first), flip));
    });
    const VI v = epilogue(sum);
    store_bytes<1>(&v, epilogue.bounds, count - first < kIntLanes ? count - first : kIntLanes, y + first);
  }
}

// Sum of all elements of the lines from x on.
MOTE_INLINE int32_t sum_lines(const Axes& axes, const ReduceEpilogue& epilogue, const uint8_t* x) {
  const hn::CappedTag<uint8_t, 64> d;
  const hn::Repartition<uint64_t, decltype(d)> u64;
  constexpr int32_t kStep = static_cast<int32_t>(hn::MaxLanes(d));
  const auto flip = hn::Set(d, epilogue.flip);
  auto acc = hn::Zero(u64);
  const auto sum_line = [&](const uint8_t* line) MOTE_LAMBDA {
    int32_t i = 0;
    for (; i + kStep <= axes.last; i += kStep) acc = hn::Add(acc, hn::SumsOf8(hn::Xor(hn::LoadU(d, line + i), flip)));
    if (i == axes.last) return;
    alignas(64) uint8_t tail[kStep + 64];
    hn::Store(flip, d, tail);
    for (int32_t k = 0; i < axes.last; ++i) tail[k++] = line[i];
    acc = hn::Add(acc, hn::SumsOf8(hn::Xor(hn::Load(d, tail), flip)));
  };
  axes.summed.for_each_line([&](int64_t line) MOTE_LAMBDA {
    for (int32_t r = 0; r < axes.summed.length(); ++r) sum_line(x + line + r * axes.summed.step());
  });
  return static_cast<int32_t>(hn::GetLane(hn::SumOfLanes(u64, acc)));
}

Status q_reduce_s8(const OpContext& c) noexcept {
  const Axes axes(c);
  const ReduceEpilogue epilogue(c.attrs<Attrs>(), c.input(0).dtype(), axes.count());
  const uint8_t* x = c.input(0).as<const uint8_t>();
  uint8_t* y = c.output(0).as<uint8_t>();
  const int32_t outer_count = axes.outer_count();
  const double elements = static_cast<double>(outer_count) * static_cast<double>(axes.summed.count()) * axes.last;
  if (axes.last_is_kept) {
    // The last block begins early where fewer channels remain, and goes to the thread that has the block before it: no two threads store
    // the same byte.
    const int32_t blocks = axes.last < 2 * kChannels ? 1 : axes.last / kChannels;
    split_rows(c.threads, outer_count * blocks, elements, [&](int32_t part) {
      int64_t from, to;
      axes.offsets_of(part / blocks, &from, &to);
      if (axes.last < kChannels) return sum_channel_tail(axes, epilogue, x + from, axes.last, y + to);
      const int32_t block = part % blocks, remaining = axes.last % kChannels;
      const auto channels = [&](int32_t first) { sum_channels(axes, epilogue, x + from + first, y + to + first); };
      channels(block * kChannels);
      if (block == blocks - 1 && remaining != 0) channels(axes.last - kChannels);
    });
    return Status::kOk;
  }
  split_rows(c.threads, (outer_count + kIntLanes - 1) / kIntLanes, elements, [&](int32_t part) {
    const int32_t first = part * kIntLanes, count = outer_count - first < kIntLanes ? outer_count - first : kIntLanes;
    alignas(64) int32_t acc[kIntLanes] = {};
    uint8_t* out[kIntLanes];
    for (int32_t i = 0; i < count; ++i) {
      int64_t from, to;
      axes.offsets_of(first + i, &from, &to);
      acc[i] = sum_lines(axes, epilogue, x + from);
      out[i] = y + to;
    }
    const VI v = epilogue(hn::Load(I32(), acc));
    uint8_t bytes[kIntLanes];
    store_bytes<1>(&v, epilogue.bounds, kIntLanes, bytes);
    for (int32_t i = 0; i < count; ++i) *out[i] = bytes[i];
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_reduce(const OpContext& c) noexcept {
  const Kind kind = static_cast<Kind>(c.attrs<Attrs>().kind);
  const DType type = c.input(0).dtype();
  if ((kind != Kind::kMean && kind != Kind::kSum) || (type != DType::s8 && type != DType::u8)) return nullptr;
  return c.input(0).desc->dynamic == 0 && Axes(c).supported ? &q_reduce_s8 : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
