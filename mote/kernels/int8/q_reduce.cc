// Means and sums of 8-bit elements over axes in front of the last one, a vector of channels at a time.

#include "mote/ops/q_reduce/q_reduce.h"

#include "mote/kernels/common/parallel.h"
#include "mote/kernels/int8/sum.h"
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
  Lines summed;
  int32_t channels = 0;
  bool fits = false;
  explicit Axes(const OpContext& c) {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    const int rank = x.rank();
    if (c.has_input(1) || a.axis_count == 0 || rank < 2) return;
    uint32_t mask = 0;
    for (int i = 0; i < a.axis_count; ++i) mask |= 1u << (a.axes[i] < 0 ? a.axes[i] + rank : a.axes[i]);
    if ((mask >> (rank - 1) & 1) != 0 || x.stride(rank - 1) != 1 || y.stride(y.rank() - 1) != 1) return;
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
    channels = x.dim(rank - 1);
    fits = summed.count() > 0 && summed.count() <= kMaxCount;
  }
  int32_t outer() const {
    int32_t n = 1;
    for (int i = 0; i < kept; ++i) n *= size[i];
    return n;
  }
};

template <class T>
Status run(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Axes axes(c);
  const int64_t count = axes.summed.count();
  const int32_t channels = axes.channels, vectors = (channels + kIntLanes - 1) / kIntLanes, outer = axes.outer();
  split_rows(c.threads, outer * vectors, static_cast<double>(outer) * static_cast<double>(count) * channels, [&](int32_t part) {
    const int32_t first = part % vectors * kIntLanes, left = channels - first;
    int64_t from = first, to = first;
    for (int i = axes.kept - 1, rest = part / vectors; i >= 0; rest /= axes.size[i--]) {
      from += rest % axes.size[i] * axes.from[i];
      to += rest % axes.size[i] * axes.to[i];
    }
    const uint8_t* x = c.input(0).as<const uint8_t>() + from;
    VI sum = hn::Zero(I32());
    axes.summed.each([&](int64_t line) {
      const uint8_t* at = x + line;
      for (int32_t r = 0; r < axes.summed.length(); ++r, at += axes.summed.step())
        sum = hn::Add(sum, load_as_ints(reinterpret_cast<const T*>(at), left));
    });
    alignas(64) int32_t sums[kIntLanes];
    hn::Store(sum, I32(), sums);
    T* y = c.output(0).as<T>() + to;
    for (int32_t i = 0; i < kIntLanes && i < left; ++i)
      y[i] = ops::saturate_to<T>(ops::q_reduce::scaled(a, int64_t{sums[i]} - count * a.input_zero, count));
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_reduce(const OpContext& c) noexcept {
  const Kind kind = static_cast<Kind>(c.attrs<Attrs>().kind);
  const DType type = c.input(0).dtype();
  if ((kind != Kind::kMean && kind != Kind::kSum) || (type != DType::s8 && type != DType::u8)) return nullptr;
  if (c.input(0).desc->dynamic != 0 || !Axes(c).fits) return nullptr;
  return type == DType::s8 ? &run<int8_t> : &run<uint8_t>;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
