// lstm and gru of f32 with sigmoid and tanh: matrix-vector products with the weights, then the gates in vectors.

#include "mote/kernels/common/activate.h"
#include "mote/kernels/common/parallel.h"
#include "mote/ops/gru/gru.h"
#include "mote/ops/lstm/lstm.h"

namespace mote::kernels::MOTE_ISA_NAME::recurrent {
namespace {

// Inputs of both operators.
constexpr int kX = 0, kWeights = 1, kRecurrent = 2, kBias = 3, kLengths = 4, kFirstState = 5;

// out[i] (+)= dot product of row i of the matrix with x, plus bias[i] if there is a bias. R rows at a time share the loads of x.
template <int R>
MOTE_INLINE void dot_rows(const uint8_t* rows, int64_t step, const float* x, int32_t n, const float* bias, float* out, bool accumulate) {
  VF acc[R];
  unroll<R>([&](auto r) { acc[r] = hn::Zero(F32()); });
  const auto row = [&](int r) { return reinterpret_cast<const float*>(rows + r * step); };
  int32_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const VF v = load(x + i);
    unroll<R>([&](auto r) { acc[r] = hn::MulAdd(v, load(row(r) + i), acc[r]); });
  }
  if (i < n) {
    const VF v = load_partial(x + i, n - i);
    unroll<R>([&](auto r) { acc[r] = hn::MulAdd(v, load_partial(row(r) + i, n - i), acc[r]); });
  }
  unroll<R>([&](auto r) {
    const float value = hn::GetLane(hn::SumOfLanes(F32(), acc[r])) + (bias != nullptr ? bias[r] : 0.0f);
    out[r] = accumulate ? out[r] + value : value;
  });
}

struct Layer {
  const OpContext& c;
  int32_t steps, batch, input, hidden, rows, directions, layout, direction;
  Layer(const OpContext& context, int32_t gates, int32_t batch_first, int32_t way) : c(context), layout(batch_first), direction(way) {
    const Tensor &x = c.input(kX), &w = c.input(kWeights);
    steps = x.dim(layout != 0 ? 1 : 0);
    batch = x.dim(layout != 0 ? 0 : 1);
    input = x.dim(2);
    rows = w.dim(1);
    hidden = rows / gates;
    directions = w.dim(0);
  }

  // out[0, count) (+)= rows [first, first + count) of the matrix in input `which` times v, plus their biases.
  void multiply(int which, int32_t d, int32_t first, int32_t count, const float* v, float* out, bool accumulate) const {
    const Tensor& m = c.input(which);
    const int32_t n = m.dim(2);
    const uint8_t* base = m.as<const uint8_t>() + int64_t{d} * m.stride(0) + int64_t{first} * m.stride(1);
    const float* bias = nullptr;
    if (c.has_input(kBias)) {
      const Tensor& b = c.input(kBias);
      bias = reinterpret_cast<const float*>(b.as<const uint8_t>() + int64_t{d} * b.stride(0)) + first + (which == kRecurrent ? rows : 0);
    }
    const int64_t step = m.stride(1);
    const uint32_t helpers = thread_count(c.threads, 4.0 * count * n);
    parallel_for(helpers > 1 ? c.threads : nullptr, helpers, [&](uint32_t part) {
      const Range mine = part_of(count, part, helpers);
      int32_t i = mine.first;
      const int32_t end = mine.first + mine.size;
      for (; i + 4 <= end; i += 4) dot_rows<4>(base + i * step, step, v, n, bias != nullptr ? bias + i : nullptr, out + i, accumulate);
      for (; i < end; ++i) dot_rows<1>(base + i * step, step, v, n, bias != nullptr ? bias + i : nullptr, out + i, accumulate);
    });
  }

  const uint8_t* state_at(const Tensor& t, int32_t d, int32_t b) const {
    return t.as<const uint8_t>() +
           (layout != 0 ? int64_t{b} * t.stride(0) + int64_t{d} * t.stride(1) : int64_t{d} * t.stride(0) + int64_t{b} * t.stride(1));
  }
  void load_state(int i, int32_t d, int32_t b, float* state) const {
    const float* from = c.has_input(i) ? reinterpret_cast<const float*>(state_at(c.input(i), d, b)) : nullptr;
    for (int32_t k = 0; k < hidden; ++k) state[k] = from != nullptr ? from[k] : 0.0f;
  }
  void store_state(int o, int32_t d, int32_t b, const float* state) const {
    if (!c.has_output(o)) return;
    float* to = reinterpret_cast<float*>(const_cast<uint8_t*>(state_at(c.output(o), d, b)));
    for (int32_t k = 0; k < hidden; ++k) to[k] = state[k];
  }
  int64_t length(int32_t b) const {
    if (!c.has_input(kLengths)) return steps;
    const Tensor& t = c.input(kLengths);
    return t.dtype() == DType::s32 ? t.as<const int32_t>()[b] : t.as<const int64_t>()[b];
  }

  // Cell: start(d, b), step(d, x), finish(d, b), h. Outputs behind the end of a sequence are 0; the reverse direction starts at its end.
  template <class Cell>
  Status compute(Cell& cell) const {
    const Tensor& x = c.input(kX);
    for (int32_t d = 0; d < directions; ++d) {
      const bool reverse = direction == 1 || d == 1;
      for (int32_t b = 0; b < batch; ++b) {
        const int64_t count = length(b);
        if (count < 0 || count > steps) return {Status::kInvalidArgument, Why::kIndexRange};
        cell.start(d, b);
        for (int32_t i = 0; i < steps; ++i) {
          const bool valid = i < count;
          const int64_t t = valid && reverse ? count - 1 - i : i;
          const int64_t at = layout != 0 ? b * int64_t{x.stride(0)} + t * x.stride(1) : t * x.stride(0) + b * int64_t{x.stride(1)};
          if (valid) cell.step(d, reinterpret_cast<const float*>(x.as<const uint8_t>() + at));
          if (c.has_output(0)) put_row(d, b, t, valid ? cell.h : nullptr);
        }
        cell.finish(d, b);
      }
    }
    return Status::kOk;
  }
  void put_row(int32_t d, int32_t b, int64_t t, const float* h) const {
    const Tensor& y = c.output(0);
    const int64_t at = layout != 0 ? b * int64_t{y.stride(0)} + t * y.stride(1) + d * int64_t{y.stride(2)}
                                   : t * y.stride(0) + d * int64_t{y.stride(1)} + b * int64_t{y.stride(2)};
    float* out = reinterpret_cast<float*>(y.as<uint8_t>() + at);
    for (int32_t k = 0; k < hidden; ++k) out[k] = h != nullptr ? h[k] : 0.0f;
  }
};

// f(k, count) for each vector of n units.
template <class F>
MOTE_INLINE void each_unit(int32_t n, const F& f) {
  for (int32_t k = 0; k < n; k += kLanes) f(k, n - k < kLanes ? n - k : kLanes);
}

struct LstmCell {
  const Layer& l;
  float *h, *state, *gates;
  void start(int32_t d, int32_t b) {
    l.load_state(kFirstState, d, b, h);
    l.load_state(kFirstState + 1, d, b, state);
  }
  void finish(int32_t d, int32_t b) {
    l.store_state(1, d, b, h);
    l.store_state(2, d, b, state);
  }
  // Order of the gates: input, output, forget, cell.
  void step(int32_t d, const float* x) {
    const int32_t n = l.hidden;
    l.multiply(kWeights, d, 0, 4 * n, x, gates, false);
    l.multiply(kRecurrent, d, 0, 4 * n, h, gates, true);
    each_unit(n, [&](int32_t k, int32_t count) {
      const auto of = [&](int gate) { return load_partial(gates + gate * n + k, count); };
      const VF now = hn::Add(hn::Mul(sigmoid(of(2)), load_partial(state + k, count)), hn::Mul(sigmoid(of(0)), tanh(of(3))));
      store_partial(now, count, state + k);
      store_partial(hn::Mul(sigmoid(of(1)), tanh(now)), count, h + k);
    });
  }
};

struct GruCell {
  const Layer& l;
  bool reset_after;  // the reset gate is applied to the recurrent product (linear_before_reset), not to the state
  float *h, *gates;  // update, reset, candidate
  void start(int32_t d, int32_t b) { l.load_state(kFirstState, d, b, h); }
  void finish(int32_t d, int32_t b) { l.store_state(1, d, b, h); }
  void step(int32_t d, const float* x) {
    const int32_t n = l.hidden;
    float *update = gates, *reset = gates + n, *candidate = gates + 2 * n;
    l.multiply(kWeights, d, 0, 2 * n, x, gates, false);
    l.multiply(kRecurrent, d, 0, 2 * n, h, gates, true);
    each_unit(2 * n, [&](int32_t k, int32_t count) { store_partial(sigmoid(load_partial(gates + k, count)), count, gates + k); });
    if (reset_after) {
      l.multiply(kRecurrent, d, 2 * n, n, h, candidate, false);
      each_unit(n, [&](int32_t k, int32_t count) {
        store_partial(hn::Mul(load_partial(reset + k, count), load_partial(candidate + k, count)), count, candidate + k);
      });
    } else {
      each_unit(n, [&](int32_t k, int32_t count) {
        store_partial(hn::Mul(load_partial(reset + k, count), load_partial(h + k, count)), count, reset + k);
      });
      l.multiply(kRecurrent, d, 2 * n, n, reset, candidate, false);
    }
    l.multiply(kWeights, d, 2 * n, n, x, candidate, true);
    each_unit(n, [&](int32_t k, int32_t count) {
      const VF z = load_partial(update + k, count), value = tanh(load_partial(candidate + k, count)), one = broadcast(1.0f);
      store_partial(hn::Add(hn::Mul(hn::Sub(one, z), value), hn::Mul(z, load_partial(h + k, count))), count, h + k);
    });
  }
};

Status lstm_f32(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::lstm::Attrs>();
  const Layer layer(c, 4, a.layout, a.direction);
  float* h = reinterpret_cast<float*>(c.scratch.data);
  LstmCell cell{layer, h, h + layer.hidden, h + 2 * layer.hidden};
  return layer.compute(cell);
}

Status gru_f32(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::gru::Attrs>();
  const Layer layer(c, 3, a.layout, a.direction);
  float* h = reinterpret_cast<float*>(c.scratch.data);
  GruCell cell{layer, a.linear_before_reset != 0, h, h + layer.hidden};
  return layer.compute(cell);
}

// True when the activations (`per` of them for each direction) are the defaults: sigmoid, then tanh.
template <class A>
bool has_default_activations(const A& a, int per) {
  for (int i = 0; i < per * (a.direction == 2 ? 2 : 1); ++i)
    if (a.activations[i] != static_cast<int32_t>(i % per == 0 ? Activation::kSigmoid : Activation::kTanh)) return false;
  return a.clip == 0;
}

}  // namespace

KernelFn select_lstm(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::lstm::Attrs>();
  const bool no_extensions = a.input_forget == 0 && a.cell_clip == 0 && !c.has_input(7) && !c.has_input(8);
  return c.input(0).dtype() == DType::f32 && no_extensions && has_default_activations(a, 3) ? &lstm_f32 : nullptr;
}
KernelFn select_gru(const OpContext& c) noexcept {
  return c.input(0).dtype() == DType::f32 && has_default_activations(c.attrs<ops::gru::Attrs>(), 2) ? &gru_f32 : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::recurrent
