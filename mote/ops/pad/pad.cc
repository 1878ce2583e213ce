#include "mote/ops/pad/pad.h"

#include "mote/ops/common/number.h"

namespace mote::ops::pad {
namespace {

// Index into n elements that stands at position i, which may lie outside of them; -1: the constant.
[[gnu::noinline]] int64_t source(int32_t mode, int64_t i, int64_t n) noexcept {
  if (i >= 0 && i < n) return i;
  if (mode == kConstant) return -1;
  if (mode == kEdge) return i < 0 ? 0 : n - 1;
  if (mode == kReflect && n == 1) return 0;
  const int64_t period = mode == kWrap ? n : mode == kReflect ? 2 * (n - 1) : 2 * n;
  const int64_t at = (i % period + period) % period;
  if (at < n) return at;
  return mode == kReflect ? period - at : period - 1 - at;
}

template <class W>
struct Pad {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    const Attrs& a = c.attrs<Attrs>();
    int64_t begin[kMaxRank], end[kMaxRank];
    bool known;
    MOTE_TRY(resolve(a, c, begin, end, &known));
    for (int i = 0; i < x.rank(); ++i) {
      const int64_t least = a.mode == kConstant || y.dim(i) == 0 ? 0 : 1;
      const bool fits = y.dim(i) == x.dim(i) + begin[i] + end[i] && kept(x.dim(i), begin[i], end[i]) >= least;
      if (!fits) return {Status::kInvalidArgument, Why::kBound};
    }
    W value = 0;
    if (c.has_input(1)) put(&value, c.input(1).as<const W>());
    else value = number_bits<W>(x.dtype(), Number::of(static_cast<double>(a.value)));

    // Byte offset of the source along one axis, or -1.
    const auto offset = [&](int axis, int32_t i) -> int64_t {
      const int64_t cut = begin[axis] < 0 ? -begin[axis] : 0, added = begin[axis] > 0 ? begin[axis] : 0;
      const int64_t at = source(a.mode, i - added, kept(x.dim(axis), begin[axis], end[axis]));
      return at < 0 ? -1 : (at + cut) * x.stride(axis);
    };
    const int outer = y.rank() > 0 ? y.rank() - 1 : 0;
    const int32_t length = y.rank() > 0 ? y.dim(outer) : 1;
    GridWalk<1> rows(outer, y.desc->dims, {{y.desc->strides}});
    while (rows.next()) {
      int64_t first = 0;
      for (int i = 0; i < outer && first >= 0; ++i) {
        const int64_t step = offset(i, rows.index[i]);
        first = step < 0 ? -1 : first + step;
      }
      W* to = y.at<W>(rows.offset[0]);
      for (int32_t i = 0; i < length; ++i) {
        const int64_t step = y.rank() > 0 ? offset(outer, i) : 0;
        put(to + i, first < 0 || step < 0 ? &value : x.at<const W>(static_cast<int32_t>(first + step)));
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::pad, Pad>(c.input(0).dtype()); }

}  // namespace mote::ops::pad
