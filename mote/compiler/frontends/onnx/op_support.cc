#include "mote/compiler/frontends/onnx/op_support.h"

#include <algorithm>

#include "mote/compiler/frontends/onnx/import.h"
#include "mote/ops/reshape/reshape.h"

namespace mote::frontends::onnx {

void add_lines(OpTable& table, std::initializer_list<OpImporter> lines, const std::string& domain) {
  for (const OpImporter& line : lines) table[domain.empty() ? line.name : domain + "." + line.name].push_back(line);
}

bool to_axis(NodeContext& c, int64_t axis, int rank, int* out) {
  *out = axis_of(c, axis, rank);
  if (rank == 0) c.fail("expected a tensor with axes, found a scalar");
  return c.b.ok();
}

bool to_axes(NodeContext& c, const std::vector<int64_t>& axes, int rank, std::vector<int>* out) {
  out->clear();
  for (const int64_t a : axes) {
    int axis;
    if (!to_axis(c, a, rank, &axis)) return false;
    if (std::find(out->begin(), out->end(), axis) != out->end()) {
      c.fail("axis " + std::to_string(a) + " is named twice");
      return false;
    }
    out->push_back(axis);
  }
  return true;
}

int32_t to_s32(int64_t v) { return static_cast<int32_t>(std::clamp<int64_t>(v, INT32_MIN, INT32_MAX)); }

bool to_list(NodeContext& c, const std::vector<int64_t>& from, int32_t (&to)[8]) {
  if (from.size() > 8) {
    c.fail("a list of " + std::to_string(from.size()) + " sizes or axes; at most 8 are possible");
    return false;
  }
  for (size_t i = 0; i < from.size(); ++i) to[i] = to_s32(from[i]);
  return true;
}

bool known_list(const Value* v, std::vector<int64_t>* out) {
  out->clear();
  if (v == nullptr) return false;
  if (v->type.is_static() && v->type.count() == 0) return true;
  return ir::known_ints(*v, out);
}

Value* reshape_by(NodeContext& c, Value* x, Value* shape) {
  if (x == nullptr || shape == nullptr) return nullptr;
  ops::reshape::Attrs a;
  a.allow_zero = 1;
  return c.b.op(OpId::reshape, a, {x, shape});
}

Value* sizes_of(NodeContext& c, Value* x, const std::vector<int64_t>& axes) {
  Decompose d(c);
  return d.gather(d.shape_of(x), d.ints(axes), 0);
}

::onnx::AttributeProto make_attr(const std::string& name, int64_t value) {
  ::onnx::AttributeProto a;
  a.set_name(name);
  a.set_i(value);
  return a;
}

::onnx::AttributeProto make_attr(const std::string& name, float value) {
  ::onnx::AttributeProto a;
  a.set_name(name);
  a.set_f(value);
  return a;
}

::onnx::AttributeProto make_attr(const std::string& name, const std::string& value) {
  ::onnx::AttributeProto a;
  a.set_name(name);
  a.set_s(value);
  return a;
}

std::vector<Value*> import_as(NodeContext& c, const std::string& op, const std::vector<Value*>& inputs,
                              const std::vector<::onnx::AttributeProto>& changed) {
  constexpr int kNewest = 1000;
  const auto lines = op_table().find(op);
  if (!c.b.ok()) return {};
  if (lines == op_table().end()) {
    c.fail("operator " + op + " is not supported");
    return {};
  }
  const auto newest = std::max_element(lines->second.begin(), lines->second.end(),
                                       [](const OpImporter& a, const OpImporter& b) { return a.since < b.since; });
  ::onnx::NodeProto proto;
  proto.set_op_type(op);
  for (const auto& a : changed) *proto.add_attribute() = a;
  for (const auto& a : c.proto.attribute()) *proto.add_attribute() = a;
  for (const auto& o : c.proto.output()) proto.add_output(o);
  NodeContext inner(c.importer, c.scope, proto, kNewest, c.b);
  inner.inputs = inputs;
  for (Value* v : inputs) {
    const auto own = std::find_if(c.operands.begin(), c.operands.end(), [v](const Entity& e) { return v != nullptr && e.value == v; });
    inner.operands.push_back(v == nullptr ? Entity{} : own != c.operands.end() ? *own : Entity::tensor(v));
  }
  for (int i = 0; i < newest->inputs; ++i)
    if (inner.in(i) == nullptr) inner.fail("input " + std::to_string(i) + " of " + op + " is missing");
  if (inner.b.ok()) newest->import(inner);
  if (!inner.b.ok()) c.fail(inner.b.error(), inner.advice);
  c.inner_elements = inner.elements;
  return c.b.ok() ? inner.outputs : std::vector<Value*>{};
}

Value* import_one_as(NodeContext& c, const std::string& op, const std::vector<Value*>& inputs,
                     const std::vector<::onnx::AttributeProto>& changed) {
  const auto out = import_as(c, op, inputs, changed);
  return out.empty() ? nullptr : out[0];
}

}  // namespace mote::frontends::onnx
