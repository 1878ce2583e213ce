#include "mote/compiler/frontends/onnx/sequences.h"

#include <algorithm>

#include "mote/ops/fill/fill.h"

namespace mote::frontends::onnx {
namespace {

using Kind = Entity::Kind;

bool is_empty(const Entity& e) { return e.is(Kind::kAbsent) || e.is(Kind::kEmptyOptional); }

// Of this element type and rank, without elements; a scalar is 0.
Value* empty_like(ir::NodeBuilder& b, const ir::Type& type) {
  const ir::Dims none(type.dims.size(), 0);
  const size_t bytes = none.empty() ? dtype_bytes(type.dtype) : 0;
  return b.graph().add_constant(type.dtype, none, ir::Bytes::own(std::vector<uint8_t>(bytes)));
}

void collect(const Entity& e, std::vector<Value*>* out) {
  if (e.value != nullptr) out->push_back(e.value);
  if (e.length != nullptr) out->push_back(e.length);
  for (size_t i = 0; e.list != nullptr && i < e.list->size(); ++i) collect((*e.list)[i], out);
}

Entity rebuild(const Entity& like, const std::vector<Value*>& tensors, size_t* at) {
  Entity out = like;
  if (like.value != nullptr) out.value = tensors[(*at)++];
  if (like.length != nullptr) out.length = tensors[(*at)++];
  if (like.list == nullptr) return out;
  std::vector<Entity> items;
  for (const Entity& e : *like.list) items.push_back(rebuild(e, tensors, at));
  out.list = std::make_shared<const std::vector<Entity>>(std::move(items));
  return out;
}

// The longer list's elements stand for the shapes that the shorter one lacks.
bool lengthen(Entity* shorter, const Entity& longer, ir::NodeBuilder* builder) {
  std::vector<Entity> items = *shorter->list;
  Value* length = shorter->length;
  if (length == nullptr) length = builder->graph().scalar<int64_t>(static_cast<int64_t>(items.size()));
  for (size_t i = items.size(); i < longer.list->size(); ++i) {
    const Entity& e = (*longer.list)[i];
    if (!e.is(Kind::kTensor)) return false;
    items.push_back(Entity::tensor(empty_like(*builder, e.value->type)));
  }
  *shorter = Entity::sequence(std::move(items), length);
  return true;
}

bool alike(NodeContext& c, Entity* a, ir::NodeBuilder* in_a, Entity* b, ir::NodeBuilder* in_b) {
  if (is_empty(*a) && is_empty(*b)) return true;
  if (is_empty(*a) || is_empty(*b))
    return c.fail("whether an optional is there is known only when running", "make the condition a constant, or fix what it depends on"),
           false;
  if (a->kind != b->kind || a->is_stacked() != b->is_stacked() || a->grows_from != b->grows_from)
    return c.fail("one graph gives a sequence where the other gives something else"), false;
  if (a->element != b->element) return c.fail("the graphs give values of different element types"), false;
  if (a->list == nullptr) return true;
  const bool differ = a->list->size() != b->list->size() || (a->length == nullptr) != (b->length == nullptr);
  if (!differ) {
    for (size_t i = 0; i < a->list->size(); ++i)
      if (!(*a->list)[i].is(Kind::kTensor) || !(*b->list)[i].is(Kind::kTensor)) return c.fail("expected a sequence of tensors"), false;
    if (a->length != nullptr) a->least = b->least = std::min(a->least, b->least);
    return true;
  }
  const auto least_of = [](const Entity& e) { return e.length == nullptr ? e.list->size() : e.least; };
  const size_t least = std::min(least_of(*a), least_of(*b));
  if (a->grows_from == 0 && lengthen(a, *b, in_a) && lengthen(b, *a, in_b)) {
    a->least = b->least = least;
    return true;
  }
  return c.fail("sequences differ in length"), false;
}

}  // namespace

Value* choose(NodeContext& c, Value* condition, Value* a, Value* b) {
  if (!c.b.ok() || a == nullptr || b == nullptr || condition == nullptr) return nullptr;
  if (a == b) return a;
  if (a->type == b->type && a->type.is_static()) return c.b.op(OpId::where, {condition, a, b});
  ir::Graph& g = c.b.graph();
  ir::Node* node = g.add_node(c.b.block(), ir::kIf, nullptr, 0, {condition}, 1, c.b.name());
  for (Value* v : {a, b}) g.add_result(g.add_block(node), v);
  std::string error;
  if (!ir::infer(*node, &error)) c.fail(error);
  return c.b.ok() ? node->outputs[0] : nullptr;
}

std::vector<Value*> tensors_of(const std::vector<Entity>& list) {
  std::vector<Value*> out;
  for (const Entity& e : list) collect(e, &out);
  return out;
}

std::vector<Entity> of_tensors(const std::vector<Entity>& like, const std::vector<Value*>& tensors) {
  std::vector<Entity> out;
  size_t at = 0;
  for (const Entity& e : like) out.push_back(rebuild(e, tensors, &at));
  return out;
}

bool make_alike(NodeContext& c, const Side& a, const Side& b) {
  if (a.list->size() != b.list->size()) return c.fail("the graphs differ in the number of values"), false;
  for (size_t i = 0; i < a.list->size(); ++i)
    if (!alike(c, &(*a.list)[i], a.builder, &(*b.list)[i], b.builder)) return false;
  return true;
}

}  // namespace mote::frontends::onnx
