// Operators with graphs of their own; sequences and optionals, which exist while a model is compiled.

#include <algorithm>

#include "tests/differential/draw.h"

namespace mote::differential {
namespace {

using ::onnx::GraphProto;
using ::onnx::TensorProto;

void put_value(::onnx::ValueInfoProto* v, const std::string& name, Type type) {
  v->set_name(name);
  v->mutable_type()->mutable_tensor_type()->set_elem_type(type);
}

// A graph inside of a node. It sees the values of the graph around it.
class Body {
 public:
  explicit Body(Draw& d) : d_(d) { g_.set_name(d.fresh("g")); }

  std::string input(Type type, const Dims* shape = nullptr) {
    const std::string name = d_.fresh("i");
    put_value(g_.add_input(), name, type);
    if (shape != nullptr) {
      auto* dims =
          g_.mutable_input(g_.input_size() - 1)->mutable_type()->mutable_tensor_type()->mutable_shape();  // of a scalar without any
      for (const int n : *shape) dims->add_dim()->set_dim_value(n);
    }
    return name;
  }
  std::string node(const char* op, const std::vector<std::string>& inputs) {
    const std::string name = d_.fresh("b");
    auto* n = g_.add_node();
    n->set_op_type(op);
    for (const std::string& in : inputs) n->add_input(in);
    n->add_output(name);
    return name;
  }
  void output(const std::string& name, Type type) { put_value(g_.add_output(), name, type); }
  const GraphProto& graph() const { return g_; }

 private:
  Draw& d_;
  GraphProto g_;
};

// A few steps that keep shape and type, and magnitudes below twice of what they were, plus one.
std::string some_steps(Draw& d, Body* body, std::string v, Type type, const std::string& outer) {
  static const char* const unary[] = {"Relu", "Tanh", "Sigmoid", "Neg", "Abs", "HardSwish"};
  for (uint32_t i = 0, n = 1 + d.c.below(3); i < n; ++i) {
    const uint32_t kind = d.c.below(3);
    if (kind == 0) v = body->node(d.c.of(unary), {v});
    else if (kind == 1) v = body->node("Mul", {v, d.scalar(0.75f, type)});
    else if (i == 0 && !outer.empty()) v = body->node("Sub", {v, outer});
  }
  return body->node("Identity", {v});
}

// A condition that rounding has no part in: something of an input of the graph is large.
bool condition(Draw& d, std::string* name) {
  const Value* p = d.any([&](const Value& v) { return d.is_input(v) && v.type == d.real; });
  if (p == nullptr) return false;
  const Value x = *p;
  Value most, y;
  const auto full = [&](size_t s) { return count_of(x.shapes[s]) == 0 ? kIllegal : Dims{}; };
  if (!d.node("ReduceMax", {x.name}, x.type, x.most, full, &most, [](Node& n) { n.i("keepdims", 0); })) return false;
  if (!d.node("Greater", {most.name, d.scalar(1.75f, x.type)}, TensorProto::BOOL, 1, fixed({}), &y)) return false;
  *name = y.name;
  return true;
}

bool either(Draw& d) {
  const Value* p = d.any_real();
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  std::string when;
  if (x.most > 1e4f || !condition(d, &when)) return false;
  Body yes(d), no(d);
  yes.output(some_steps(d, &yes, x.name, x.type, ""), x.type);
  no.output(some_steps(d, &no, x.name, x.type, d.scalar(0.5f, x.type)), x.type);
  Value y;
  if (!d.node("If", {when}, x.type, x.most + 1, same_as(x), &y,
              [&](Node& n) { n.graph("then_branch", yes.graph()).graph("else_branch", no.graph()); }))
    return false;
  d.push(y);
  return true;
}

bool loop(Draw& d) {
  const Value* p = d.any_real(0, 4);
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  if (x.most > 1e3f) return false;
  const int trips = d.c.between(1, 4);
  Body body(d);
  const Dims one;
  body.input(TensorProto::INT64, &one);
  const std::string again = body.input(TensorProto::BOOL, &one), carried = body.input(x.type);
  const std::string next = some_steps(d, &body, carried, x.type, x.name);
  body.output(body.node("Identity", {again}), TensorProto::BOOL);
  body.output(next, x.type);
  const bool stacked = d.c.chance(50);
  if (stacked) body.output(body.node("Add", {next, d.scalar(0.25f, x.type)}), x.type);
  std::vector<ShapeFn> shapes = {same_as(x)};
  if (stacked)
    shapes.push_back([&](size_t s) {
      Dims out = x.shapes[s];
      out.insert(out.begin(), trips);
      return out;
    });
  std::vector<Value> outs;
  if (!d.nodes("Loop", {d.int64_scalar(trips), "", x.name}, x.type, x.most * static_cast<float>(trips + 1) + 2, shapes, &outs,
               [&](Node& n) { n.graph("body", body.graph()); }))
    return false;
  for (const Value& v : outs) d.push(v);
  return true;
}

bool scan(Draw& d) {
  const Value* p =
      d.any([&](const Value& v) { return v.type == d.real && v.rank() >= 2 && v.rank() <= 4 && v.is_static() && v.dim(0) > 0; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  Dims row = x.dims();
  row.erase(row.begin());
  const float most = x.most * static_cast<float>(x.dim(0)) + 2;
  Body body(d);
  const std::string state = body.input(x.type, &row), one = body.input(x.type, &row);
  const std::string sum = body.node("Add", {body.node("Mul", {state, d.scalar(0.5f, x.type)}), one});
  body.output(sum, x.type);
  body.output(some_steps(d, &body, sum, x.type, ""), x.type);
  std::vector<Value> outs;
  const bool backwards = d.c.chance(30);
  if (!d.nodes("Scan", {d.reals(row, 1), x.name}, x.type, most, {fixed(row), same_as(x)}, &outs, [&](Node& n) {
        n.graph("body", body.graph()).i("num_scan_inputs", 1);
        if (backwards) n.ints("scan_input_directions", {1});
      }))
    return false;
  for (const Value& v : outs) d.push(v);
  return true;
}

// Parts of a value in a sequence that is changed, and joined again.
bool sequence(Draw& d) {
  const Value* p = d.any([&](const Value& v) {
    return v.type == d.real && v.rank() >= 1 && v.rank() <= 4 && v.is_static() && v.dim(0) >= 2 && v.dim(0) <= 12;
  });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const auto fixed_row = [&](int rows) {
    Dims out = x.dims();
    out[0] = rows;
    return fixed(out);
  };
  const int rows = x.dim(0), first = d.c.between(1, rows - 1);
  Value parts, changed, y;
  if (!d.node("SplitToSequence", {x.name, d.int64s({first, rows - first})}, x.type, x.most, fixed({}), &parts,
              [](Node& n) { n.i("axis", 0); }))
    return false;
  const uint32_t kind = d.c.below(6);
  changed = parts;
  int sum = rows;
  if (kind == 1) {
    if (!d.node("SequenceInsert", {parts.name, x.name, d.int64_scalar(d.c.between(0, 2))}, x.type, x.most, fixed({}), &changed))
      return false;
    sum = 2 * rows;
  } else if (kind == 2) {
    if (!d.node("SequenceErase", {parts.name, d.int64_scalar(0)}, x.type, x.most, fixed({}), &changed)) return false;
    sum = rows - first;
  } else if (kind == 3) {
    Body body(d);
    body.output(some_steps(d, &body, body.input(x.type), x.type, ""), x.type);
    if (!d.node("SequenceMap", {parts.name}, x.type, x.most + 1, fixed({}), &changed, [&](Node& n) { n.graph("body", body.graph()); }))
      return false;
  } else if (kind == 4) {
    Value empty;
    if (!d.node("SequenceEmpty", {}, x.type, x.most, fixed({}), &empty, [&](Node& n) { n.i("dtype", x.type); })) return false;
    if (!d.node("SequenceInsert", {empty.name, x.name}, x.type, x.most, fixed({}), &changed)) return false;
  } else if (kind == 5) {
    if (!d.node("SequenceConstruct", {x.name, x.name}, x.type, x.most, fixed({}), &changed)) return false;
    sum = 2 * rows;
  }
  const uint32_t end = d.c.below(4);
  if (end == 0) {
    if (!d.node("SequenceLength", {changed.name}, TensorProto::INT64, 3, fixed({}), &y)) return false;
  } else if (end == 1) {
    const int taken = kind == 0 || kind == 3 ? first : kind == 2 ? rows - first : kind >= 4 ? rows : -1;
    if (taken < 0) return false;
    if (!d.node("SequenceAt", {changed.name, d.int64_scalar(0)}, x.type, x.most + 1, fixed_row(taken), &y)) return false;
  } else if (!d.node("ConcatFromSequence", {changed.name}, x.type, x.most + 1, fixed_row(sum), &y, [](Node& n) { n.i("axis", 0); })) {
    return false;
  }
  d.push(y);
  return true;
}

bool optional(Draw& d) {
  const Value* p = d.any_real();
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  Value box, y;
  if (!d.node("Optional", {x.name}, x.type, x.most, same_as(x), &box)) return false;
  if (d.c.chance(70)) {
    if (!d.node("OptionalGetElement", {box.name}, x.type, x.most, same_as(x), &y)) return false;
  } else if (!d.node("OptionalHasElement", {box.name}, TensorProto::BOOL, 1, fixed({}), &y)) {
    return false;
  }
  d.push(y);
  return true;
}

bool constant(Draw& d) {
  Value v, y;
  const Value* p = d.any_real();
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const bool cast = d.real != TensorProto::FLOAT;
  if (!d.node("Constant", {}, TensorProto::FLOAT, 1, fixed({}), &v, [](Node& n) { n.f("value_float", 0.625f); })) return false;
  if (cast && !d.node("Cast", {v.name}, d.real, 1, fixed({}), &v, [&](Node& n) { n.i("to", d.real); })) return false;
  if (!d.node("Mul", {x.name, v.name}, x.type, x.most, same_as(x), &y)) return false;
  d.push(y);
  return true;
}

}  // namespace

const std::vector<Line>& control_lines();
const std::vector<Line>& control_lines() {
  static const std::vector<Line> lines = {{either, 4}, {loop, 4}, {scan, 3}, {sequence, 4}, {optional, 1}, {constant, 1}};
  return lines;
}

}  // namespace mote::differential
