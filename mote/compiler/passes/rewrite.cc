#include "mote/compiler/passes/rewrite.h"

#include <algorithm>
#include <cstring>

#include "mote/compiler/ir/infer.h"
#include "mote/ops/reshape/reshape.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::passes {

namespace {
constexpr size_t kLongName = 400;
}

std::string joined_name(const std::string& a, const std::string& b) {
  if (b.empty() || a == b) return a;
  if (a.empty()) return b;
  if (a.size() > kLongName) return a;
  // A name may already be part of a joined one.
  const std::string whole = "+" + a + "+";
  return whole.find("+" + b + "+") != std::string::npos ? a : a + "+" + b;
}

void erase_unused(Graph& graph, Node* node) {
  const auto idle = [](const Node& n) {
    // dce looks at assigns and into blocks.
    if (n.op == ir::kAssign || !n.blocks.empty()) return false;
    return std::all_of(n.outputs.begin(), n.outputs.end(), [](const Value* v) { return v == nullptr || v->unused(); });
  };
  std::vector<Node*> left = {node};
  while (!left.empty()) {
    Node* n = left.back();
    left.pop_back();
    if (!idle(*n)) continue;
    const std::vector<Value*> inputs = n->inputs;
    graph.erase(n);
    left.erase(std::remove(left.begin(), left.end(), n), left.end());
    for (const Value* v : inputs)
      if (v != nullptr && v->producer != nullptr) left.push_back(v->producer);
  }
}

bool replace(Graph& graph, Node* node, Value* with) {
  Value* old = node->outputs[0];
  if (with == nullptr || with == old || with->kind == ir::ValueKind::kState || with->type != old->type) return false;
  if (with->layout != Layout::kPlain) return false;
  if (with->name.empty()) with->name = old->name;
  if (!with->quant) with->quant = old->quant;
  graph.replace_uses(old, with);
  erase_unused(graph, node);
  return true;
}

bool replace_by(Graph& graph, Node& node, Value* made) {
  if (made == nullptr) return false;
  if (replace(graph, &node, made)) return true;
  if (made->producer != nullptr) erase_unused(graph, made->producer);
  return false;
}

void refresh_types(Graph& graph) {
  std::string ignored;
  ir::infer_all(graph, &ignored);
}

Node* absorbable(const Value* v, OpId id, const Node& user) {
  Node* n = made_by(v, id);
  return n != nullptr && n->block == user.block && v->has_one_use() ? n : nullptr;
}

bool reads_no_state(const Node& node) {
  return std::none_of(node.inputs.begin(), node.inputs.end(),
                      [](const Value* v) { return v != nullptr && v->kind == ir::ValueKind::kState; });
}

std::vector<double> constant_numbers(const Value* v, int64_t most) {
  std::vector<double> numbers;
  if (v == nullptr || !v->is_constant() || v->type.count() > most) return {};
  if (ir::known_floats(*v, &numbers)) return numbers;
  std::vector<int64_t> ints;
  if (!ir::known_ints(*v, &ints)) return {};
  numbers.assign(ints.begin(), ints.end());
  return numbers;
}

std::optional<double> splat(const Value* v) {
  const std::vector<double> n = constant_numbers(v, 1 << 16);
  if (n.empty() || std::any_of(n.begin(), n.end(), [&](double x) { return x != n[0]; })) return {};
  return n[0];
}

namespace {
template <class T>
Value* typed_constant(Graph& graph, const Dims& dims, const std::vector<double>& values, const std::string& name) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T v = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof v);
  }
  return graph.add_constant(dtype_of<T>, dims, ir::Bytes::own(std::move(bytes)), name);
}
}  // namespace

Value* float_constant(Graph& graph, DType dtype, const Dims& dims, const std::vector<double>& values, const std::string& name) {
  switch (dtype) {
    case DType::f64: return typed_constant<double>(graph, dims, values, name);
    case DType::f16: return typed_constant<f16>(graph, dims, values, name);
    case DType::bf16: return typed_constant<bf16>(graph, dims, values, name);
    default: return typed_constant<float>(graph, dims, values, name);
  }
}

Dims permutation(const Node& node) {
  const auto a = node.attributes<ops::transpose::Attrs>();
  const int rank = node.inputs[0]->type.rank();
  Dims perm(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) perm[static_cast<size_t>(i)] = a.rank == 0 ? rank - 1 - i : axis_of(a.perm[i], rank);
  return perm;
}

Dims inverse(const Dims& perm) {
  Dims out(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) out[static_cast<size_t>(perm[i])] = static_cast<int32_t>(i);
  return out;
}

std::optional<Dims> reshape_dims(const Type& type) {
  Dims dims = type.dims;
  int open = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if ((type.dynamic >> i & 1) == 0) continue;
    dims[i] = -1;
    if (++open > 1) return {};
  }
  // -1 cannot be inferred beside a size of 0.
  if (open > 0 && std::find(dims.begin(), dims.end(), 0) != dims.end()) return {};
  return dims;
}

Value* reshape_to(Graph& graph, Value* x, const Type& type, const std::string& name, Node* before) {
  const std::optional<Dims> dims = reshape_dims(type);
  if (!dims) return nullptr;
  ops::reshape::Attrs a;
  a.rank = static_cast<int32_t>(dims->size());
  a.allow_zero = type.count() == 0 ? 1 : 0;
  std::copy(dims->begin(), dims->end(), a.dims);
  NodeBuilder b(graph, *before->block, name, before);
  Value* y = b.op(OpId::reshape, a, {x});
  if (y == nullptr || y->type == type) return y;
  graph.erase(y->producer);
  return nullptr;
}

}  // namespace mote::passes
