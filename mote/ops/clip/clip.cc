#include "mote/ops/clip/clip.h"

#include <limits>

namespace mote::ops::clip {
namespace {

template <class C>
struct Within {
  // A bound that is NaN makes every result NaN, as in numpy and ATen.
  C operator()(C x) const {
    const C raised = lo > x || is_nan(lo) ? lo : x;
    return hi < raised || is_nan(hi) ? hi : raised;
  }
  static bool is_nan(C v) {
    if constexpr (std::is_integral_v<C>) return false;
    else return std::isnan(v);
  }
  C lo, hi;
};

// The attribute as a value of the compute type: integers saturate.
template <class C>
C from_attribute(float v) {
  if constexpr (std::is_integral_v<C>) {
    using Limits = std::numeric_limits<C>;
    if (v <= static_cast<float>(Limits::lowest())) return Limits::lowest();
    if (v >= static_cast<float>(Limits::max())) return Limits::max();
  }
  return static_cast<C>(v);
}

template <class T>
struct Clip {
  using C = Compute<T>;

  static C bound(const OpContext& c, int input, float attribute) {
    const bool given = c.has_input(input) && c.input(input).count() > 0;
    return given ? static_cast<C>(*c.input(input).as<const T>()) : from_attribute<C>(attribute);
  }
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Within<C> within{bound(c, 1, a.lo), bound(c, 2, a.hi)};
    const Tensor &x = c.input(0), &y = c.output(0);
    RowWalk<2> w(*y.desc, {x.desc, y.desc}, c.rows);
    while (w.next()) map_row<Within<C>, T>(within, x.at<const T>(w.offset[0]), y.at<T>(w.offset[1]), w.length);
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::clip, Clip>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::clip
