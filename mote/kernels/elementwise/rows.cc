// The loop nests of element-wise operators; see rows.h.

#include "mote/kernels/elementwise/rows.h"

#include <cstring>

#include "mote/kernels/common/merge_rows.h"

namespace mote::kernels::MOTE_ISA_NAME::elementwise {
namespace {

int32_t width_of(const Tensor& t) { return static_cast<int32_t>(dtype_bytes(t.dtype())); }

// body(first, count) for n elements, in parts that threads share.
template <class F>
void flat_parts(const Threads* threads, int32_t n, int cost, const F& body) {
  const uint32_t helpers = thread_count(threads, static_cast<double>(n) * cost);
  if (helpers < 2) return body(0, n);
  constexpr int32_t kUnit = 64;
  const int32_t units = (n + kUnit - 1) / kUnit;
  parallel_for(threads, helpers * 2, [&](uint32_t i) {
    const Range part = part_of(units, i, helpers * 2);
    const int32_t first = part.first * kUnit, end = (part.first + part.size) * kUnit;
    if (part.size > 0) body(first, (end < n ? end : n) - first);
  });
}

bool all_rows_dense(const OpContext& c, int inputs) {
  if (!c.rows.all() || !is_dense(*c.output(0).desc)) return false;
  for (int i = 0; i < inputs; ++i)
    if (!is_dense(*c.input(i).desc)) return false;
  return true;
}

}  // namespace

Status flat_unary(const OpContext& c, UnaryRow row, int cost) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const int64_t x_width = width_of(x), y_width = width_of(y);
  flat_parts(c.threads, y.count(), cost,
             [&](int32_t first, int32_t n) { row(c, x.as<const uint8_t>() + first * x_width, y.as<uint8_t>() + first * y_width, n); });
  return Status::kOk;
}

Status flat_binary(const OpContext& c, BinaryRow row, int cost) noexcept {
  const Tensor &a = c.input(0), &b = c.input(1), &y = c.output(0);
  const int64_t width = width_of(a), y_width = width_of(y);
  const int32_t count = y.count();
  const int a_step = a.count() == count ? 1 : 0, b_step = b.count() == count ? 1 : 0;
  flat_parts(c.threads, count, cost, [&](int32_t first, int32_t n) {
    row(c, a.as<const uint8_t>() + first * width * a_step, a_step, b.as<const uint8_t>() + first * width * b_step, b_step,
        y.as<uint8_t>() + first * y_width, n);
  });
  return Status::kOk;
}

Status strided_unary(const OpContext& c, UnaryRow row, int cost) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const TensorDesc* operands[] = {x.desc, y.desc};
  for_each_run<2>(*y.desc, operands, c.rows, c.threads, cost, [&](const int64_t* offset, const int64_t*, int32_t n) {
    row(c, x.as<const uint8_t>() + offset[0], y.as<uint8_t>() + offset[1], n);
  });
  return Status::kOk;
}

Status strided_binary(const OpContext& c, BinaryRow row, int cost) noexcept {
  const Tensor &a = c.input(0), &b = c.input(1), &y = c.output(0);
  const TensorDesc* operands[] = {a.desc, b.desc, y.desc};
  const int32_t widths[] = {width_of(a), width_of(b), width_of(y)};
  const auto compute_run = [&](const int64_t* offset, const int64_t* step, int32_t n) {
    row(c, a.as<const uint8_t>() + offset[0], step[0] != 0, b.as<const uint8_t>() + offset[1], step[1] != 0, y.as<uint8_t>() + offset[2],
        n);
  };
  StridedLoopNest<3> nest;
  if (c.rows.all()) nest.make(*y.desc, operands);
  // A short row that is broadcast along the outer loop (a bias): many rows are computed at once, with copies of the broadcast row side by
  // side.
  constexpr int32_t kMaxPeriod = 512, kCopies = 1024;
  int input = 0;
  const int32_t period = c.rows.all() ? merge_broadcast_rows(&nest, widths, kMaxPeriod, &input) : 0;
  if (period == 0) return for_each_run<3>(*y.desc, operands, c.rows, c.threads, cost, compute_run), Status::kOk;
  alignas(64) uint8_t copies[kCopies * 8];
  const int32_t copied_elements = kCopies / period * period;
  const int64_t bytes = int64_t{period} * widths[0];
  const auto compute_merged = [&](const int64_t* offset, const int64_t*, int32_t n) {
    int64_t at[] = {offset[0], offset[1], offset[2]};
    for (int32_t i = 0; i < n; i += copied_elements, at[1 - input] += copied_elements * widths[0], at[2] += copied_elements * widths[2]) {
      const void *lhs = a.as<const uint8_t>() + at[0], *rhs = b.as<const uint8_t>() + at[1];
      row(c, input == 0 ? copies : lhs, 1, input == 1 ? copies : rhs, 1, y.as<uint8_t>() + at[2],
          n - i < copied_elements ? n - i : copied_elements);
    }
  };
  // Outer loops may advance the broadcast operand, so its copies are made anew for each of their iterations.
  StridedLoopNest<3> merged = nest, outer = nest;
  merged.size[0] = nest.length();
  for (int k = 0; k < 3; ++k) merged.stride[0][k] = nest.stride[nest.depth - 1][k];
  merged.depth = 1;
  outer.size[outer.depth - 1] = 1;
  for_run_range(outer, 0, nest.runs(), 0, 1, [&](const int64_t* offset, const int64_t*, int32_t) {
    const uint8_t* broadcast_row = (input == 0 ? a : b).as<const uint8_t>() + offset[input];
    for (int32_t i = 0; i < copied_elements; i += period)
      std::memcpy(copies + i * int64_t{widths[0]}, broadcast_row, static_cast<size_t>(bytes));
    for (int k = 0; k < 3; ++k) merged.base[k] = offset[k];
    for_each_run(merged, c.threads, cost, compute_merged, period);
  });
  return Status::kOk;
}

bool is_flat_unary(const OpContext& c) noexcept { return all_rows_dense(c, 1); }

bool is_flat_binary(const OpContext& c) noexcept {
  if (!all_rows_dense(c, 2)) return false;
  const int32_t count = c.output(0).count(), a = c.input(0).count(), b = c.input(1).count();
  return (a == count || a == 1) && (b == count || b == 1);
}

bool strided_supported(const OpContext& c) noexcept {
  const int rank = c.output(0).rank();
  for (int i = 0; i < c.input_count; ++i)
    if (c.has_input(i) && c.input(i).desc->ring_rows != 0 && c.input(i).rank() != rank) return false;
  return true;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::elementwise
