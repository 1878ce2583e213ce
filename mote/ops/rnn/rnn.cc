#include "mote/ops/rnn/rnn.h"

namespace mote::ops::rnn {
namespace {

template <class T>
struct Cell {
  using C = Compute<T>;
  const OpContext& c;
  const Attrs& a;
  const RecurrentShape& s;
  GateMap<T> map;
  C* h;
  C* next;

  void start(int32_t d, int32_t b) noexcept { load_state<T>(c, 5, a.layout, d, b, h, s.out); }
  void finish(int32_t d, int32_t b) noexcept { store_state<T>(c, 1, a.layout, d, b, h, s.out); }
  void step(int32_t d, const T* x) noexcept {
    for (int32_t j = 0; j < s.hidden; ++j) next[j] = gate(a, d, map.of_input(d, j, x) + map.of_state(d, j, h));
    for (int32_t j = 0; j < s.hidden; ++j) h[j] = next[j];
  }
};

template <class T>
struct Rnn {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const RecurrentShape s = recurrent_shape(c, a.layout, 1);
    Compute<T>* h = reinterpret_cast<Compute<T>*>(c.scratch.data);
    Cell<T> cell{c, a, s, GateMap<T>(c, s), h, h + s.hidden};
    return run_recurrent<T>(c, s, a.layout, a.direction, cell);
  }
};

}  // namespace

Scratch scratch(const OpContext& c) noexcept {
  return scratch_numbers(uint64_t{2} * static_cast<uint32_t>(c.input(1).dim(1)), c.input(0).dtype());
}
KernelFn select(const OpContext& c) noexcept { return pick<OpId::rnn, Rnn>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::rnn
