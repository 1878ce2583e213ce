#include "mote/ops/sort/sort.h"

#include <algorithm>

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/sorting.h"

namespace mote::ops::sort {
namespace {

int32_t line_length(const OpContext& c) noexcept {
  const Tensor& x = c.input(0);
  return x.rank() > 0 ? x.dim(checked_axis(c.attrs<Attrs>().axis, x.rank())) : 1;
}

Status run(const OpContext& c) noexcept {
  const Tensor& x = c.input(0);
  const Attrs& a = c.attrs<Attrs>();
  const int axis = x.rank() > 0 ? checked_axis(a.axis, x.rank()) : 0;
  const int32_t n = line_length(c);
  return order_lines(c, axis, a.descending != 0, n, [n](const LineOrder& line, int32_t* order) {
    for (int32_t i = 0; i < n; ++i) order[i] = i;
    std::sort(order, order + n, line);
  });
}

}  // namespace

Scratch scratch(const OpContext& c) noexcept { return scratch_numbers(static_cast<uint64_t>(line_length(c)), DType::s32); }
KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::sort
