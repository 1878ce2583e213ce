#include "mote/ops/lstm/lstm.h"

namespace mote::ops::lstm {
namespace {

template <class T>
struct Cell {
  using C = Compute<T>;
  const OpContext& c;
  const Attrs& a;
  const RecurrentShape& s;
  GateMap<T> map;
  C* h;
  C* state;
  C* gates;

  void start(int32_t d, int32_t b) noexcept {
    load_state<T>(c, 5, a.layout, d, b, h, s.out);
    load_state<T>(c, 6, a.layout, d, b, state, s.hidden);
  }
  void finish(int32_t d, int32_t b) noexcept {
    store_state<T>(c, 1, a.layout, d, b, h, s.out);
    store_state<T>(c, 2, a.layout, d, b, state, s.hidden);
  }
  // Weight of the cell state in gate `which` (0 input, 1 output, 2 forget).
  C peephole(int32_t d, int32_t which, int32_t j) const noexcept {
    return c.has_input(7) ? C(c.input(7).template at<const T>(d * c.input(7).stride(0))[which * s.hidden + j]) : C(0);
  }

  void step(int32_t d, const T* x) noexcept {
    const int32_t n = s.hidden;
    const C limit = a.cell_clip;
    for (int32_t i = 0; i < 4 * n; ++i) gates[i] = map.of_input(d, i, x) + map.of_state(d, i, h);
    for (int32_t j = 0; j < n; ++j) {
      const C before = state[j];
      const C in = gate(a, 3 * d, gates[j] + peephole(d, 0, j) * before);
      const C forget = a.input_forget != 0 ? 1 - in : gate(a, 3 * d, gates[2 * n + j] + peephole(d, 2, j) * before);
      C now = forget * before + in * gate(a, 3 * d + 1, gates[3 * n + j]);
      if (limit > 0) now = now < -limit ? -limit : now > limit ? limit : now;
      const C out = gate(a, 3 * d, gates[n + j] + peephole(d, 1, j) * now);
      state[j] = now;
      const int last = 3 * d + 2;
      const C shown = a.clip_gates_only != 0 ? gate_activation(a.activations[last], a.alpha[last], a.beta[last], now) : gate(a, last, now);
      gates[j] = out * shown;  // the input gate of unit j is used up: its place takes the unit's output
    }
    for (int32_t o = 0; o < s.out; ++o) h[o] = c.has_input(8) ? project(d, o) : gates[o];
  }
  C project(int32_t d, int32_t o) const noexcept {
    const Tensor& p = c.input(8);
    const T* row = p.at<const T>(d * p.stride(0) + o * p.stride(1));
    C sum = 0;
    for (int32_t j = 0; j < s.hidden; ++j) sum += static_cast<C>(row[j]) * gates[j];
    return sum;
  }
};

template <class T>
struct Lstm {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const RecurrentShape s = recurrent_shape(c, a.layout, 4);
    Compute<T>* h = reinterpret_cast<Compute<T>*>(c.scratch.data);
    Cell<T> cell{c, a, s, GateMap<T>(c, s), h, h + s.out, h + s.out + s.hidden};
    return run_recurrent<T>(c, s, a.layout, a.direction, cell);
  }
};

}  // namespace

Scratch scratch(const OpContext& c) noexcept {
  const uint64_t hidden = static_cast<uint64_t>(c.input(1).dim(1)) / 4;
  return scratch_numbers(static_cast<uint64_t>(c.input(2).dim(2)) + 5 * hidden, c.input(0).dtype());
}
KernelFn select(const OpContext& c) noexcept { return pick<OpId::lstm, Lstm>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::lstm
