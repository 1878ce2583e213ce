#include "mote/compiler/passes/expression.h"

#include <algorithm>
#include <cmath>

namespace mote::passes {
namespace {

constexpr int kMaxDepth = 8;

// The number that a constant scalar operand is.
std::optional<double> number(const Value* v) {
  if (v == nullptr || !v->is_constant() || !is_scalar(*v)) return {};
  return splat(v);
}

void collect(Value* v, bool first, int depth, Product* p) {
  const Node* n = v->producer;
  const bool own = first || (v->has_one_use() && n != nullptr);
  if (n == nullptr || !own || depth == 0 || !n->is_operator() || !reads_no_state(*n) || !is_float(*v)) {
    p->factors.push_back(v);
    return;
  }
  // Numbers that change the shape are no plain factors.
  const auto keeps = [&](const Value* x) { return x->type == v->type; };
  if (n->is(OpId::mul)) {
    const std::optional<double> a = number(n->inputs[0]), b = number(n->inputs[1]);
    if (a && keeps(n->inputs[1])) {
      p->c *= *a;
      return collect(n->inputs[1], false, depth - 1, p);
    }
    if (b && keeps(n->inputs[0])) {
      p->c *= *b;
      return collect(n->inputs[0], false, depth - 1, p);
    }
    if (keeps(n->inputs[0]) && keeps(n->inputs[1])) {
      collect(n->inputs[0], false, depth - 1, p);
      return collect(n->inputs[1], false, depth - 1, p);
    }
  } else if (n->is(OpId::div)) {
    const std::optional<double> b = number(n->inputs[1]);
    if (b && *b != 0 && keeps(n->inputs[0])) {
      p->c /= *b;
      return collect(n->inputs[0], false, depth - 1, p);
    }
  } else if (n->is(OpId::square) || n->is(OpId::pow)) {
    const std::optional<double> e = n->is(OpId::square) ? 2 : number(n->inputs[1]);
    if (e && (*e == 2 || *e == 3) && keeps(n->inputs[0])) {
      p->factors.insert(p->factors.end(), static_cast<size_t>(*e), n->inputs[0]);
      return;
    }
  } else if (n->is(OpId::neg)) {
    p->c = -p->c;
    return collect(n->inputs[0], false, depth - 1, p);
  }
  p->factors.push_back(v);
}

void gather_names(const Node& n, const std::vector<const Value*>& inputs, int depth, std::vector<const Node*>* seen, std::string* name) {
  if (depth == 0 || std::find(seen->begin(), seen->end(), &n) != seen->end()) return;
  seen->push_back(&n);
  for (const Value* v : n.inputs) {
    if (v == nullptr || v->producer == nullptr || std::find(inputs.begin(), inputs.end(), v) != inputs.end()) continue;
    gather_names(*v->producer, inputs, depth - 1, seen, name);
  }
  *name = joined_name(*name, n.name);
}

}  // namespace

bool near(double a, double b) { return std::fabs(a - b) <= 1e-3 * std::fabs(b); }

bool Product::is(double wanted) const { return near(c, wanted); }

bool Product::has(double wanted, const Value* only) const { return is(wanted) && factors.size() == 1 && factors[0] == only; }

Value* Product::beside(const Value* x) const {
  if (factors.size() != 2 || (factors[0] != x && factors[1] != x)) return nullptr;
  return factors[0] == x ? factors[1] : factors[0];
}

Product product_of(Value* v) {
  Product p;
  collect(v, true, kMaxDepth, &p);
  return p;
}

std::optional<Shifted> shifted(const Value* v) {
  const Node* n = v->producer;
  if (n == nullptr || (!n->is(OpId::add) && !n->is(OpId::sub)) || !reads_no_state(*n)) return {};
  const std::optional<double> a = n->is(OpId::add) ? number(n->inputs[0]) : std::nullopt, b = number(n->inputs[1]);
  if (b && n->inputs[0]->type == v->type) return Shifted{n->inputs[0], n->is(OpId::add) ? *b : -*b};
  if (a && n->inputs[1]->type == v->type) return Shifted{n->inputs[1], *a};
  return {};
}

std::string names_between(const Node& last, const std::vector<const Value*>& inputs) {
  std::string name;
  std::vector<const Node*> seen;
  gather_names(last, inputs, 16, &seen, &name);
  return name;
}

}  // namespace mote::passes
