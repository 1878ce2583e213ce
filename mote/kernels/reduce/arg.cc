// arg_max and arg_min of f32 along one axis: the first of equal elements; NaN ranks above everything else.

#include "mote/kernels/reduce/fold.h"
#include "mote/ops/common/arg_reduce.h"

namespace mote::kernels::MOTE_ISA_NAME::reduce {
namespace {

using ops::ArgAttrs;
using S32 = hn::RebindToSigned<F32>;
using VI = hn::Vec<S32>;

// Two passes: the extreme value, then its first position.
template <class Fold>
int32_t position_in_line(const uint8_t* p, int64_t stride, int32_t n) {
  typename Fold::Total total;
  fold_line<Fold>(total, p, stride, n, [](int32_t, VF v, int32_t) { return v; });
  const VF best = broadcast(reduce_lanes<Fold>(total));
  int32_t found = -1;
  for_each_vector<1>(p, stride, n, [&](auto, int32_t first, VF v, int32_t count) {
    if (found >= 0) return;
    // Equal to the extreme value, or both are NaN.
    const auto hit = hn::Or(hn::Eq(v, best), hn::And(hn::IsNaN(v), hn::IsNaN(best)));
    const auto at = hn::FindFirstTrue(F32(), hit);
    if (at >= 0 && at < count) found = first + static_cast<int32_t>(at);
  });
  return found < 0 ? 0 : found;
}

// Adjacent columns: v replaces best when it is strictly better, or the first NaN.
template <bool Least>
void positions_of_columns(const uint8_t* p, int64_t step, int32_t n, int32_t columns, int32_t* out) {
  const S32 di;
  const auto row = [&](int32_t i) { return load_partial(reinterpret_cast<const float*>(p + i * step), columns); };
  VF best = row(0);
  VI at = hn::Zero(di);
  for (int32_t i = 1; i < n; ++i) {
    const VF v = row(i);
    const auto better = hn::Or(Least ? hn::Lt(v, best) : hn::Gt(v, best), hn::And(hn::IsNaN(v), hn::Eq(best, best)));
    best = hn::IfThenElse(better, v, best);
    at = hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, i), at);
  }
  hn::StoreU(at, di, out);
}

template <class Fold, bool Least>
Status arg_reduce_f32(const OpContext& c) noexcept {
  const ArgAttrs& a = c.attrs<ArgAttrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  const int axis = a.axis < 0 ? a.axis + x.rank() : a.axis;
  StridedLoopNest<2> kept;
  int at = 0;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t steps[2] = {x.stride(i), i == axis ? 0 : y.stride(at)};
    if (i != axis) kept.push(x.dim(i), steps);
    if (i != axis || a.keep_dims != 0) ++at;
  }
  const int32_t n = x.dim(axis), widths[2] = {4, a.index_type == 0 ? 8 : 4};
  const auto put = [&](int64_t offset, int32_t value) {
    uint8_t* to = y.as<uint8_t>() + offset;
    if (a.index_type == 0) *reinterpret_cast<int64_t*>(to) = value;
    else *reinterpret_cast<int32_t*>(to) = value;
  };
  const uint8_t* in = x.as<const uint8_t>();
  if (innermost_is_in(*x.desc, 1u << axis)) {
    const int32_t unit_widths[2] = {-1, -1};
    if (kept.depth == 0) kept.ensure_contiguous(unit_widths);
    const auto rows = [&](const int64_t* offset, const int64_t* step, int32_t count) {
      for (int32_t i = 0; i < count; ++i)
        put(offset[1] + i * step[1], position_in_line<Fold>(in + offset[0] + i * step[0], x.stride(axis), n));
    };
    for_each_run(kept, c.threads, 8.0 * n, rows, 1);
    return Status::kOk;
  }
  kept.ensure_contiguous(widths);
  for_each_run(kept, c.threads, 8.0 * n, [&](const int64_t* offset, const int64_t*, int32_t count) {
    for (int32_t i = 0; i < count; i += kLanes) {
      const int32_t columns = count - i < kLanes ? count - i : kLanes;
      alignas(64) int32_t found[kLanes];
      positions_of_columns<Least>(in + offset[0] + i * 4, x.stride(axis), n, columns, found);
      for (int32_t k = 0; k < columns; ++k) put(offset[1] + int64_t{i + k} * widths[1], found[k]);
    }
  });
  return Status::kOk;
}

bool is_supported(const OpContext& c) {
  const ArgAttrs& a = c.attrs<ArgAttrs>();
  return c.input(0).dtype() == DType::f32 && c.input(0).rank() > 0 && a.flat == 0 && a.select_last == 0;
}

}  // namespace

KernelFn select_arg_max(const OpContext& c) noexcept { return is_supported(c) ? &arg_reduce_f32<Max, false> : nullptr; }
KernelFn select_arg_min(const OpContext& c) noexcept { return is_supported(c) ? &arg_reduce_f32<Min, true> : nullptr; }

}  // namespace mote::kernels::MOTE_ISA_NAME::reduce
