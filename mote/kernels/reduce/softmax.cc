// softmax and log_softmax of f32 along any axis. The output may alias the input: an element is read before it is written.

#include "mote/ops/softmax/softmax.h"
#include "mote/kernels/reduce/fold.h"
#include "mote/ops/log_softmax/log_softmax.h"

namespace mote::kernels::MOTE_ISA_NAME::reduce {
namespace {

// n elements along the softmax axis, with their own strides in input and output.
struct Line {
  const uint8_t* in;
  int64_t in_step;
  uint8_t* out;
  int64_t out_step;
  int32_t n;

  MOTE_INLINE VF get(int32_t first, int32_t count) const {
    const uint8_t* from = in + first * in_step;
    return in_step == 4 ? load_partial(reinterpret_cast<const float*>(from), count) : load_strided(from, in_step, count);
  }
  MOTE_INLINE void put(int32_t first, VF v, int32_t count) const {
    uint8_t* to = out + first * out_step;
    if (out_step == 4) store_partial(v, count, reinterpret_cast<float*>(to));
    else store_strided(v, to, out_step, count);
  }
};

// A line that fits V vectors. NaN needs no special case: it reaches the sum, and through the sum every result.
template <bool Log, int V>
MOTE_INLINE void softmax_vectors(const Line& l) {
  const F32 d;
  VF x[V], e[V], sums = hn::Zero(d), peaks = broadcast(-HUGE_VALF);
  const auto lanes_of = [&](int v) MOTE_LAMBDA {
    const int32_t remaining = l.n - v * kLanes;
    return remaining < 0 ? 0 : remaining < kLanes ? remaining : kLanes;
  };
  unroll<V>([&](auto v) MOTE_LAMBDA {
    x[v] = first_lanes(l.get(v * kLanes, lanes_of(v)), lanes_of(v), broadcast(-HUGE_VALF));
    peaks = larger(peaks, x[v]);
  });
  const VF peak = hn::MaxOfLanes(d, peaks);
  unroll<V>([&](auto v) MOTE_LAMBDA {
    e[v] = exp_flush_denormal(hn::Sub(x[v], peak));
    sums = hn::Add(sums, first_lanes(e[v], lanes_of(v), hn::Zero(d)));
  });
  const VF sum = hn::SumOfLanes(d, sums), log_sum = Log ? log(sum) : sum, factor = Log ? sum : quotient(broadcast(1.0f), sum);
  unroll<V>([&](auto v)
                MOTE_LAMBDA { l.put(v * kLanes, Log ? hn::Sub(hn::Sub(x[v], peak), log_sum) : hn::Mul(e[v], factor), lanes_of(v)); });
}

template <bool Log>
void softmax_line(const Line& l) {
  if (l.n <= kLanes) return softmax_vectors<Log, 1>(l);
  if (l.n <= 4 * kLanes) return softmax_vectors<Log, 4>(l);
  Max::Total peaks;
  fold_line<Max>(peaks, l.in, l.in_step, l.n, [](int32_t, VF v, int32_t) { return v; });
  const VF peak = broadcast(reduce_lanes<Max>(peaks));
  Sum::Total sums;
  fold_line<Sum>(sums, l.in, l.in_step, l.n, [&](int32_t first, VF v, int32_t count) {
    const VF e = exp_flush_denormal(hn::Sub(v, peak));
    if (!Log) l.put(first, e, count);
    return e;
  });
  const VF sum = broadcast(reduce_lanes<Sum>(sums));
  if (Log) {
    const VF log_sum = log(sum);
    for_each_vector<1>(l.in, l.in_step, l.n,
                       [&](auto, int32_t first, VF v, int32_t count) { l.put(first, hn::Sub(hn::Sub(v, peak), log_sum), count); });
  } else {
    const VF factor = quotient(broadcast(1.0f), sum);
    for_each_vector<1>(l.out, l.out_step, l.n, [&](auto, int32_t first, VF v, int32_t count) { l.put(first, hn::Mul(v, factor), count); });
  }
}

// V vectors of adjacent columns, each of which is a line.
template <bool Log, int V>
void softmax_columns(const Line& l, int32_t columns) {
  const auto from = [&](const uint8_t* base, int64_t step, int32_t i, int v) {
    const float* p = reinterpret_cast<const float*>(base + i * step) + v * kLanes;
    return V > 1 ? load(p) : load_partial(p, columns);
  };
  const auto put = [&](int32_t i, int v, VF value) {
    store_partial(value, columns - v * kLanes, reinterpret_cast<float*>(l.out + i * l.out_step) + v * kLanes);
  };
  ReducedLoops reduced;
  reduced.push(l.n, l.in_step);
  Max::Total peaks[V];
  fold_columns<Max, V>(peaks, l.in, reduced, columns, [](auto, VF v) { return v; });
  VF sum[V];
  unroll<V>([&](auto v) {
    Sum::Total total;
    for (int32_t i = 0; i < l.n; ++i) {
      const VF e = exp_flush_denormal(hn::Sub(from(l.in, l.in_step, i, v), peaks[v].value()));
      if (!Log) put(i, v, e);
      total.add(e);
    }
    sum[v] = Log ? log(total.value()) : quotient(broadcast(1.0f), total.value());
  });
  for (int32_t i = 0; i < l.n; ++i) {
    unroll<V>([&](auto v) {
      if (Log) put(i, v, hn::Sub(hn::Sub(from(l.in, l.in_step, i, v), peaks[v].value()), sum[v]));
      else put(i, v, hn::Mul(from(l.out, l.out_step, i, v), sum[v]));
    });
  }
}

template <bool Log, class Attrs>
Status softmax_f32(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const int32_t wanted = c.attrs<Attrs>().axis;
  const int axis = wanted < 0 ? wanted + x.rank() : wanted;
  const bool scalar = x.rank() == 0;
  const int32_t n = scalar ? 1 : x.dim(axis);
  if (n == 0) return Status::kOk;
  StridedLoopNest<2> kept;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t steps[2] = {x.stride(i), y.stride(i)};
    if (i != axis) kept.push(x.dim(i), steps);
  }
  const auto line_at = [&](int64_t in, int64_t out) {
    return Line{x.as<const uint8_t>() + in, scalar ? 4 : x.stride(axis), y.as<uint8_t>() + out, scalar ? 4 : y.stride(axis), n};
  };
  const double cost = 64.0 * n;
  if (scalar || innermost_is_in(*x.desc, 1u << axis)) {
    if (kept.depth == 0) {
      softmax_line<Log>(line_at(0, 0));
      return Status::kOk;
    }
    const auto rows = [&](const int64_t* offset, const int64_t* step, int32_t count) {
      for (int32_t i = 0; i < count; ++i) softmax_line<Log>(line_at(offset[0] + i * step[0], offset[1] + i * step[1]));
    };
    for_each_run(kept, c.threads, cost, rows, 1);
    return Status::kOk;
  }
  const int32_t widths[2] = {4, 4};
  kept.ensure_contiguous(widths);
  for_each_run(kept, c.threads, cost, [&](const int64_t* offset, const int64_t*, int32_t count) {
    for_each_column_block(count, [&](auto vectors, int32_t first, int32_t columns) {
      softmax_columns<Log, decltype(vectors)::value>(line_at(offset[0] + first * 4, offset[1] + first * 4), columns);
    });
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_softmax(const OpContext& c) noexcept {
  return c.input(0).dtype() == DType::f32 ? &softmax_f32<false, ops::softmax::Attrs> : nullptr;
}
KernelFn select_log_softmax(const OpContext& c) noexcept {
  return c.input(0).dtype() == DType::f32 ? &softmax_f32<true, ops::log_softmax::Attrs> : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::reduce
