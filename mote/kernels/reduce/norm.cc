// Normalizations of f32: mean and variance of each slice in two passes, then (x - mean) / sqrt(variance + epsilon) * scale + bias.

#include "mote/kernels/reduce/fold.h"
#include "mote/ops/batch_norm/batch_norm.h"
#include "mote/ops/group_norm/group_norm.h"
#include "mote/ops/instance_norm/instance_norm.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/rms_norm/rms_norm.h"

namespace mote::kernels::MOTE_ISA_NAME::reduce {
namespace {

// A tensor broadcast to the rank of x: strides are 0 in broadcast dimensions. No data: absent.
struct Operand {
  uint8_t* data = nullptr;
  int64_t strides[kMaxRank] = {};
  Operand() = default;
  Operand(const Tensor& t, int rank) : data(t.as<uint8_t>()) {
    for (int i = 0; i < t.rank(); ++i) strides[rank - t.rank() + i] = t.dim(i) == 1 ? 0 : t.stride(i);
  }
};
Operand optional(const OpContext& c, int i, int rank) { return c.has_input(i) ? Operand(c.input(i), rank) : Operand(); }

enum OperandIndex { kX, kY, kScale, kBias, kMean, kInverse, kParts };

struct Norm {
  Operand operand[kParts];
  int rank;
  int32_t dims[kMaxRank];
  uint32_t inner;     // mask of the axes that are normalized together (a slice)
  int32_t group = 1;  // adjacent columns that form one slice, where slices are columns
  bool centre;
  float epsilon;
  const Threads* threads;

  Norm(const OpContext& c, uint32_t axes, bool subtract_mean, float add)
      : rank(c.input(0).rank()), inner(axes), centre(subtract_mean), epsilon(add), threads(c.threads) {
    operand[kX] = Operand(c.input(0), rank);
    operand[kY] = Operand(c.output(0), rank);
    operand[kScale] = optional(c, 1, rank);
    for (int i = 0; i < rank; ++i) dims[i] = c.input(0).dim(i);
  }
  template <int N>
  void push(StridedLoopNest<N>* nest, int i) const {
    int64_t steps[N];
    for (int k = 0; k < N; ++k) steps[k] = operand[k].strides[i];
    nest->push(dims[i], steps);
  }
  VF inverse_of(VF variance) const { return quotient(broadcast(1.0f), square_root(hn::Add(variance, broadcast(epsilon)))); }
};

// Elements [first, first + count) of a scale or bias; step 0: one value for all.
MOTE_INLINE VF load_or_broadcast(const uint8_t* p, int64_t step, int32_t first, int32_t count) {
  return step == 0 ? broadcast(*reinterpret_cast<const float*>(p)) : load_partial(reinterpret_cast<const float*>(p) + first, count);
}

template <int N>
MOTE_INLINE void apply_run(const Norm& m, const uint8_t* const* at, const int64_t* step, int32_t n, VF mean, VF inverse) {
  const float* x = reinterpret_cast<const float*>(at[kX]);
  float* y = reinterpret_cast<float*>(const_cast<uint8_t*>(at[kY]));
  const bool scales = m.operand[kScale].data != nullptr, biases = m.operand[kBias].data != nullptr;
  const auto normalize_vector = [&](int32_t i, int32_t count) MOTE_LAMBDA {
    VF v = hn::Mul(hn::Sub(load_partial(x + i, count), mean), inverse);
    if (scales) v = hn::Mul(v, load_or_broadcast(at[kScale], step[kScale], i, count));
    if (biases) v = hn::Add(v, load_or_broadcast(at[kBias], step[kBias], i, count));
    store_partial(v, count, y + i);
  };
  int32_t i = 0;
  for (; i + kLanes <= n; i += kLanes) normalize_vector(i, kLanes);
  if (i < n) normalize_vector(i, n - i);
}

// One slice that contains the innermost dimension. base: offsets of its first element in each operand.
void normalize_slice(const Norm& m, const int64_t* base, const ReducedLoops& reduced, const StridedLoopNest<4>& elements) {
  const uint8_t* x = m.operand[kX].data + base[kX];
  const float count = static_cast<float>(reduced.count() > 0 ? reduced.count() : 1);
  VF mean = hn::Zero(F32());
  if (m.centre) {
    Sum::Total sum;
    reduced.for_each_line([&](int64_t at) {
      fold_line<Sum>(sum, x + at, reduced.step(), reduced.length(), [](int32_t, VF v, int32_t) MOTE_LAMBDA { return v; });
    });
    mean = broadcast(reduce_lanes<Sum>(sum) / count);
  }
  Sum::Total squares;
  reduced.for_each_line([&](int64_t at) {
    fold_line<Sum>(squares, x + at, reduced.step(), reduced.length(), [&](int32_t, VF v, int32_t) MOTE_LAMBDA {
      const VF d = hn::Sub(v, mean);
      return hn::Mul(d, d);
    });
  });
  const VF inverse = broadcast(1.0f / __builtin_sqrtf(reduce_lanes<Sum>(squares) / count + m.epsilon));
  if (m.operand[kMean].data != nullptr) *reinterpret_cast<float*>(m.operand[kMean].data + base[kMean]) = hn::GetLane(mean);
  if (m.operand[kInverse].data != nullptr) *reinterpret_cast<float*>(m.operand[kInverse].data + base[kInverse]) = hn::GetLane(inverse);
  if (reduced.count() == 0) return;
  for_run_range(elements, 0, elements.runs(), 0, elements.length(), [&](const int64_t* offset, const int64_t* step, int32_t n) {
    const uint8_t* at[4];
    for (int k = 0; k < 4; ++k) at[k] = m.operand[k].data + base[k] + offset[k];
    apply_run<4>(m, at, step, n, mean, inverse);
  });
}

// Replaces each of `columns` sums with the sum of its group.
template <int V>
MOTE_INLINE void sum_groups(VF (&sums)[V], int32_t columns, int32_t group) {
  if (group == 1) return;
  alignas(64) float lanes[V * kLanes];
  unroll<V>([&](auto v) MOTE_LAMBDA { hn::Store(sums[v], F32(), lanes + v * kLanes); });
  for (int32_t first = 0; first < columns; first += group) {
    double sum = 0;
    for (int32_t i = first; i < first + group; ++i) sum += static_cast<double>(lanes[i]);
    for (int32_t i = first; i < first + group; ++i) lanes[i] = static_cast<float>(sum);
  }
  unroll<V>([&](auto v) MOTE_LAMBDA { sums[v] = hn::Load(F32(), lanes + v * kLanes); });
}

// Slices that are adjacent columns: V vectors of them, each column a slice (or part of its group's slice).
template <int V>
void normalize_columns(const Norm& m, const int64_t* base, const int64_t* step, const ReducedLoops& reduced, const ReducedLoops& to,
                       int32_t first, int32_t columns) {
  const uint8_t* x = m.operand[kX].data + base[kX] + first * 4;
  const VF count = broadcast(static_cast<float>(reduced.count() * m.group));
  VF mean[V], inverse[V], sum[V];
  Sum::Total sums[V], squares[V];
  if (m.centre) fold_columns<Sum, V>(sums, x, reduced, columns, [](auto, VF v) MOTE_LAMBDA { return v; });
  unroll<V>([&](auto v) MOTE_LAMBDA { sum[v] = sums[v].value(); });
  sum_groups<V>(sum, columns, m.group);
  unroll<V>([&](auto v) MOTE_LAMBDA { mean[v] = quotient(sum[v], count); });
  fold_columns<Sum, V>(squares, x, reduced, columns, [&](auto v, VF value) MOTE_LAMBDA {
    const VF d = hn::Sub(value, mean[v]);
    return hn::Mul(d, d);
  });
  unroll<V>([&](auto v) MOTE_LAMBDA { sum[v] = squares[v].value(); });
  sum_groups<V>(sum, columns, m.group);
  VF scale[V], bias[V];
  unroll<V>([&](auto v) MOTE_LAMBDA {
    const int32_t at = first + v * kLanes, remaining = columns - v * kLanes;
    inverse[v] = m.inverse_of(quotient(sum[v], count));
    scale[v] = m.operand[kScale].data != nullptr ? load_or_broadcast(m.operand[kScale].data + base[kScale], step[kScale], at, remaining)
                                                 : broadcast(1.0f);
    bias[v] = m.operand[kBias].data != nullptr ? load_or_broadcast(m.operand[kBias].data + base[kBias], step[kBias], at, remaining)
                                               : hn::Zero(F32());
  });
  // Input and output are walked together, in the same order.
  StridedLoopNest<2> both;
  for (int i = 0; i < reduced.depth; ++i) {
    const int64_t steps[2] = {reduced.stride[i], to.stride[i]};
    both.push(reduced.size[i], steps);
  }
  if (both.depth == 0) {
    const int32_t unit_widths[2] = {-1, -1};
    both.ensure_contiguous(unit_widths);
  }
  uint8_t* y = m.operand[kY].data + base[kY] + first * 4;
  for_run_range(both, 0, both.runs(), 0, both.length(), [&](const int64_t* offset, const int64_t* steps, int32_t n) {
    for (int32_t i = 0; i < n; ++i) {
      const float* in = reinterpret_cast<const float*>(x + offset[0] + i * steps[0]);
      float* out = reinterpret_cast<float*>(y + offset[1] + i * steps[1]);
      unroll<V>([&](auto v) MOTE_LAMBDA {
        const int32_t remaining = columns - v * kLanes;
        const VF value = hn::Mul(hn::Sub(load_partial(in + v * kLanes, remaining), mean[v]), inverse[v]);
        store_partial(hn::Add(hn::Mul(value, scale[v]), bias[v]), remaining, out + v * kLanes);
      });
    }
  });
}

void normalize(const Norm& m) {
  TensorDesc shape{};
  shape.rank = static_cast<uint8_t>(m.rank);
  ReducedLoops reduced, to;
  StridedLoopNest<kParts> kept;
  StridedLoopNest<4> elements;
  for (int i = 0; i < m.rank; ++i) {
    shape.dims[i] = m.dims[i];
    if ((m.inner >> i & 1) == 0) {
      m.push(&kept, i);
      continue;
    }
    reduced.push(m.dims[i], m.operand[kX].strides[i]);
    to.push(m.dims[i], m.operand[kY].strides[i]);
    m.push(&elements, i);
  }
  const double cost = 16.0 * static_cast<double>(reduced.count());
  // Mean and inverse deviation are outputs of the slice-by-slice path only.
  if (innermost_is_in(shape, m.inner) || m.operand[kMean].data != nullptr || m.operand[kInverse].data != nullptr) {
    const int32_t unit_widths[kParts] = {-1, -1, -1, -1, -1, -1}, widths[4] = {4, 4, 4, 4};
    if (kept.depth == 0) kept.ensure_contiguous(unit_widths);
    elements.ensure_contiguous(widths);
    const auto slices = [&](const int64_t* offset, const int64_t* step, int32_t n) {
      for (int32_t i = 0; i < n; ++i) {
        int64_t base[kParts];
        for (int k = 0; k < kParts; ++k) base[k] = offset[k] + i * step[k];
        normalize_slice(m, base, reduced, elements);
      }
    };
    return for_each_run(kept, m.threads, cost, slices, 1);
  }
  const int32_t widths[kParts] = {4, 4, 4, 4, 4, 4};
  kept.ensure_contiguous(widths);
  for_each_run(kept, m.threads, cost, [&](const int64_t* offset, const int64_t* step, int32_t n) {
    for_each_column_block(n, [&](auto vectors, int32_t first, int32_t columns) {
      normalize_columns<decltype(vectors)::value>(m, offset, step, reduced, to, first, columns);
    });
  });
}

uint32_t axes_from(int axis) { return ~0u << axis; }
int normalize_axis(int32_t axis, int rank) { return axis < 0 ? axis + (rank > 0 ? rank : 1) : axis; }

Status layer_norm_f32(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::layer_norm::Attrs>();
  const int rank = c.input(0).rank();
  Norm m(c, axes_from(normalize_axis(a.axis, rank)), true, a.epsilon);
  m.operand[kBias] = optional(c, 2, rank);
  if (c.has_output(1)) m.operand[kMean] = Operand(c.output(1), rank);
  if (c.has_output(2)) m.operand[kInverse] = Operand(c.output(2), rank);
  normalize(m);
  return Status::kOk;
}

Status rms_norm_f32(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::rms_norm::Attrs>();
  normalize(Norm(c, axes_from(normalize_axis(a.axis, c.input(0).rank())), false, a.epsilon));
  return Status::kOk;
}

Status batch_norm_f32(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::batch_norm::Attrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  // A vector of C values, viewed as (C, 1, ...) so that it broadcasts along the channel axis.
  TensorDesc channels = *c.input(1).desc;
  channels.rank = static_cast<uint8_t>(x.rank() > 0 ? x.rank() - normalize_axis(a.axis, x.rank()) : 0);
  for (int i = 1; i < channels.rank; ++i) channels.dims[i] = 1;
  const TensorDesc* operands[] = {x.desc, &channels, y.desc};
  const VF epsilon = broadcast(a.epsilon);
  for_each_run<3>(*y.desc, operands, c.rows, c.threads, 16, [&](const int64_t* offset, const int64_t* step, int32_t n) {
    const float* in = reinterpret_cast<const float*>(x.as<const uint8_t>() + offset[0]);
    float* out = reinterpret_cast<float*>(y.as<uint8_t>() + offset[2]);
    for (int32_t i = 0; i < n; i += kLanes) {
      const int32_t count = n - i < kLanes ? n - i : kLanes;
      const auto of = [&](int k) { return load_or_broadcast(c.input(k).as<const uint8_t>() + offset[1], step[1], i, count); };
      const VF inverse = quotient(broadcast(1.0f), square_root(hn::Add(of(4), epsilon)));
      const VF v = hn::Mul(hn::Sub(load_partial(in + i, count), of(3)), inverse);
      store_partial(hn::Add(hn::Mul(v, of(1)), of(2)), count, out + i);
    }
  });
  return Status::kOk;
}

// The dimensions between the batch and the channels.
uint32_t spatial_axes(int rank) { return axes_from(1) & ~axes_from(rank - 1); }

Status instance_norm_f32(const OpContext& c) noexcept {
  const int rank = c.input(0).rank();
  Norm m(c, spatial_axes(rank), true, c.attrs<ops::instance_norm::Attrs>().epsilon);
  m.operand[kBias] = optional(c, 2, rank);
  normalize(m);
  return Status::kOk;
}

Status group_norm_f32(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::group_norm::Attrs>();
  const int rank = c.input(0).rank();
  const int32_t channels = c.input(0).dim(rank - 1), size = channels / a.groups;
  Norm m(c, spatial_axes(rank), true, a.epsilon);
  m.operand[kBias] = optional(c, 2, rank);
  // Small groups fit the column blocks of for_each_column_block(); others become slices with a dimension of their own.
  if (kLanes % size == 0 || (4 * kLanes % size == 0 && channels % (4 * kLanes) == 0)) {
    m.group = size;
  } else {
    for (Operand& o : m.operand) {
      o.strides[rank] = o.strides[rank - 1];
      o.strides[rank - 1] *= size;
    }
    m.dims[rank - 1] = a.groups;
    m.dims[rank] = size;
    m.inner |= 1u << rank;
    ++m.rank;
  }
  normalize(m);
  return Status::kOk;
}

// True for f32 with spatial positions to normalize over, and room for one more dimension.
bool has_positions(const OpContext& c) {
  const Tensor& x = c.input(0);
  return x.dtype() == DType::f32 && x.rank() >= 3 && x.rank() < kMaxRank && x.count() > x.dim(0) * x.dim(x.rank() - 1);
}

KernelFn if_f32(const OpContext& c, KernelFn fn) { return c.input(0).dtype() == DType::f32 ? fn : nullptr; }

}  // namespace

KernelFn select_layer_norm(const OpContext& c) noexcept { return if_f32(c, &layer_norm_f32); }
KernelFn select_rms_norm(const OpContext& c) noexcept { return if_f32(c, &rms_norm_f32); }
KernelFn select_instance_norm(const OpContext& c) noexcept { return has_positions(c) ? &instance_norm_f32 : nullptr; }
KernelFn select_group_norm(const OpContext& c) noexcept { return has_positions(c) ? &group_norm_f32 : nullptr; }
KernelFn select_batch_norm(const OpContext& c) noexcept { return if_f32(c, &batch_norm_f32); }

}  // namespace mote::kernels::MOTE_ISA_NAME::reduce
