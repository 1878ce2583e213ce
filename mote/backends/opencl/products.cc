// Convolutions and matrix products.

#include <algorithm>

#include "mote/backends/common/memory_budget.h"
#include "mote/backends/opencl/device_types.h"
#include "mote/backends/opencl/families.h"
#include "mote/backends/opencl/products.h"
#include "mote/backends/opencl/winograd.h"
#include "mote/core/size.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::backends::opencl {
namespace {

constexpr int32_t kDepth = 16;  // of a tile: product.cl

template <class A>
FinishArgs finish_of(const OpView& op, const A& a) {
  return {static_cast<int32_t>(a.activation), op.has(2) ? 1 : 0, op.has(3) ? 1 : 0, a.act_a, a.act_b};
}

Place place_of(const OpView& op, size_t i) { return op.has(i) ? op.inputs[i].place : Place{}; }

// The matrix product of the rows of input 0 with constant weights.
void add_product(const OpView& op, Recorder& r, ProductArgs p, const FinishArgs& f, float alpha) {
  const Tile t = tile_for(p.rows, p.cols, 1, r.compute_units());
  const int64_t wanted = int64_t{2} * r.compute_units(), tiles = int64_t{parts_of(p.rows, t.rows)} * parts_of(p.cols, t.cols);
  // Too few tiles for the device: several groups share the sums of one.
  int64_t parts = std::max<int64_t>(1, wanted / std::max<int64_t>(1, tiles));
  parts = std::min<int64_t>({parts, p.k / (4 * kDepth), 32});
  parts = std::max<int64_t>(parts, 1);
  p.k_part = parts_of(parts_of(p.k, static_cast<int32_t>(parts)), kDepth) * kDepth;
  parts = parts_of(p.k, p.k_part);
  const int64_t count = static_cast<int64_t>(p.rows) * p.cols;
  if (parts > 1 && count * parts > (int64_t{1} << 28)) parts = 1, p.k_part = parts_of(p.k, kDepth) * kDepth;
  const Place partial = parts > 1 ? r.workspace(static_cast<uint64_t>(count * parts)) : Place{};
  float scale = 1;
  const Place w = r.half_math() ? r.half_weights(op.inputs[1], p.cols, p.k, p.padded_cols, &scale)
                                : r.weights(op.inputs[1], p.cols, p.k, p.padded_cols);
  alpha *= scale;
  const auto lx = static_cast<size_t>(t.group_x), ly = static_cast<size_t>(t.group_y);
  r.launch(
       op, t.kernel,
       {static_cast<size_t>(parts_of(p.cols, t.cols)) * lx, static_cast<size_t>(parts_of(p.rows, t.rows)) * ly, static_cast<size_t>(parts)},
       {lx, ly, 1})
      .tensor(op.inputs[0].place)
      .tensor(w)
      .tensor(place_of(op, 2))
      .tensor(place_of(op, 3))
      .tensor(op.outputs[0].place)
      .tensor(partial)
      .value(p)
      .value(f)
      .value(alpha)
      .form(r.half_math() ? kHalfMath : 0)
      .each(product_units(t, t.rows, t.cols, p.k_part) / (t.group_x * t.group_y));
  if (parts == 1) return;
  r.launch(op, "product_finish", {static_cast<size_t>(count)}, {64})
      .tensor(partial)
      .value(static_cast<int32_t>(parts))
      .tensor(place_of(op, 2))
      .tensor(place_of(op, 3))
      .tensor(op.outputs[0].place)
      .value(static_cast<int32_t>(count))
      .value(p.cols)
      .value(f)
      .value(alpha)
      .each(static_cast<double>(parts));
}

const char* check_constant_weights(const OpView& op) {
  if (!op.has(1) || op.inputs[1].data == nullptr) return "its weights are not constant";
  const DType t = op.inputs[1].dtype;
  if ((t != DType::f32 && t != DType::f16) || op.has(4)) return "weights in another type than f32 and f16";
  return nullptr;
}

template <class A>
const char* lower_window(const OpView& op, Recorder* r, bool transposed) {
  const A& a = op.attributes<A>();
  const Operand &x = op.inputs[0], &w = op.inputs[1];
  if (x.rank != 3 && x.rank != 4) return "three spatial dimensions";
  if (const char* why = check_constant_weights(op)) return why;
  if (r == nullptr) return nullptr;
  WindowArgs p{window_of(op, a, w.dims + 1), 0, 0};
  p.groups = a.groups;
  p.padded_cols = padded_columns(p.out_c);
  const FinishArgs f = finish_of(op, a);
  const int32_t positions = p.batch * p.out_h * p.out_w, taps = p.kernel_h * p.kernel_w;
  if (!transposed && a.groups == 1) {
    const ProductArgs q = product_of(p);
    const bool square = p.kernel_h == 3 && p.kernel_w == 3 && p.stride_h == 1 && p.stride_w == 1 && p.dilation_h == 1 && p.dilation_w == 1;
    const double units = product_units(tile_for(q.rows, q.cols, 1, r->compute_units()), q.rows, q.cols, q.k);
    // Its own arithmetic is f32, half as fast as f16.
    if (square && winograd_profitable(p, r->half_math() ? units / 2 : units)) add_winograd(op, *r, p, f);
    else add_product(op, *r, q, f, 1);
    return nullptr;
  }
  const bool depthwise = !transposed && a.groups == p.in_c && p.in_c == p.out_c;
  const int32_t depth = p.in_c / a.groups;
  if (r->half_math() && multiplies_half(op)) {
    float scale = 1;
    const Place pairs = r->half_weights(w, p.out_c, taps, p.padded_cols, &scale);
    r->launch_positions(op, "depthwise_pairs", p.out_c / 2, positions)
        .tensor(x.place)
        .tensor(pairs)
        .tensor(place_of(op, 2))
        .tensor(place_of(op, 3))
        .tensor(op.outputs[0].place)
        .value(p)
        .value(f)
        .value(scale)
        .form(kHalfMath)
        .each(2 * taps);
    return nullptr;
  }
  const Place weights = r->weights(w, p.out_c, taps * depth, p.padded_cols);
  auto args = r->launch_positions(op, depthwise ? "depthwise" : "window_product", p.out_c, positions);
  args.tensor(x.place).tensor(weights).tensor(place_of(op, 2)).tensor(place_of(op, 3)).tensor(op.outputs[0].place).value(p).value(f);
  if (!depthwise) args.value(int32_t{transposed ? 1 : 0});
  // Transposed, an output meets one tap in a stride.
  const double met = transposed ? std::max(1.0, static_cast<double>(taps) / p.stride_h / p.stride_w) : taps;
  args.each(met * depth);
  return nullptr;
}

// Elements from the start of an operand to each of the result's batches.
std::vector<int32_t> batch_offsets(const Operand& o, const Operand& y) {
  const int lead = y.rank - o.rank;
  std::vector<int32_t> steps(static_cast<size_t>(y.rank), 0), offsets(1, 0);
  int32_t step = o.dim(-1) * o.dim(-2);
  for (int i = o.rank - 3; i >= 0; --i) {
    steps[static_cast<size_t>(i) + static_cast<size_t>(lead)] = o.dims[i] == 1 ? 0 : step;
    step *= o.dims[i];
  }
  for (int i = 0; i + 2 < y.rank; ++i) {
    std::vector<int32_t> next;
    for (int32_t base : offsets)
      for (int32_t k = 0; k < y.dims[i]; ++k) next.push_back(base + k * steps[static_cast<size_t>(i)]);
    offsets = std::move(next);
  }
  return offsets;
}

}  // namespace

Tile tile_for(int32_t rows, int32_t cols, int32_t count, uint32_t compute_units) {
  constexpr Tile kLarge = {"product_64x64", 64, 64, 16, 16}, kSmall = {"product_32x32", 32, 32, 16, 16},
                 kFlat = {"product_16x64", 16, 64, 32, 8};
  const int64_t large = int64_t{count} * parts_of(rows, kLarge.rows) * parts_of(cols, kLarge.cols);
  return rows <= 16 ? kFlat : large >= int64_t{2} * compute_units ? kLarge : kSmall;
}

double product_units(const Tile& t, int32_t rows, int32_t cols, int32_t k) {
  return static_cast<double>(parts_of(rows, t.rows)) * t.rows * parts_of(cols, t.cols) * t.cols * k;
}

ProductArgs product_of(const WindowArgs& p) {
  const int32_t taps = p.kernel_h * p.kernel_w;
  ProductArgs q{};
  q.rows = p.batch * p.out_h * p.out_w, q.cols = p.out_c, q.padded_cols = p.padded_cols, q.k = taps * p.in_c;
  q.in_h = p.in_h, q.in_w = p.in_w, q.in_c = p.in_c, q.out_h = p.out_h, q.out_w = p.out_w, q.kernel_w = p.kernel_w;
  q.stride_h = p.stride_h, q.stride_w = p.stride_w, q.dilation_h = p.dilation_h, q.dilation_w = p.dilation_w;
  q.pad_h = p.pad_h, q.pad_w = p.pad_w;
  q.plain = taps == 1 && p.stride_h == 1 && p.stride_w == 1 && p.in_h == p.out_h && p.in_w == p.out_w ? 1 : 0;
  return q;
}

bool repacks_weights(const OpView& op) {
  if (op.op == static_cast<uint16_t>(OpId::q_conv) || op.op == static_cast<uint16_t>(OpId::q_matmul)) return true;
  if (op.op == static_cast<uint16_t>(OpId::conv) || op.op == static_cast<uint16_t>(OpId::conv_transpose)) return true;
  if (op.op != static_cast<uint16_t>(OpId::matmul) || op.inputs[1].data == nullptr || op.inputs[1].rank != 2) return false;
  const auto& a = op.attributes<ops::matmul::Attrs>();
  return a.transpose_b == 1 && a.transpose_a == 0;
}

bool reads_float(const OpView& op, size_t i) {
  const auto id = static_cast<OpId>(op.op);
  return i == 2 && (id == OpId::conv || id == OpId::conv_transpose || id == OpId::matmul);
}

bool multiplies_half(const OpView& op) {
  if (op.op == static_cast<uint16_t>(OpId::matmul)) return repacks_weights(op);
  if (op.op != static_cast<uint16_t>(OpId::conv)) return false;
  const int32_t groups = op.attributes<ops::conv::Attrs>().groups, channels = op.inputs[0].dim(-1);
  if (groups == 1) return true;
  return groups == channels && channels == op.outputs[0].dim(-1) && channels % 2 == 0 && op.inputs[1].dim(-2) <= kHalfBlock;
}

const char* lower_conv(const OpView& op, Recorder* r) {
  const bool transposed = op.op == static_cast<uint16_t>(OpId::conv_transpose);
  return transposed ? lower_window<ops::conv_transpose::Attrs>(op, r, true) : lower_window<ops::conv::Attrs>(op, r, false);
}

const char* lower_matmul(const OpView& op, Recorder* r) {
  const auto& a = op.attributes<ops::matmul::Attrs>();
  const Operand &x = op.inputs[0], &w = op.inputs[1], &y = op.outputs[0];
  const int32_t m = y.dim(-2), n = y.dim(-1), k = x.dim(a.transpose_a != 0 ? -2 : -1);
  if (op.has(2) && (op.inputs[2].count() != n || op.inputs[2].dim(-1) != n)) return "a bias that is not one value per column";
  const bool constant = repacks_weights(op);
  if (op.has(4) || (w.dtype != DType::f32 && !(constant && w.dtype == DType::f16))) return "weights in another type than f32 and f16";
  if (!constant && w.layout != Layout::kPlain) return "weights in a packed form it does not read";
  if (x.data != nullptr && x.dtype != DType::f32) return "only f32 is computed there";
  if (r == nullptr) return nullptr;
  const FinishArgs f = finish_of(op, a);
  const int64_t batches = y.count() / std::max<int64_t>(1, static_cast<int64_t>(m) * n);
  if (constant) {
    ProductArgs p{};
    p.rows = static_cast<int32_t>(batches) * m, p.cols = n, p.padded_cols = padded_columns(n), p.k = k;
    p.plain = p.kernel_w = p.in_c = p.out_h = p.out_w = 1;
    add_product(op, *r, p, f, a.alpha);
    return nullptr;
  }
  MemoryBudget().take(times(static_cast<uint64_t>(batches), 2 * sizeof(int32_t)));
  const std::vector<int32_t> a_batch = batch_offsets(x, y), b_batch = batch_offsets(w, y);
  MatricesArgs s{};
  s.m = m, s.n = n, s.k = k, s.batches = static_cast<int32_t>(batches);
  s.a_row = a.transpose_a != 0 ? 1 : k, s.a_col = a.transpose_a != 0 ? m : 1;
  s.b_row = a.transpose_b != 0 ? 1 : n, s.b_col = a.transpose_b != 0 ? k : 1;
  Place pa = r->add_constant(a_batch.data(), a_batch.size()), pb = r->add_constant(b_batch.data(), b_batch.size());
  r->launch(op, "matmul", {static_cast<size_t>(n), static_cast<size_t>(m), static_cast<size_t>(batches)}, {16, 4, 1})
      .tensor(x.place)
      .tensor(w.place)
      .tensor(pa)
      .tensor(pb)
      .tensor(place_of(op, 2))
      .tensor(place_of(op, 3))
      .tensor(y.place)
      .value(s)
      .value(f)
      .value(a.alpha)
      .each(k);
  return nullptr;
}

}  // namespace mote::backends::opencl
