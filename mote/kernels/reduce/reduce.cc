// Reductions of f32 over any axes.

#include "mote/ops/common/reduce.h"
#include "mote/kernels/reduce/fold.h"

namespace mote::kernels::MOTE_ISA_NAME::reduce {
namespace {

using ops::ReduceAttrs;

// The reduced axes as a mask. Input 1 replaces the attribute; infer() has validated both.
uint32_t axes_of(const OpContext& c) {
  const ReduceAttrs& a = c.attrs<ReduceAttrs>();
  const int rank = c.input(0).rank();
  const Tensor* axes = c.has_input(1) ? &c.input(1) : nullptr;
  const int32_t count = axes != nullptr ? axes->count() : a.axis_count;
  if (count == 0) return (1u << rank) - 1;
  uint32_t mask = 0;
  for (int32_t i = 0; i < count; ++i) {
    int64_t axis = a.axes[i & 7];
    if (axes != nullptr) axis = axes->dtype() == DType::s32 ? axes->as<const int32_t>()[i] : axes->as<const int64_t>()[i];
    mask |= 1u << (axis < 0 ? axis + (rank > 0 ? rank : 1) : axis);
  }
  return mask;
}

// f maps each element before it is folded; finish(totals, count) maps a vector of totals to results.
template <class Fold, class F, class Finish>
void reduce_f32(const OpContext& c, const F& f, const Finish& finish) {
  const Tensor &x = c.input(0), &y = c.output(0);
  const uint32_t mask = axes_of(c);
  const bool keep = c.attrs<ReduceAttrs>().keep_dims != 0;
  StridedLoopNest<2> kept;
  ReducedLoops reduced;
  int at = 0;
  for (int i = 0; i < x.rank(); ++i) {
    const bool is_reduced = (mask >> i & 1) != 0;
    const int64_t steps[2] = {x.stride(i), is_reduced || at >= y.rank() ? 0 : y.stride(at)};
    if (is_reduced) reduced.push(x.dim(i), steps[0]);
    else kept.push(x.dim(i), steps);
    if (!is_reduced || keep) ++at;
  }
  const double cost = 4.0 * static_cast<double>(reduced.count());
  const float count = static_cast<float>(reduced.count());
  const uint8_t* in = x.as<const uint8_t>();
  uint8_t* out = y.as<uint8_t>();
  const auto result = [&](VF v) MOTE_LAMBDA { return finish(v, broadcast(count)); };
  if (innermost_is_in(*x.desc, mask)) {
    const int32_t unit_widths[2] = {-1, -1};
    if (kept.depth == 0) kept.ensure_contiguous(unit_widths);
    const auto mapped = [&](int32_t, VF v, int32_t) MOTE_LAMBDA { return f(v); };
    const auto rows = [&](const int64_t* offset, const int64_t* step, int32_t n) {
      for (int32_t i = 0; i < n; ++i) {
        typename Fold::Total total;
        const uint8_t* first = in + offset[0] + i * step[0];
        reduced.for_each_line([&](int64_t line) { fold_line<Fold>(total, first + line, reduced.step(), reduced.length(), mapped); });
        *reinterpret_cast<float*>(out + offset[1] + i * step[1]) = hn::GetLane(result(broadcast(reduce_lanes<Fold>(total))));
      }
    };
    return for_each_run(kept, c.threads, cost, rows, 1);
  }
  const int32_t widths[2] = {4, 4};
  kept.ensure_contiguous(widths);
  for_each_run(kept, c.threads, cost, [&](const int64_t* offset, const int64_t*, int32_t n) {
    for_each_column_block(n, [&](auto vectors, int32_t first, int32_t columns) {
      constexpr int V = decltype(vectors)::value;
      typename Fold::Total totals[V];
      fold_columns<Fold, V>(totals, in + offset[0] + first * 4, reduced, columns, [&](auto, VF v) MOTE_LAMBDA { return f(v); });
      float* to = reinterpret_cast<float*>(out + offset[1]) + first;
      unroll<V>([&](auto v) MOTE_LAMBDA { store_partial(result(totals[v].value()), columns - v * kLanes, to + v * kLanes); });
    });
  });
}

constexpr auto kIdentity = [](VF v) MOTE_LAMBDA { return v; };
constexpr auto kAbsolute = [](VF v) MOTE_LAMBDA { return hn::Abs(v); };
constexpr auto kSquare = [](VF v) MOTE_LAMBDA { return hn::Mul(v, v); };
constexpr auto kKeepTotal = [](VF v, VF) MOTE_LAMBDA { return v; };

Status reduce_sum_f32(const OpContext& c) noexcept { return reduce_f32<Sum>(c, kIdentity, kKeepTotal), Status::kOk; }
Status reduce_mean_f32(const OpContext& c) noexcept {
  return reduce_f32<Sum>(c, kIdentity, [](VF v, VF count) MOTE_LAMBDA { return quotient(v, count); }), Status::kOk;
}
Status reduce_max_f32(const OpContext& c) noexcept { return reduce_f32<Max>(c, kIdentity, kKeepTotal), Status::kOk; }
Status reduce_min_f32(const OpContext& c) noexcept { return reduce_f32<Min>(c, kIdentity, kKeepTotal), Status::kOk; }
Status reduce_l1_f32(const OpContext& c) noexcept { return reduce_f32<Sum>(c, kAbsolute, kKeepTotal), Status::kOk; }
Status reduce_l2_f32(const OpContext& c) noexcept {
  return reduce_f32<Sum>(c, kSquare, [](VF v, VF) MOTE_LAMBDA { return square_root(v); }), Status::kOk;
}
Status reduce_sum_square_f32(const OpContext& c) noexcept { return reduce_f32<Sum>(c, kSquare, kKeepTotal), Status::kOk; }

// Axes that are computed at run time may not match the output: the portable kernel checks them.
KernelFn if_axes_known(const OpContext& c, KernelFn fn) {
  const bool known = !c.has_input(1) || c.input(1).desc->storage == Storage::kConstant;
  return known && c.input(0).dtype() == DType::f32 ? fn : nullptr;
}

}  // namespace

KernelFn select_reduce_sum(const OpContext& c) noexcept { return if_axes_known(c, &reduce_sum_f32); }
KernelFn select_reduce_mean(const OpContext& c) noexcept { return if_axes_known(c, &reduce_mean_f32); }
KernelFn select_reduce_max(const OpContext& c) noexcept { return if_axes_known(c, &reduce_max_f32); }
KernelFn select_reduce_min(const OpContext& c) noexcept { return if_axes_known(c, &reduce_min_f32); }
KernelFn select_reduce_l1(const OpContext& c) noexcept { return if_axes_known(c, &reduce_l1_f32); }
KernelFn select_reduce_l2(const OpContext& c) noexcept { return if_axes_known(c, &reduce_l2_f32); }
KernelFn select_reduce_sum_square(const OpContext& c) noexcept { return if_axes_known(c, &reduce_sum_square_f32); }

}  // namespace mote::kernels::MOTE_ISA_NAME::reduce
