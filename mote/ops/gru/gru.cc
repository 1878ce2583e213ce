#include "mote/ops/gru/gru.h"

namespace mote::ops::gru {
namespace {

template <class T>
struct Cell {
  using C = Compute<T>;
  const OpContext& c;
  const Attrs& a;
  const RecurrentShape& s;
  GateMap<T> map;
  C* h;
  C* update;
  C* reset;
  C* fresh;

  void start(int32_t d, int32_t b) noexcept { load_state<T>(c, 5, a.layout, d, b, h, s.out); }
  void finish(int32_t d, int32_t b) noexcept { store_state<T>(c, 1, a.layout, d, b, h, s.out); }
  void step(int32_t d, const T* x) noexcept {
    const int32_t n = s.hidden;
    const bool late = a.linear_before_reset != 0;
    for (int32_t j = 0; j < n; ++j) {
      update[j] = gate(a, 2 * d, map.of_input(d, j, x) + map.of_state(d, j, h));
      reset[j] = gate(a, 2 * d, map.of_input(d, n + j, x) + map.of_state(d, n + j, h));
      if (!late) reset[j] *= h[j];
    }
    for (int32_t j = 0; j < n; ++j) {
      const C recurrent = late ? reset[j] * map.of_state(d, 2 * n + j, h) : map.of_state(d, 2 * n + j, reset);
      fresh[j] = gate(a, 2 * d + 1, map.of_input(d, 2 * n + j, x) + recurrent);
    }
    for (int32_t j = 0; j < n; ++j) h[j] = (1 - update[j]) * fresh[j] + update[j] * h[j];
  }
};

template <class T>
struct Gru {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const RecurrentShape s = recurrent_shape(c, a.layout, 3);
    Compute<T>* h = reinterpret_cast<Compute<T>*>(c.scratch.data);
    Cell<T> cell{c, a, s, GateMap<T>(c, s), h, h + s.hidden, h + 2 * s.hidden, h + 3 * s.hidden};
    return run_recurrent<T>(c, s, a.layout, a.direction, cell);
  }
};

}  // namespace

Scratch scratch(const OpContext& c) noexcept {
  return scratch_numbers(static_cast<uint64_t>(c.input(1).dim(1)) / 3 * 4, c.input(0).dtype());
}
KernelFn select(const OpContext& c) noexcept { return pick<OpId::gru, Gru>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::gru
