#pragma once

// What lstm, gru and rnn share: the activations of gates, the checks of operands, and the loop over directions, batch and time.
// Operands, with D directions and G gates of H units: x (T, B, I), w (D, G*H, I), r (D, G*H, O), b (D, 2*G*H) with the biases of w
// before those of r, lengths (B), h0 (D, B, O) -> y (T, D, B, O), y_h (D, B, O). O is H unless lstm projects its output.
// Layout 1 has the batch first: x (B, T, I), h0 and y_h (B, D, O), y (B, T, D, O).

#include "mote/ops/common/activation.h"
#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops {

// Activations of gates: those of Activation, and these. Values are part of the program format.
enum GateActivation : int32_t {
  kGateAffine = 32,       // a * x + b
  kGateThresholded = 33,  // x where x >= a, else 0
  kGateScaledTanh = 34,   // a * tanh(b * x)
  kGateSoftsign = 35,     // x / (1 + |x|)
};
constexpr const char* kGateActivationDoc =
    "as in conv (2 relu, 4 leaky relu, 5 sigmoid, 6 tanh, 11 hard sigmoid, 12 elu, 13 softplus) and 32 affine, 33 thresholded relu, "
    "34 scaled tanh, 35 softsign; those of the second direction follow those of the first";

inline bool is_gate_activation(int32_t kind) noexcept {
  return (kind >= 0 && kind < static_cast<int32_t>(kActivationCount)) || (kind >= kGateAffine && kind <= kGateSoftsign);
}

template <class C>
C gate_activation(int32_t kind, float alpha, float beta, C x) noexcept {
  const C a = alpha, b = beta;
  switch (kind) {
    case kGateAffine: return a * x + b;
    case kGateThresholded: return x < a ? C(0) : x;
    case kGateScaledTanh: return a * std::tanh(b * x);
    case kGateSoftsign: return x / (1 + std::fabs(x));
    default: return apply_activation(static_cast<uint32_t>(kind), alpha, beta, x);
  }
}

// Gate activation number `i` of an operator's attributes, with the clipping in front of it.
template <class A, class C>
C gate(const A& a, int i, C x) noexcept {
  const C clip = a.clip;
  if (clip > 0) x = x < -clip ? -clip : x > clip ? clip : x;
  return gate_activation(a.activations[i], a.alpha[i], a.beta[i], x);
}

struct RecurrentShape {
  int32_t steps, batch, input, hidden, out, directions;
};

// Shape of verified operands.
inline RecurrentShape recurrent_shape(const OpContext& c, int32_t layout, int gates) noexcept {
  const Tensor &x = c.input(0), &w = c.input(1), &r = c.input(2);
  return {x.dim(layout != 0 ? 1 : 0), x.dim(layout != 0 ? 0 : 1), x.dim(2), w.dim(1) / gates, r.dim(2), w.dim(0)};
}

// Checks the attributes that the three operators share, and inputs 0 to 5. `out` is the size of the recurrent state, negative for H.
template <class A>
Status infer_recurrent(const A& a, const InferContext& c, int gates, int activations, int64_t out, RecurrentShape* s) noexcept {
  for (int i = 0; i < 3; ++i) {
    MOTE_TRY(c.require(i, kFloat));
    MOTE_TRY(require_rank(c, i, 3));
    MOTE_TRY(require_type(c, i, c.in(0).dtype));
  }
  MOTE_TRY(require_range(c, a.direction, 0, 2));
  MOTE_TRY(require_range(c, a.layout, 0, 1));
  if (!(a.clip >= 0)) return c.reject(Why::kAttribute, 0, -1);
  const DType dtype = c.in(0).dtype;
  const int64_t directions = a.direction == 2 ? 2 : 1;
  for (int i = 0; i < directions * activations; ++i)
    if (!is_gate_activation(a.activations[i])) return c.reject(Why::kAttribute, kActivationCount - 1, a.activations[i]);
  const int64_t rows = c.in(1).dims[1], hidden = rows / gates;
  if (rows % gates != 0 || (a.hidden != 0 && hidden != a.hidden)) return c.reject(Why::kDimMismatch, int64_t{gates} * a.hidden, rows);
  if (out < 0) out = hidden;
  *s = recurrent_shape(c.op(), a.layout, gates);
  MOTE_TRY(require_dims(c, 1, {directions, rows, s->input}));
  MOTE_TRY(require_dims(c, 2, {directions, rows, out}));
  if (c.has(3)) MOTE_TRY(require_operand(c, 3, dtype, {directions, 2 * rows}));
  if (c.has(4)) {
    MOTE_TRY(c.require(4, kIndex));
    MOTE_TRY(require_dims(c, 4, {s->batch}));
  }
  return Status::kOk;
}

// Checks input i as a state (D, B, size).
template <class A>
Status require_state(const A& a, const InferContext& c, int i, const RecurrentShape& s, int64_t size) noexcept {
  if (!c.has(i)) return Status::kOk;
  return require_operand(c, i, c.in(0).dtype, {a.layout != 0 ? s.batch : s.directions, a.layout != 0 ? s.directions : s.batch, size});
}

// Sets output o to a state (D, B, size) where the operator has that output.
template <class A>
Status set_state(const A& a, const InferContext& c, int o, const RecurrentShape& s, int32_t size) noexcept {
  if (o >= c.outputs()) return Status::kOk;
  const int32_t dims[] = {a.layout != 0 ? s.batch : s.directions, a.layout != 0 ? s.directions : s.batch, size};
  MOTE_TRY(require_elements(c, c.in(0).dtype, {dims[0], dims[1], dims[2]}));
  return c.set(o, c.in(0).dtype, 3, dims);
}

// Sets output 0, y.
template <class A>
Status set_sequence(const A& a, const InferContext& c, const RecurrentShape& s) noexcept {
  MOTE_TRY(require_elements(c, c.in(0).dtype, {s.steps, s.batch, s.directions, s.out}));
  const int32_t time_first[] = {s.steps, s.directions, s.batch, s.out}, batch_first[] = {s.batch, s.steps, s.directions, s.out};
  return c.set(0, c.in(0).dtype, 4, a.layout != 0 ? batch_first : time_first);
}

// Byte offset of a state's row (d, b).
inline int32_t state_offset(const Tensor& t, int32_t layout, int32_t d, int32_t b) noexcept {
  return layout != 0 ? b * t.stride(0) + d * t.stride(1) : d * t.stride(0) + b * t.stride(1);
}

// Fills a state from optional input i, else with zeros.
template <class T, class C>
void load_state(const OpContext& c, int i, int32_t layout, int32_t d, int32_t b, C* state, int32_t n) noexcept {
  const T* from = c.has_input(i) ? c.input(i).at<const T>(state_offset(c.input(i), layout, d, b)) : nullptr;
  for (int32_t k = 0; k < n; ++k) state[k] = from != nullptr ? static_cast<C>(from[k]) : C(0);
}

// Writes a state to optional output o.
template <class T, class C>
void store_state(const OpContext& c, int o, int32_t layout, int32_t d, int32_t b, const C* state, int32_t n) noexcept {
  if (!c.has_output(o)) return;
  T* to = c.output(o).at<T>(state_offset(c.output(o), layout, d, b));
  for (int32_t k = 0; k < n; ++k) to[k] = static_cast<T>(state[k]);
}

// The affine map in front of the gates: rows of w and r with their biases.
template <class T>
class GateMap {
 public:
  using C = Compute<T>;
  GateMap(const OpContext& c, const RecurrentShape& s) : c_(c), w_(c.input(1)), r_(c.input(2)), s_(s), rows_(w_.dim(1)) {}
  C of_input(int32_t d, int32_t row, const T* x) const noexcept { return dot(w_, d, row, x, s_.input) + bias(d, row); }
  C of_state(int32_t d, int32_t row, const C* h) const noexcept { return dot(r_, d, row, h, s_.out) + bias(d, rows_ + row); }
  C bias(int32_t d, int32_t i) const noexcept {
    return c_.has_input(3) ? C(c_.input(3).template at<const T>(d * c_.input(3).stride(0))[i]) : C(0);
  }

 private:
  template <class V>
  static C dot(const Tensor& m, int32_t d, int32_t row, const V* v, int32_t n) noexcept {
    const T* w = m.at<const T>(d * m.stride(0) + row * m.stride(1));
    C sum = 0;
    for (int32_t i = 0; i < n; ++i) sum += static_cast<C>(w[i]) * static_cast<C>(v[i]);
    return sum;
  }
  const OpContext& c_;
  const Tensor &w_, &r_;
  const RecurrentShape& s_;
  int32_t rows_;
};

// Runs a cell over every direction, batch element and step. Cell: start(d, b), step(d, x), finish(d, b), and h, the state of s.out numbers.
// A sequence shorter than T gives zeros after its end; the reverse direction starts at its end.
template <class T, class Cell>
Status run_recurrent(const OpContext& c, const RecurrentShape& s, int32_t layout, int32_t direction, Cell& cell) noexcept {
  const Tensor& x = c.input(0);
  for (int32_t d = 0; d < s.directions; ++d) {
    const bool reverse = direction == 1 || d == 1;
    for (int32_t b = 0; b < s.batch; ++b) {
      const int64_t length = c.has_input(4) ? index_at(c.input(4), b) : s.steps;
      if (length < 0 || length > s.steps) return {Status::kInvalidArgument, Why::kIndexRange};
      cell.start(d, b);
      for (int32_t i = 0; i < s.steps; ++i) {
        const bool valid = i < length;
        const int32_t t = valid && reverse ? static_cast<int32_t>(length) - 1 - i : i;
        if (valid) cell.step(d, x.at<const T>(layout != 0 ? b * x.stride(0) + t * x.stride(1) : t * x.stride(0) + b * x.stride(1)));
        if (!c.has_output(0)) continue;
        const Tensor& y = c.output(0);
        T* out = y.at<T>(layout != 0 ? b * y.stride(0) + t * y.stride(1) + d * y.stride(2)
                                     : t * y.stride(0) + d * y.stride(1) + b * y.stride(2));
        for (int32_t k = 0; k < s.out; ++k) out[k] = valid ? static_cast<T>(cell.h[k]) : T(0.0f);
      }
      cell.finish(d, b);
    }
  }
  return Status::kOk;
}

}  // namespace mote::ops
