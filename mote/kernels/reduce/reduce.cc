// Reductions of f32 over any axes.

#include "mote/ops/common/reduce.h"
#include "mote/kernels/reduce/lines.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::ReduceAttrs;

// Input 1 replaces the attribute; infer() has accepted both.
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

// f: what is folded of each element; finish: makes the result of a vector of totals and the number of elements.
template <class Fold, class F, class Finish>
void reduce(const OpContext& c, const F& f, const Finish& finish) {
  const Tensor &x = c.input(0), &y = c.output(0);
  const uint32_t mask = axes_of(c);
  const bool keep = c.attrs<ReduceAttrs>().keep_dims != 0;
  Nest<2> kept;
  Lines lines;
  int at = 0;
  for (int i = 0; i < x.rank(); ++i) {
    const bool reduced = (mask >> i & 1) != 0;
    const int64_t steps[2] = {x.stride(i), reduced || at >= y.rank() ? 0 : y.stride(at)};
    if (reduced) lines.push(x.dim(i), steps[0]);
    else kept.push(x.dim(i), steps);
    if (!reduced || keep) ++at;
  }
  const double cost = 4.0 * static_cast<double>(lines.count());
  const float count = static_cast<float>(lines.count());
  const uint8_t* in = x.as<const uint8_t>();
  uint8_t* out = y.as<uint8_t>();
  const auto result = [&](VF v) MOTE_LAMBDA { return finish(v, broadcast(count)); };
  if (innermost_is_in(*x.desc, mask)) {
    const int32_t none[2] = {-1, -1};
    if (kept.depth == 0) kept.close(none);
    const auto of_element = [&](int32_t, VF v, int32_t) MOTE_LAMBDA { return f(v); };
    const auto rows = [&](const int64_t* offset, const int64_t* step, int32_t n) {
      for (int32_t i = 0; i < n; ++i) {
        typename Fold::Total total;
        const uint8_t* first = in + offset[0] + i * step[0];
        lines.each([&](int64_t line) { fold_line<Fold>(total, first + line, lines.step(), lines.length(), of_element); });
        *reinterpret_cast<float*>(out + offset[1] + i * step[1]) = hn::GetLane(result(broadcast(across<Fold>(total))));
      }
    };
    return each_run(kept, c.threads, cost, rows, 1);
  }
  const int32_t widths[2] = {4, 4};
  kept.close(widths);
  each_run(kept, c.threads, cost, [&](const int64_t* offset, const int64_t*, int32_t n) {
    each_column_block(n, [&](auto vectors, int32_t first, int32_t columns) {
      constexpr int V = decltype(vectors)::value;
      typename Fold::Total totals[V];
      fold_columns<Fold, V>(totals, in + offset[0] + first * 4, lines, columns, [&](auto, VF v) MOTE_LAMBDA { return f(v); });
      float* to = reinterpret_cast<float*>(out + offset[1]) + first;
      unroll<V>([&](auto v) MOTE_LAMBDA { store_some(result(totals[v].value()), columns - v * kLanes, to + v * kLanes); });
    });
  });
}

constexpr auto kAsIs = [](VF v) MOTE_LAMBDA { return v; };
constexpr auto kSize = [](VF v) MOTE_LAMBDA { return hn::Abs(v); };
constexpr auto kSquare = [](VF v) MOTE_LAMBDA { return hn::Mul(v, v); };
constexpr auto kTotal = [](VF v, VF) MOTE_LAMBDA { return v; };

Status run_sum(const OpContext& c) noexcept { return reduce<Sum>(c, kAsIs, kTotal), Status::kOk; }
Status run_mean(const OpContext& c) noexcept {
  return reduce<Sum>(c, kAsIs, [](VF v, VF count) MOTE_LAMBDA { return quotient(v, count); }), Status::kOk;
}
Status run_max(const OpContext& c) noexcept { return reduce<Max>(c, kAsIs, kTotal), Status::kOk; }
Status run_min(const OpContext& c) noexcept { return reduce<Min>(c, kAsIs, kTotal), Status::kOk; }
Status run_l1(const OpContext& c) noexcept { return reduce<Sum>(c, kSize, kTotal), Status::kOk; }
Status run_l2(const OpContext& c) noexcept {
  return reduce<Sum>(c, kSquare, [](VF v, VF) MOTE_LAMBDA { return root(v); }), Status::kOk;
}
Status run_sum_square(const OpContext& c) noexcept { return reduce<Sum>(c, kSquare, kTotal), Status::kOk; }

// Axes that only running tells may not fit the output: the portable kernel looks.
KernelFn if_known(const OpContext& c, KernelFn fn) {
  const bool known = !c.has_input(1) || c.input(1).desc->storage == Storage::kConstant;
  return known && c.input(0).dtype() == DType::f32 ? fn : nullptr;
}

}  // namespace

KernelFn select_reduce_sum(const OpContext& c) noexcept { return if_known(c, &run_sum); }
KernelFn select_reduce_mean(const OpContext& c) noexcept { return if_known(c, &run_mean); }
KernelFn select_reduce_max(const OpContext& c) noexcept { return if_known(c, &run_max); }
KernelFn select_reduce_min(const OpContext& c) noexcept { return if_known(c, &run_min); }
KernelFn select_reduce_l1(const OpContext& c) noexcept { return if_known(c, &run_l1); }
KernelFn select_reduce_l2(const OpContext& c) noexcept { return if_known(c, &run_l2); }
KernelFn select_reduce_sum_square(const OpContext& c) noexcept { return if_known(c, &run_sum_square); }

}  // namespace mote::kernels::MOTE_ISA_NAME
