// Support vector machines of ai.onnx.ml: regression and classification.

#include <algorithm>

#include "mote/compiler/frontends/onnx/forest.h"
#include "mote/compiler/frontends/onnx/loop.h"
#include "mote/ops/common/arg_reduce.h"

namespace mote::frontends::onnx {
namespace {

// How alike the rows of x (N, F) and the support vectors (S, F) are: (N, S).
Value* kernel(NodeContext& c, Value* x, Value* vectors) {
  Decompose d(c);
  const std::string kind = c.attr_string("kernel_type", "LINEAR");
  const auto given = c.attr_floats("kernel_params");
  const auto parameter = [&](size_t i) { return i < given.size() ? static_cast<double>(given[i]) : 0.0; };
  const double gamma = parameter(0), offset = parameter(1), degree = parameter(2);
  if (kind == "RBF") {
    Value* apart = d.op(OpId::squared_difference, {d.unsqueeze(x, {1}), d.unsqueeze(vectors, {0})});
    return d.op(OpId::exp, {d.mul(d.reduce(OpId::reduce_sum, apart, {2}, false), -gamma)});
  }
  Value* product = d.matmul(x, vectors, false, true);
  if (kind == "LINEAR") return product;
  Value* moved = d.add(d.mul(product, gamma), offset);
  if (kind == "POLY") return d.pow(moved, degree);
  if (kind == "SIGMOID") return d.op(OpId::tanh, {moved});
  c.fail("attribute kernel_type: expected LINEAR, POLY, RBF or SIGMOID, found '" + kind + "'");
  return nullptr;
}

void import_svm_regressor(NodeContext& c) {
  Decompose d(c);
  Value* x = d.cast(c.in(0), DType::f32);
  const auto coefficients = c.attr_floats("coefficients"), vectors = c.attr_floats("support_vectors"), rho = c.attr_floats("rho");
  const int64_t supports = c.attr_int("n_supports", 0), count = static_cast<int64_t>(coefficients.size());
  if (rank_of(x) != 2 || !is_fixed(x, 1) || rho.empty()) return c.fail("expected a matrix (N, features) and rho");
  const int32_t features = dims_of(x)[1], rows = static_cast<int32_t>(count);
  const bool fits = supports > 0 ? count == supports && static_cast<int64_t>(vectors.size()) == supports * features : count == features;
  if (!fits) return c.fail("the numbers of coefficients and support vectors do not fit " + std::to_string(features) + " features");
  // Without support vectors the coefficients are a line's.
  Value* alike = supports > 0 ? kernel(c, x, c.b.graph().constant<float>({rows, features}, vectors)) : x;
  Value* y = d.add(d.matmul(alike, c.b.graph().constant<float>({rows, 1}, coefficients)), static_cast<double>(rho[0]));
  if (c.attr_int("one_class", 0) != 0)
    y = d.op(OpId::where, {d.op(OpId::greater, {y, d.number(0, DType::f32)}), d.number(1, DType::f32), d.number(-1, DType::f32)});
  c.out(0, post_transform(c, y, c.attr_string("post_transform", "NONE")));
}

constexpr int64_t kMaxClasses = 64;

// One classifier for each pair of classes.
struct Machine {
  ClassLabels labels;
  int64_t classes = 0, pairs = 0, vectors = 0;
  int32_t features = 0;
  std::vector<int64_t> first, count;  // support vectors of each class
  std::vector<float> coefficients, rho, prob_a, prob_b;
};

bool read_machine(NodeContext& c, const Value* x, Machine* m) {
  m->labels = class_labels(c, "classlabels_ints");
  m->classes = static_cast<int64_t>(m->labels.count());
  m->pairs = m->classes * (m->classes - 1) / 2;
  m->coefficients = c.attr_floats("coefficients");
  m->rho = c.attr_floats("rho");
  m->prob_a = c.attr_floats("prob_a");
  m->prob_b = c.attr_floats("prob_b");
  m->count = c.attr_ints("vectors_per_class");
  if (rank_of(x) != 2 || !is_fixed(x, 1) || dims_of(x)[1] == 0) return c.fail("expected a matrix (N, features)"), false;
  m->features = dims_of(x)[1];
  if (m->classes < 1 || m->classes > kMaxClasses)
    return c.fail("has " + std::to_string(m->classes) + " classes, expected 1 to " + std::to_string(kMaxClasses)), false;
  for (const int64_t n : m->count) {
    if (n < 0 || n > INT32_MAX) return c.fail("attribute vectors_per_class is out of range"), false;
    m->first.push_back(m->vectors);
    m->vectors += n;
  }
  const auto has = [](const std::vector<float>& list, int64_t n) { return static_cast<int64_t>(list.size()) == n; };
  const bool fits = m->vectors == 0
                        ? has(m->coefficients, m->classes * m->features) && !m->rho.empty()
                        : static_cast<int64_t>(m->count.size()) == m->classes && has(m->coefficients, (m->classes - 1) * m->vectors) &&
                              has(m->rho, m->pairs) && (m->prob_a.empty() || has(m->prob_a, m->pairs));
  if (!fits || m->prob_a.size() != m->prob_b.size())
    return c.fail("the numbers of coefficients, rho, prob_a and support vectors do not fit " + std::to_string(m->classes) + " classes"),
           false;
  return true;
}

// Which of two classes each pair is for: above 0 the first. (N, pairs)
Value* pair_scores(NodeContext& c, const Machine& m, Value* x) {
  Decompose d(c);
  const auto vectors = c.attr_floats("support_vectors");
  if (static_cast<int64_t>(vectors.size()) != m.vectors * m.features) {
    c.fail("the support vectors do not fit " + std::to_string(m.features) + " features");
    return nullptr;
  }
  const int32_t rows = static_cast<int32_t>(m.vectors), columns = static_cast<int32_t>(m.pairs);
  std::vector<float> table(static_cast<size_t>(m.vectors * m.pairs));
  const auto copy = [&](int64_t of, int64_t row, int64_t pair) {
    for (int64_t v = m.first[static_cast<size_t>(of)], n = 0; n < m.count[static_cast<size_t>(of)]; ++n, ++v)
      table[static_cast<size_t>(v * m.pairs + pair)] = m.coefficients[static_cast<size_t>(row * m.vectors + v)];
  };
  for (int64_t i = 0, pair = 0; i < m.classes; ++i) {
    for (int64_t j = i + 1; j < m.classes; ++j, ++pair) {
      copy(i, j - 1, pair);
      copy(j, i, pair);
    }
  }
  Value* alike = kernel(c, x, c.b.graph().constant<float>({rows, m.features}, vectors));
  Value* sums = d.matmul(alike, c.b.graph().constant<float>({rows, columns}, table));
  return d.add(sums, c.b.graph().constant<float>({columns}, m.rho));
}

// The class that wins most pairs. (N)
Value* most_votes(NodeContext& c, const Machine& m, Value* scores) {
  Decompose d(c);
  const size_t k = static_cast<size_t>(m.classes);
  std::vector<float> swing(static_cast<size_t>(m.pairs) * k), base(k);
  for (size_t i = 0, pair = 0; i < k; ++i) {
    for (size_t j = i + 1; j < k; ++j, ++pair) {
      swing[pair * k + i] = 1;
      swing[pair * k + j] = -1;
      base[j] += 1;
    }
  }
  Value* wins = d.cast(d.op(OpId::greater, {scores, d.number(0, DType::f32)}), DType::f32);
  const int32_t pairs = static_cast<int32_t>(m.pairs), classes = static_cast<int32_t>(m.classes);
  Value* votes = d.add(d.matmul(wins, c.b.graph().constant<float>({pairs, classes}, swing)), c.b.graph().constant<float>({classes}, base));
  ops::ArgAttrs a;
  a.axis = 1;
  a.keep_dims = 0;
  return c.b.ok() ? c.b.op(OpId::arg_max, a, {votes}) : nullptr;
}

// How probable the first class of each pair is against the second, as a matrix with zeros on the diagonal. (N, classes, classes)
Value* pair_probabilities(NodeContext& c, const Machine& m, Value* scores) {
  Decompose d(c);
  const int32_t pairs = static_cast<int32_t>(m.pairs), classes = static_cast<int32_t>(m.classes);
  const size_t k = static_cast<size_t>(m.classes);
  // Places in a row of p, 1 - p and one 0: a matrix product would need pairs times classes times classes constants.
  const int32_t zero = 2 * pairs;
  std::vector<int32_t> places(k * k, zero);
  for (size_t i = 0, pair = 0; i < k; ++i) {
    for (size_t j = i + 1; j < k; ++j, ++pair) {
      places[i * k + j] = static_cast<int32_t>(pair);
      places[j * k + i] = pairs + static_cast<int32_t>(pair);
    }
  }
  Value* z = d.add(d.mul(scores, c.b.graph().constant<float>({pairs}, m.prob_a)), c.b.graph().constant<float>({pairs}, m.prob_b));
  Value* p = d.op(OpId::sigmoid, {d.op(OpId::neg, {z})});
  p = d.op(OpId::minimum, {d.op(OpId::maximum, {p, d.number(1e-7, DType::f32)}), d.number(1 - 1e-7, DType::f32)});
  Value* row = d.concat({p, d.sub(d.number(1, DType::f32), p), d.mul(d.slice(p, 1, 0, 1), 0.0)}, 1);
  Value* flat = d.gather(row, c.b.graph().constant<int32_t>({classes * classes}, places), 1);
  return d.reshape(flat, {-1, classes, classes});
}

// One round of the fixed point iteration by Wu, Lin and Weng ("Probability estimates for multi-class classification by pairwise
// coupling", algorithm 2): p that minimises p'Qp, its parts summing to 1. Rows that are exact enough stay as they are.
struct Coupling {
  Value *q, *diagonal;  // (N, k, k), (N, k)
  int32_t classes;

  Value* step(Decompose& d, Value* p, Value** go_on) const {
    Value* qp = d.squeeze(d.matmul(q, d.unsqueeze(p, {2})), {2});
    Value* pqp = d.reduce(OpId::reduce_sum, d.mul(p, qp), {1});
    Value* error = d.reduce(OpId::reduce_max, d.op(OpId::abs, {d.sub(qp, pqp)}), {1});
    Value* open = d.op(OpId::greater_equal, {error, d.number(0.005 / classes, DType::f32)});
    *go_on = d.reduce(OpId::reduce_any, open, {0, 1}, false);
    Value* moved = p;
    for (int32_t t = 0; t < classes; ++t) {
      Value *qpt = d.slice(qp, 1, t, t + 1), *qtt = d.slice(diagonal, 1, t, t + 1);
      Value *row = d.squeeze(d.slice(q, 1, t, t + 1), {1}), *gain = d.div(d.sub(pqp, qpt), qtt), *whole = d.add(gain, 1);
      pqp = d.div(d.div(d.add(pqp, d.mul(gain, d.add(d.mul(gain, qtt), d.mul(qpt, 2)))), whole), whole);
      qp = d.div(d.add(qp, d.mul(gain, row)), whole);
      std::vector<float> one(static_cast<size_t>(classes));
      one[static_cast<size_t>(t)] = 1;
      moved = d.div(d.add(moved, d.mul(gain, d.b.graph().constant<float>({classes}, one))), whole);
    }
    return d.op(OpId::where, {open, moved, p});
  }
};

// Probabilities of the classes from those of the pairs. (N, classes)
Value* couple(NodeContext& c, const Machine& m, Value* x, Value* pairs) {
  Decompose d(c);
  constexpr int64_t kMostRounds = 100;
  const int32_t k = static_cast<int32_t>(m.classes);
  Value* diagonal = d.reduce(OpId::reduce_sum, d.mul(pairs, pairs), {1}, false);
  std::vector<float> unit(static_cast<size_t>(k) * static_cast<size_t>(k));
  for (size_t i = 0; i < static_cast<size_t>(k); ++i) unit[i * static_cast<size_t>(k) + i] = 1;
  Value* on_diagonal = d.mul(d.unsqueeze(diagonal, {2}), c.b.graph().constant<float>({k, k}, unit));
  const Coupling coupling{d.sub(on_diagonal, d.mul(pairs, d.transpose(pairs, {0, 2, 1}))), diagonal, k};
  Value* start = d.fill(1.0 / k, DType::f32, d.concat({d.size_of(x, 0), d.ints({k})}, 0));
  if (!c.b.ok()) return nullptr;
  const auto write = [&](LoopBody& body) {
    Decompose inner(c, body.builder);
    body.next.push_back(coupling.step(inner, body.carried[0], &body.go_on));
    return body.builder.ok();
  };
  std::vector<Value*> out;
  const LoopOutcome outcome = build_loop(c, {c.b.graph().scalar<int64_t>(kMostRounds), nullptr, {start}, 0, kMostRounds}, write, &out);
  if (outcome == LoopOutcome::kShapesChange) c.fail("the number of rows changes while probabilities are computed");
  return out.empty() ? nullptr : out[0];
}

// Without support vectors: a line for each class.
void classify_linear(NodeContext& c, const Machine& m, Value* x) {
  Decompose d(c);
  Value* lines = c.b.graph().constant<float>({static_cast<int32_t>(m.classes), m.features}, m.coefficients);
  Value* scores = d.add(d.matmul(x, lines, false, true), static_cast<double>(m.rho[0]));
  c.out(1, post_transform(c, scores, c.attr_string("post_transform", "NONE")));
  if (m.classes != 2 || !m.prob_a.empty() || !c.wants(0)) return set_labels(c, scores, m.labels);
  const bool positive = std::all_of(m.coefficients.begin(), m.coefficients.end(), [](float w) { return w >= 0; });
  Value* most = d.reduce(OpId::reduce_max, scores, {1}, false);
  Value* yes = d.op(positive ? OpId::greater_equal : OpId::greater, {most, d.number(positive ? 0.5 : 0, DType::f32)});
  Value* larger = d.op(OpId::greater, {d.squeeze(d.slice(scores, 1, 1, 2), {1}), d.squeeze(d.slice(scores, 1, 0, 1), {1})});
  c.out(0, labels_of(c, m.labels, d.cast(d.op(OpId::logical_or, {yes, larger}), DType::s64)));
}

void import_svm_classifier(NodeContext& c) {
  Decompose d(c);
  Value* x = d.cast(c.in(0), DType::f32);
  if (rank_of(x) == 1) x = d.unsqueeze(x, {0});
  Machine m;
  if (!c.b.ok() || !read_machine(c, x, &m)) return;
  if (m.vectors == 0) return classify_linear(c, m, x);
  if (m.classes < 2) return c.fail("has support vectors of one class, expected at least 2");
  Value* scores = pair_scores(c, m, x);
  if (c.wants(0)) c.out(0, labels_of(c, m.labels, most_votes(c, m, scores)));
  if (!c.wants(1)) return;
  const std::string transform = c.attr_string("post_transform", "NONE");
  if (!m.prob_a.empty()) return c.out(1, post_transform(c, couple(c, m, x, pair_probabilities(c, m, scores)), transform));
  if (m.classes > 2) return c.out(1, post_transform(c, scores, transform));
  Value* other = transform == "NONE" ? d.op(OpId::neg, {scores}) : d.sub(d.number(1, DType::f32), scores);
  c.out(1, d.concat({other, scores}, 1));
}

}  // namespace

void add_svm_ops(OpTable& table);
void add_svm_ops(OpTable& table) {
  add_lines(table, {{"SVMRegressor", import_svm_regressor}, {"SVMClassifier", import_svm_classifier}}, "ai.onnx.ml");
}

}  // namespace mote::frontends::onnx
