#include <algorithm>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/gru/gru.h"
#include "mote/ops/lstm/lstm.h"
#include "mote/ops/rnn/rnn.h"

namespace mote::frontends::torch {
namespace {

// What a recurrent layer is told, in torch's words.
struct Recurrent {
  Value* x = nullptr;           // (T, B, features)
  std::vector<Value*> states;   // hidden, and of an LSTM cell: (layers * directions, B, H)
  std::vector<Value*> weights;  // per layer and direction: w, r, biases, projection
  size_t layers = 1, directions = 1, per_cell = 2;
  bool biases = true;
};

// Gates in Mote's order, from torch's: pieces of the first axis.
Value* reorder(Op& o, Value* w, const std::vector<int>& order) {
  if (order.empty() || w == nullptr) return w;
  const int64_t piece = dim_of(w, 0) / static_cast<int64_t>(order.size());
  std::vector<Value*> parts;
  for (int i : order) parts.push_back(o.slice(w, 0, i * piece, (i + 1) * piece));
  return o.concat(parts, 0);
}

bool read_recurrent(Op& o, bool projected, Recurrent* r) {
  r->x = o.in("input");
  const Arg* hx = o.node.find("hx");
  r->states = hx != nullptr && hx->kind == Arg::Kind::kList ? o.tensors("hx") : std::vector<Value*>{o.in("hx")};
  r->weights = o.tensors("params");
  r->biases = o.flag("has_biases", true);
  const int64_t layers = o.integer("num_layers", 1);
  r->directions = o.flag("bidirectional", false) ? 2 : 1;
  r->per_cell = (r->biases ? 4u : 2u) + (projected ? 1u : 0u);
  if (!o.b.ok()) return false;
  if (layers < 1 || layers > 1024 || r->weights.size() != static_cast<size_t>(layers) * r->directions * r->per_cell) {
    o.refuse("expected " + std::to_string(r->per_cell) + " weights for each layer and direction, found " +
             std::to_string(r->weights.size()));
    return false;
  }
  r->layers = static_cast<size_t>(layers);
  if (o.flag("batch_first", false)) r->x = o.transpose(r->x, {1, 0, 2});
  return o.b.ok();
}

Value* both(Op& o, const std::vector<Value*>& parts) {
  std::vector<Value*> out;
  for (Value* v : parts) out.push_back(o.unsqueeze(v, {0}));
  return o.concat(out, 0);
}

// Layer after layer. `cell` adds one: its operator with weights for all directions gives sequence and last states.
template <class Cell>
void run_layers(Op& o, const Recurrent& r, const std::vector<int>& order, bool projected, Cell cell) {
  Value* x = r.x;
  std::vector<std::vector<Value*>> last(r.states.size());
  for (size_t layer = 0; layer < r.layers && o.b.ok(); ++layer) {
    std::vector<Value*> w, u, bias, projection, states;
    for (size_t d = 0; d < r.directions; ++d) {
      const size_t at = (layer * r.directions + d) * r.per_cell;
      w.push_back(reorder(o, r.weights[at], order));
      u.push_back(reorder(o, r.weights[at + 1], order));
      if (r.biases) bias.push_back(o.concat({reorder(o, r.weights[at + 2], order), reorder(o, r.weights[at + 3], order)}, 0));
      if (projected) projection.push_back(r.weights[at + r.per_cell - 1]);
    }
    const int64_t begin = static_cast<int64_t>(layer * r.directions), end = begin + static_cast<int64_t>(r.directions);
    for (Value* s : r.states) states.push_back(o.slice(s, 0, begin, end));
    std::vector<Value*> in{x, both(o, w), both(o, u), r.biases ? both(o, bias) : nullptr, nullptr};
    in.insert(in.end(), states.begin(), states.end());
    if (projected) in.insert(in.end(), {nullptr, both(o, projection)});
    const std::vector<Value*> y = o.b.ok() ? cell(in) : std::vector<Value*>{};
    if (y.size() != r.states.size() + 1) return;
    for (size_t i = 0; i < r.states.size(); ++i) last[i].push_back(y[i + 1]);
    // (T, D, B, H) to (T, B, D * H).
    Value* moved = o.transpose(y[0], {0, 2, 1, 3});
    std::vector<Size> sizes = o.sizes_of(moved);
    if (!o.b.ok()) return;
    x = o.reshape_to(moved, {sizes[0], sizes[1], Size{sizes[2].known * sizes[3].known, nullptr}});
  }
  if (o.flag("batch_first", false)) x = o.transpose(x, {1, 0, 2});
  o.out(0, x);
  for (size_t i = 0; i < last.size(); ++i) o.out(i + 1, o.concat(last[i], 0));
}

void import_lstm(Op& o) {
  Recurrent r;
  const std::vector<Value*> states = o.tensors("hx");
  const bool projected =
      states.size() == 2 && rank_of(states[0]) == 3 && rank_of(states[1]) == 3 && dim_of(states[0], 2) != dim_of(states[1], 2);
  if (!read_recurrent(o, projected, &r)) return;
  ops::lstm::Attrs a;
  a.direction = r.directions == 2 ? 2 : 0;
  run_layers(o, r, {0, 3, 1, 2}, projected, [&](const std::vector<Value*>& in) { return o.b.ops(OpId::lstm, a, in, 3); });
}

void import_gru(Op& o) {
  Recurrent r;
  if (!read_recurrent(o, false, &r)) return;
  ops::gru::Attrs a;
  a.direction = r.directions == 2 ? 2 : 0;
  a.linear_before_reset = 1;
  run_layers(o, r, {1, 0, 2}, false, [&](const std::vector<Value*>& in) { return o.b.ops(OpId::gru, a, in, 2); });
}

template <int activation>
void import_rnn(Op& o) {
  Recurrent r;
  if (!read_recurrent(o, false, &r)) return;
  ops::rnn::Attrs a;
  a.direction = r.directions == 2 ? 2 : 0;
  a.activations[0] = a.activations[1] = activation;
  run_layers(o, r, {}, false, [&](const std::vector<Value*>& in) { return o.b.ops(OpId::rnn, a, in, 2); });
}

}  // namespace

void add_recurrent_ops(OpTable& t);
void add_recurrent_ops(OpTable& t) {
  add_lines(t, {
                   {"aten.lstm", "input", &import_lstm, kFloat},
                   {"aten.gru", "input", &import_gru, kFloat},
                   {"aten.rnn_tanh", "input", &import_rnn<6>, kFloat},
                   {"aten.rnn_relu", "input", &import_rnn<2>, kFloat},
               });
}

}  // namespace mote::frontends::torch
