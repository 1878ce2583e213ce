#include "mote/ops/roi_align/roi_align.h"

namespace mote::ops::roi_align {
namespace {

// The samples of the bins along one dimension of a box.
template <class C>
struct Axis {
  C start, bin;
  int32_t samples;  // of a bin
  int32_t size;     // of x

  Axis(const Attrs& a, C from, C to, int32_t bins, int32_t size_) noexcept : size(size_) {
    const C scale = a.spatial_scale, shift = a.half_pixel != 0 ? C(0.5) : C(0);
    start = from * scale - shift;
    C extent = to * scale - shift - start;
    if (a.half_pixel == 0 && !(extent > 1)) extent = 1;
    bin = extent / static_cast<C>(bins);
    samples = a.sampling_ratio;
    // Float counts no further than this one by one; boxes so large are nonsense, and the bound keeps them harmless.
    if (samples == 0) samples = bin > 0 ? static_cast<int32_t>(std::fmin(std::ceil(bin), C(1 << 22))) : 0;
  }
  C place(int32_t b, int32_t i) const noexcept {
    return start + static_cast<C>(b) * bin + (static_cast<C>(i) + C(0.5)) * bin / static_cast<C>(samples);
  }
  // The first sample of bin b that may lie at or after -1. Samples before it and past the end contribute nothing.
  int32_t first(int32_t b) const noexcept {
    const C skipped = (C(-1) - start - static_cast<C>(b) * bin) / bin * static_cast<C>(samples) - 3;
    return bin > 0 && skipped > 0 ? static_cast<int32_t>(std::fmin(skipped, static_cast<C>(samples))) : 0;
  }
  // All samples from this one on lie past the end.
  bool past(C v) const noexcept { return bin > 0 && !(v <= static_cast<C>(size)); }
  bool inside(C v) const noexcept { return v >= -1 && v <= static_cast<C>(size); }
};

// A place between two elements of x: their indices and weights.
template <class C>
struct Pair {
  int32_t low, high;
  C low_weight, high_weight;

  Pair(C v, int32_t size) noexcept {
    if (!(v > 0)) v = 0;
    low = static_cast<int32_t>(v);
    high = low + 1;
    if (low >= size - 1) low = high = size - 1, v = static_cast<C>(low);
    high_weight = v - static_cast<C>(low);
    low_weight = 1 - high_weight;
  }
};

template <class T>
struct RoiAlign {
  using C = Compute<T>;

  static C corners(const T* const (&p)[4], const Pair<C>& y, const Pair<C>& x, int32_t channel, bool largest) noexcept {
    const C v[4] = {
        y.low_weight * x.low_weight * static_cast<C>(p[0][channel]), y.low_weight * x.high_weight * static_cast<C>(p[1][channel]),
        y.high_weight * x.low_weight * static_cast<C>(p[2][channel]), y.high_weight * x.high_weight * static_cast<C>(p[3][channel])};
    if (!largest) return v[0] + v[1] + v[2] + v[3];
    C best = v[0];
    for (int i = 1; i < 4; ++i) best = v[i] > best ? v[i] : best;
    return best;
  }

  // One bin of one channel. The loops visit the samples inside x only; they are at most one element apart unless sampling_ratio says so.
  static C pool(const Tensor& x, int32_t image, const Axis<C>& ys, const Axis<C>& xs, int32_t row, int32_t column, int32_t channel,
                bool largest) noexcept {
    C sum = 0, best = 0, seen = 0;
    for (int32_t i = ys.first(row); i < ys.samples; ++i) {
      const C v = ys.place(row, i);
      if (ys.past(v)) break;
      if (!ys.inside(v)) continue;
      const Pair<C> y(v, ys.size);
      for (int32_t j = xs.first(column); j < xs.samples; ++j) {
        const C u = xs.place(column, j);
        if (xs.past(u)) break;
        if (!xs.inside(u)) continue;
        const Pair<C> p(u, xs.size);
        const int32_t top = image + y.low * x.stride(1), bottom = image + y.high * x.stride(1);
        const T* const at[4] = {x.at<const T>(top + p.low * x.stride(2)), x.at<const T>(top + p.high * x.stride(2)),
                                x.at<const T>(bottom + p.low * x.stride(2)), x.at<const T>(bottom + p.high * x.stride(2))};
        const C value = corners(at, y, p, channel, largest);
        sum += value;
        if (seen == 0 || value > best) best = value;
        ++seen;
      }
    }
    const C count = static_cast<C>(ys.samples) * static_cast<C>(xs.samples);
    if (!largest) return sum / (count > 1 ? count : C(1));
    return seen < count && best < 0 ? C(0) : best;  // a sample outside counts as 0
  }

  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &boxes = c.input(1), &y = c.output(0);
    for (int32_t r = 0; r < y.dim(0); ++r) {
      const int64_t n = index_at(c.input(2), r);
      if (n < 0 || n >= x.dim(0)) return {Status::kInvalidArgument, Why::kIndexRange};
      const T* box = boxes.at<const T>(r * boxes.stride(0));
      const Axis<C> xs(a, box[0], box[2], y.dim(2), x.dim(2)), ys(a, box[1], box[3], y.dim(1), x.dim(1));
      const bool empty = x.dim(1) == 0 || x.dim(2) == 0 || !std::isfinite(xs.start + xs.bin + ys.start + ys.bin);
      for (int32_t i = 0; i < y.dim(1); ++i)
        for (int32_t j = 0; j < y.dim(2); ++j) {
          T* out = y.at<T>(r * y.stride(0) + i * y.stride(1) + j * y.stride(2));
          for (int32_t k = 0; k < y.dim(3); ++k)
            out[k] = static_cast<T>(empty ? C(0) : pool(x, static_cast<int32_t>(n) * x.stride(0), ys, xs, i, j, k, a.mode != 0));
        }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::roi_align, RoiAlign>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::roi_align
