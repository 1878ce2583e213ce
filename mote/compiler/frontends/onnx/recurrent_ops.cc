#include <algorithm>
#include <cctype>

#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/common/recurrent.h"
#include "mote/ops/gru/gru.h"
#include "mote/ops/lstm/lstm.h"
#include "mote/ops/rnn/rnn.h"

namespace mote::frontends::onnx {
namespace {

struct GateKind {
  const char* name;
  int32_t kind;
  bool takes_alpha, takes_beta;
  float alpha, beta;  // unless the model gives others
};

const GateKind kGateKinds[] = {
    {"relu", static_cast<int32_t>(ops::Activation::kRelu), false, false, 0, 0},
    {"tanh", static_cast<int32_t>(ops::Activation::kTanh), false, false, 0, 0},
    {"sigmoid", static_cast<int32_t>(ops::Activation::kSigmoid), false, false, 0, 0},
    {"softsign", ops::kGateSoftsign, false, false, 0, 0},
    {"softplus", static_cast<int32_t>(ops::Activation::kSoftplus), false, false, 0, 0},
    {"leakyrelu", static_cast<int32_t>(ops::Activation::kLeaky), true, false, 0.01f, 0},
    {"elu", static_cast<int32_t>(ops::Activation::kElu), true, false, 1, 0},
    {"thresholdedrelu", ops::kGateThresholded, true, false, 1, 0},
    {"affine", ops::kGateAffine, true, true, 1, 0},
    {"scaledtanh", ops::kGateScaledTanh, true, true, 1, 1},
    {"hardsigmoid", static_cast<int32_t>(ops::Activation::kHardSigmoid), true, true, 0.2f, 0.5f},
};

const GateKind* find_gate(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char ch) { return static_cast<char>(std::tolower(ch)); });
  for (const GateKind& k : kGateKinds)
    if (name == k.name) return &k;
  return nullptr;
}

// Activations of all directions; alpha and beta are used up in order by those that take one.
template <class A>
void read_activations(NodeContext& c, size_t count, A* a) {
  const auto* given = c.attr("activations");
  const std::vector<float> alpha = c.attr_floats("activation_alpha"), beta = c.attr_floats("activation_beta");
  if (given == nullptr || given->strings_size() == 0) return;
  if (static_cast<size_t>(given->strings_size()) != count)
    return c.fail("activations: expected " + std::to_string(count) + ", found " + std::to_string(given->strings_size()));
  size_t next_alpha = 0, next_beta = 0;
  for (size_t i = 0; i < count; ++i) {
    const GateKind* kind = find_gate(given->strings(static_cast<int>(i)));
    if (kind == nullptr) return c.fail("activations: '" + given->strings(static_cast<int>(i)) + "' is unknown");
    a->activations[i] = kind->kind;
    a->alpha[i] = kind->takes_alpha && next_alpha < alpha.size() ? alpha[next_alpha++] : kind->alpha;
    a->beta[i] = kind->takes_beta && next_beta < beta.size() ? beta[next_beta++] : kind->beta;
  }
}

// What the three have in common. gates: activations of one direction. False after fail().
template <class A>
bool read_recurrent(NodeContext& c, size_t gates, A* a) {
  const std::string direction = c.attr_string("direction", "forward");
  a->direction = direction == "forward" ? 0 : direction == "reverse" ? 1 : direction == "bidirectional" ? 2 : -1;
  if (a->direction < 0) c.fail("direction: expected forward, reverse or bidirectional, found " + direction);
  a->layout = c.attr_int("layout", 0) != 0 ? 1 : 0;
  a->hidden = to_s32(std::max<int64_t>(c.attr_int("hidden_size", 0), 0));
  a->clip = std::max(c.attr_float("clip", 0), 0.0f);
  read_activations(c, gates * (a->direction == 2 ? 2 : 1), a);
  return c.b.ok();
}

template <class A>
void add_recurrent(NodeContext& c, OpId id, const A& a, int inputs, size_t outputs) {
  std::vector<Value*> in;
  for (int i = 0; i < inputs; ++i) in.push_back(c.in(i));
  while (!in.empty() && in.back() == nullptr) in.pop_back();
  const std::vector<Value*> y = c.b.ops(id, a, in, outputs);
  for (size_t i = 0; i < y.size(); ++i) c.out(static_cast<int>(i), y[i]);
}

void import_lstm(NodeContext& c) {
  ops::lstm::Attrs a;
  a.input_forget = c.attr_int("input_forget", 0) != 0 ? 1 : 0;
  a.clip_gates_only = 1;
  if (read_recurrent(c, 3, &a)) add_recurrent(c, OpId::lstm, a, 8, 3);
}

void import_gru(NodeContext& c) {
  ops::gru::Attrs a;
  a.linear_before_reset = c.attr_int("linear_before_reset", 0) != 0 ? 1 : 0;
  if (read_recurrent(c, 2, &a)) add_recurrent(c, OpId::gru, a, 6, 2);
}

void import_rnn(NodeContext& c) {
  ops::rnn::Attrs a;
  if (read_recurrent(c, 1, &a)) add_recurrent(c, OpId::rnn, a, 6, 2);
}

}  // namespace

void add_recurrent_ops(OpTable& table);
void add_recurrent_ops(OpTable& table) {
  add_lines(table, {{"LSTM", import_lstm, 1, 3}, {"GRU", import_gru, 1, 3}, {"RNN", import_rnn, 1, 3}});
}

}  // namespace mote::frontends::onnx
