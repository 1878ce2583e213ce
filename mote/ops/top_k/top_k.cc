#include "mote/ops/top_k/top_k.h"

#include <algorithm>

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/sorting.h"

namespace mote::ops::top_k {
namespace {

int32_t kept(const OpContext& c) noexcept {
  const Tensor& y = c.output(c.has_output(0) ? 0 : 1);
  return y.rank() > 0 ? y.dim(checked_axis(c.attrs<Attrs>().axis, y.rank())) : 1;
}

Status run(const OpContext& c) noexcept {
  const Tensor& x = c.input(0);
  const Attrs& a = c.attrs<Attrs>();
  const int axis = x.rank() > 0 ? checked_axis(a.axis, x.rank()) : 0;
  const int32_t n = x.rank() > 0 ? x.dim(axis) : 1, k = kept(c);
  if (k > n) return {Status::kInvalidArgument, Why::kBound};
  return order_lines(c, axis, a.largest != 0, k, [n, k](const LineOrder& line, int32_t* best) {
    // A heap of the k best so far, the worst of them on top.
    for (int32_t i = 0; i < k; ++i) best[i] = i;
    std::make_heap(best, best + k, line);
    for (int32_t i = k; i < n; ++i) {
      if (!line(i, best[0])) continue;
      std::pop_heap(best, best + k, line);
      best[k - 1] = i;
      std::push_heap(best, best + k, line);
    }
    std::sort_heap(best, best + k, line);
  });
}

}  // namespace

Scratch scratch(const OpContext& c) noexcept { return scratch_numbers(static_cast<uint64_t>(kept(c)), DType::s32); }
KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::top_k
