#pragma once

// SVDF and LSTM of 8-bit inputs, written once over the dot products of an instruction set (Products here, those of helium_recurrent.h).

#include "mote/kernels/cortexm/dot.h"
#include "mote/kernels/cortexm/requant.h"
#include "mote/kernels/cortexm/sigmoid.h"
#include "mote/ops/common/fixed_point.h"

namespace mote::cortexm {

inline int32_t saturate16(int32_t v) { return v < -32768 ? -32768 : v > 32767 ? 32767 : v; }

// Requantization of an accumulator, which is shifted left by `left` first.
struct Shifted {
  Scale scale;
  int32_t left;
};
inline int32_t scaled(int32_t sum, const Shifted& s) { return scaled(static_cast<int32_t>(static_cast<uint32_t>(sum) << s.left), s.scale); }

// The vector of matrix-vector products.
struct Products {
  using Weight = uint32_t;  // as dot_1x4 reads them, K padded to a whole word
  const int8_t* x;
  uint32_t groups, last;
  bool rest;

  Products(const int8_t* in, int32_t inputs) : x(in), groups(static_cast<uint32_t>(inputs) / 4), last(0), rest(inputs % 4 != 0) {
    for (int32_t i = 0; i < inputs % 4; ++i) last |= static_cast<uint32_t>(static_cast<uint8_t>(x[inputs / 4 * 4 + i])) << 8 * i;
  }
  // Adds to the accumulators of four rows; advances w.
  void four(const uint32_t*& w, int32_t* sums) const {
    if (groups > 0) dot_1x4(x, w, groups, sums);
    w += groups * 4;
    if (rest) dot_1x4(reinterpret_cast<const int8_t*>(&last), w, 1, sums), w += 4;
  }

  // Shifts a filter's memory by one element, appends `newest`, and returns its dot product with the weights.
  static int32_t shift_and_multiply(const int16_t* old, const int16_t* w, int32_t memory, int32_t newest, int16_t* to) {
    int32_t sum = newest * w[memory - 1], m = 0;
    for (; m + 2 < memory; m += 2) {
      const uint32_t v = load_word(old + m + 1);
      std::memcpy(to + m, &v, 4);
      sum = add_products(sum, v, load_word(w + m));
    }
    if (m + 1 < memory) to[m] = old[m + 1], sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(to[m] * w[m]));
    to[memory - 1] = static_cast<int16_t>(newest);
    return sum;
  }
  static void logistic(int16_t* x, int32_t count) {
    for (int32_t i = 0; i < count; ++i) x[i] = static_cast<int16_t>(logistic16(x[i]));
  }
  template <int kBits>
  static void tanh(const int16_t* x, int32_t count, int16_t* y) {
    for (int32_t i = 0; i < count; ++i) y[i] = static_cast<int16_t>(tanh16<kBits>(x[i]));
  }
};

struct Svdf {
  const uint32_t* features;  // weights of the features, by groups of four filters
  const int32_t* offsets;    // of their accumulators, by groups of four filters
  const int16_t* times;      // (filters, memory)
  const int32_t* biases;     // one for each unit
  int32_t batches, inputs, filters, memory, rank;
  Shifted feature;
  int32_t time_multiplier, time_shift, y_zero;
};

template <class P>
inline void svdf_with(const Svdf& s, const int16_t* old, const int8_t* x, int16_t* state, int8_t* y) {
  const Shifted scale = s.feature;
  for (int32_t b = 0; b < s.batches; ++b, x += s.inputs) {
    const P products(x, s.inputs);
    const auto* w = reinterpret_cast<const typename P::Weight*>(s.features);
    const int16_t* times = s.times;
    const int32_t* bias = s.biases;
    uint32_t sum = static_cast<uint32_t>(*bias);
    int32_t left = s.rank;
    for (int32_t f = 0; f < s.filters; f += 4) {
      int32_t sums[4] = {s.offsets[f], s.offsets[f + 1], s.offsets[f + 2], s.offsets[f + 3]};
      products.four(w, sums);
      for (int32_t i = 0; i < 4 && f + i < s.filters; ++i, old += s.memory, state += s.memory, times += s.memory) {
        const int32_t newest = saturate16(scaled(sums[i], scale));
        sum += static_cast<uint32_t>(P::shift_and_multiply(old, times, s.memory, newest, state));
        if (--left > 0) continue;
        *y++ = ops::saturate_to<int8_t>(int64_t{ops::scale_by(static_cast<int32_t>(sum), s.time_multiplier, s.time_shift)} + s.y_zero);
        left = s.rank;
        if (f + i + 1 < s.filters) sum = static_cast<uint32_t>(*++bias);
      }
    }
  }
}
inline void svdf(const Svdf& s, const int16_t* old, const int8_t* x, int16_t* state, int8_t* y) {
  svdf_with<Products>(s, old, x, state, y);
}

struct Lstm {
  const uint32_t* weights;  // by gate and groups of four cells: weights of the input, then of the hidden state
  const int32_t* biases;    // likewise, in fours
  const uint32_t* projection;
  const int32_t* projection_biases;
  int32_t batches, steps, inputs, outputs, cells;
  int32_t x_batch, x_step, y_batch, y_step;  // strides, elements
  int32_t first_gate;                        // 1: the input gate is one minus the forget gate
  Shifted input[4], recurrent[4], hidden, projected;
  int32_t hidden_zero, output_zero, projection_clip;  // 0: none
  int32_t cell_clip, cell_shift;
};

// Gates (input, forget, cell, output) of all cells, Q0.15.
template <class P>
inline void lstm_gates(const Lstm& l, const P& x, const P& h, int32_t cells, int16_t* gates) {
  const auto* w = reinterpret_cast<const typename P::Weight*>(l.weights);
  const int32_t* bias = l.biases;
  for (int32_t g = l.first_gate; g < 4; ++g) {
    const Shifted input = l.input[g], recurrent = l.recurrent[g];
    int16_t* gate = gates + g * cells;
    for (int32_t i = 0; i < cells; i += 4, bias += 8) {
      int32_t from_x[4] = {bias[0], bias[1], bias[2], bias[3]}, from_h[4] = {bias[4], bias[5], bias[6], bias[7]};
      x.four(w, from_x);
      h.four(w, from_h);
      for (int k = 0; k < 4; ++k)
        gate[i + k] = static_cast<int16_t>(saturate16(scaled(from_h[k], recurrent) + saturate16(scaled(from_x[k], input))));
    }
    if (g == 2) P::template tanh<3>(gate, cells, gate);
    else P::logistic(gate, cells);
  }
}

// Rounds half away from zero.
inline int32_t rounded(int32_t v, int32_t shift) { return (v + (v >> 31) + (1 << (shift - 1))) >> shift; }

// The new cell state, and the output gates applied to its tanh. Overwrites `gates`.
template <class P, int kCellBits>
inline void lstm_cells(const Lstm& l, int32_t cells, int16_t* gates, int16_t* cell, int8_t* out) {
  const int16_t *in = gates, *forget = gates + cells, *next = gates + 2 * cells, *open = gates + 3 * cells;
  for (int32_t i = 0; i < l.cells; ++i) {
    const int32_t enter = l.first_gate != 0 ? 32767 - forget[i] : in[i];
    int32_t v = saturate16(rounded(forget[i] * cell[i], 15) + rounded(enter * next[i], l.cell_shift));
    if (l.cell_clip > 0) v = v < -l.cell_clip ? -l.cell_clip : v > l.cell_clip ? l.cell_clip : v;
    cell[i] = static_cast<int16_t>(v);
  }
  P::template tanh<kCellBits>(cell, l.cells, gates);
  const Shifted scale = l.hidden;
  for (int32_t i = 0; i < l.cells; ++i) {
    const int32_t v = scaled(open[i] * gates[i], scale) + l.hidden_zero;
    out[i] = static_cast<int8_t>(v < -128 ? -128 : v > 127 ? 127 : v);
  }
}

template <class P>
inline void lstm_projection(const Lstm& l, const int8_t* cells, int8_t* hidden) {
  const P products(cells, l.cells);
  const auto* w = reinterpret_cast<const typename P::Weight*>(l.projection);
  const Shifted scale = l.projected;
  for (int32_t o = 0; o < l.outputs; o += 4) {
    const int32_t* bias = l.projection_biases + o;
    int32_t sums[4] = {bias[0], bias[1], bias[2], bias[3]};
    products.four(w, sums);
    for (int32_t i = 0; i < 4 && o + i < l.outputs; ++i) {
      int32_t v = scaled(sums[i], scale) + l.output_zero;
      v = v < -128 ? -128 : v > 127 ? 127 : v;
      if (l.projection_clip > 0) v = v < -l.projection_clip ? -l.projection_clip : v > l.projection_clip ? l.projection_clip : v;
      hidden[o + i] = static_cast<int8_t>(v);
    }
  }
}

constexpr int32_t lstm_cells_up(int32_t cells) { return (cells + 3) / 4 * 4; }
// Working memory: the gates, and the values to project.
constexpr uint32_t lstm_scratch_bytes(int32_t cells, bool projection) {
  return static_cast<uint32_t>(lstm_cells_up(cells)) * (projection ? 9 : 8);
}

// y may be null. `hidden` and `cell` hold the states and may alias the initial states. The cell state has kCellBits integer bits.
template <class P, int kCellBits>
inline void lstm_with(const Lstm& l, const int8_t* x, const int8_t* hidden0, const int16_t* cell0, int8_t* y, int8_t* hidden, int16_t* cell,
                      int16_t* gates) {
  const int32_t cells = lstm_cells_up(l.cells);
  auto* unprojected = reinterpret_cast<int8_t*>(gates + 4 * cells);
  for (int32_t i = 0; hidden != hidden0 && i < l.batches * l.outputs; ++i) hidden[i] = hidden0[i];
  for (int32_t i = 0; cell != cell0 && i < l.batches * l.cells; ++i) cell[i] = cell0[i];
  for (int32_t b = 0; b < l.batches; ++b, hidden += l.outputs, cell += l.cells) {
    for (int32_t t = 0; t < l.steps; ++t) {
      lstm_gates(l, P(x + b * l.x_batch + t * l.x_step, l.inputs), P(hidden, l.outputs), cells, gates);
      lstm_cells<P, kCellBits>(l, cells, gates, cell, l.projection != nullptr ? unprojected : hidden);
      if (l.projection != nullptr) lstm_projection<P>(l, unprojected, hidden);
      for (int32_t i = 0; y != nullptr && i < l.outputs; ++i) y[b * l.y_batch + t * l.y_step + i] = hidden[i];
    }
  }
}
template <int kCellBits>
inline void lstm(const Lstm& l, const int8_t* x, const int8_t* hidden0, const int16_t* cell0, int8_t* y, int8_t* hidden, int16_t* cell,
                 int16_t* gates) {
  lstm_with<Products, kCellBits>(l, x, hidden0, cell0, y, hidden, cell, gates);
}

}  // namespace mote::cortexm
