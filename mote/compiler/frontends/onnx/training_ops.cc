// One step of an optimiser (ai.onnx.preview.training), written out.

#include "mote/compiler/frontends/onnx/op_support.h"

namespace mote::frontends::onnx {
namespace {

// Inputs: learning rate, number of updates so far, then n tensors of each kind: x, gradient, one or two sums of the past.
// Outputs: n new tensors of each kind but the gradient.
class Step {
 public:
  Step(NodeContext& context, int kinds) : c(context), d(context), kinds_(kinds), n_((context.inputs_given() - 2) / kinds) {
    if (n_ * kinds + 2 == context.inputs_given()) return;
    context.fail("expected " + std::to_string(kinds) + " tensors for each one that is optimised, after learning rate and count");
  }
  int tensors() const { return c.b.ok() ? n_ : 0; }
  Value* rate() const { return c.in(0); }
  // The number of updates as a float.
  Value* count() { return d.cast(c.in(1), DType::f32); }
  Value* get(int kind, int i) const { return c.in(2 + kind * n_ + i); }
  void put(int kind, int i, Value* v) { c.out(kind * n_ + i, v); }
  // With the gradient of the regularisation.
  Value* gradient(int i) { return d.add(d.mul(get(0, i), c.attr_float("norm_coefficient", 0)), get(1, i)); }
  bool complete() {
    for (int i = 0; i < kinds_ * n_ + 2; ++i)
      if (c.in(i) == nullptr) c.fail("input " + std::to_string(i) + " is missing");
    return c.b.ok();
  }

  NodeContext& c;
  Decompose d;

 private:
  int kinds_, n_;
};

void import_adagrad(NodeContext& c) {
  Step s(c, 3);
  Decompose& d = s.d;
  if (!s.complete()) return;
  Value* rate = d.div(s.rate(), d.add(d.mul(s.count(), c.attr_float("decay_factor", 0)), 1));
  for (int i = 0; i < s.tensors(); ++i) {
    Value *g = s.gradient(i), *sum = d.add(s.get(2, i), d.mul(g, g));
    Value* scale = d.add(d.sqrt(sum), c.attr_float("epsilon", 1e-6f));
    s.put(0, i, d.sub(s.get(0, i), d.div(d.mul(rate, g), scale)));
    s.put(1, i, sum);
  }
}

void import_adam(NodeContext& c) {
  const double alpha = c.attr_float("alpha", 0.9f), beta = c.attr_float("beta", 0.999f);
  Step s(c, 4);
  Decompose& d = s.d;
  if (!s.complete()) return;
  Value *t = s.count(), *one = d.number(1, DType::f32);
  const auto power = [&](double base) { return d.op(OpId::pow, {d.number(base, DType::f32), t}); };
  Value* corrected = d.div(d.mul(s.rate(), d.sqrt(d.sub(one, power(beta)))), d.sub(one, power(alpha)));
  Value* rate = d.op(OpId::where, {d.op(OpId::greater, {t, d.number(0, DType::f32)}), corrected, s.rate()});
  for (int i = 0; i < s.tensors(); ++i) {
    Value* g = s.gradient(i);
    Value* first = d.add(d.mul(s.get(2, i), alpha), d.mul(g, 1 - alpha));
    Value* second = d.add(d.mul(s.get(3, i), beta), d.mul(d.mul(g, g), 1 - beta));
    Value* scale = d.add(d.sqrt(second), c.attr_float("epsilon", 1e-6f));
    Value* x = d.sub(s.get(0, i), d.mul(rate, d.div(first, scale)));
    s.put(0, i, d.mul(x, 1 - c.attr_float("norm_coefficient_post", 0)));
    s.put(1, i, first);
    s.put(2, i, second);
  }
}

void import_momentum(NodeContext& c) {
  const float alpha = c.attr_float("alpha", 0), beta = c.attr_float("beta", 0);
  const std::string mode = c.attr_string("mode", "standard");
  if (mode != "standard" && mode != "nesterov") return c.fail("attribute mode: expected standard or nesterov, found '" + mode + "'");
  Step s(c, 3);
  Decompose& d = s.d;
  if (!s.complete()) return;
  Value* later = d.op(OpId::greater, {s.count(), d.number(0, DType::f32)});
  Value* weight = d.op(OpId::where, {later, d.number(beta, DType::f32), d.number(1, DType::f32)});
  for (int i = 0; i < s.tensors(); ++i) {
    Value *g = s.gradient(i), *v = d.add(d.mul(s.get(2, i), alpha), d.mul(weight, g));
    Value* way = mode == "standard" ? v : d.add(g, d.mul(v, alpha));
    s.put(0, i, d.sub(s.get(0, i), d.mul(s.rate(), way)));
    s.put(1, i, v);
  }
}

}  // namespace

void add_training_ops(OpTable& table);
void add_training_ops(OpTable& table) {
  add_lines(table, {{"Adagrad", import_adagrad, 1, 5}, {"Adam", import_adam, 1, 6}, {"Momentum", import_momentum, 1, 5}},
            "ai.onnx.preview.training");
}

}  // namespace mote::frontends::onnx
