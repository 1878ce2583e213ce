// Sequences and optionals: lists of values that exist while importing alone.

#include <algorithm>

#include "mote/compiler/frontends/onnx/import.h"
#include "mote/compiler/frontends/onnx/op_support.h"

namespace mote::frontends::onnx {
namespace {

using Kind = Entity::Kind;

Entity operand(const NodeContext& c, size_t i) { return i < c.operands.size() ? c.operands[i] : Entity{}; }

// The list of operand i; null after fail().
const std::vector<Entity>* list_of(NodeContext& c, size_t i) {
  const Entity e = operand(c, i);
  if (e.is(Kind::kSequence)) return c.operands[i].list.get();
  c.fail("input " + std::to_string(i) + ": expected a sequence");
  return nullptr;
}

void give(NodeContext& c, Entity e) { c.results.push_back(std::move(e)); }

// A position that is known when compiling, counted from the end when negative. `size`: one past the last allowed.
bool known_position(NodeContext& c, const Value* v, int64_t size, size_t* out) {
  std::vector<int64_t> known;
  if (v == nullptr || !ir::known_ints(*v, &known) || known.size() != 1) {
    c.fail("the position in the sequence is known only when running", "make it a constant");
    return false;
  }
  const int64_t at = known[0] < 0 ? known[0] + size : known[0];
  if (at < 0 || at >= size) {
    c.fail("position " + std::to_string(known[0]) + " lies outside of the sequence");
    return false;
  }
  *out = static_cast<size_t>(at);
  return true;
}

void import_construct(NodeContext& c) { give(c, Entity::sequence(c.operands)); }
void import_empty(NodeContext& c) { give(c, Entity::sequence({})); }

// One of several tensors of the same type, at a place that only running tells.
void choose_running(NodeContext& c, const std::vector<Entity>& list, Value* position) {
  Decompose d(c);
  std::vector<Value*> rows;
  for (const Entity& e : list) {
    if (!e.is(Kind::kTensor) || e.value->type != list[0].value->type || e.element != list[0].element)
      return c.fail("the position is known only when running, and elements differ in type");
    rows.push_back(d.unsqueeze(e.value, {0}));
  }
  Value* stacked = d.concat(rows, 0);
  if (c.b.ok()) c.out(0, d.gather(stacked, rank_of(position) == 0 ? position : d.reshape(position, {}), 0), list[0].element);
}

void import_at(NodeContext& c) {
  const auto* list = list_of(c, 0);
  if (list == nullptr) return;
  Value* position = operand(c, 1).value;
  std::vector<int64_t> known;
  if (position != nullptr && !list->empty() && !ir::known_ints(*position, &known)) return choose_running(c, *list, position);
  size_t at;
  if (known_position(c, position, static_cast<int64_t>(list->size()), &at)) give(c, (*list)[at]);
}

void import_insert(NodeContext& c) {
  const auto* list = list_of(c, 0);
  if (list == nullptr) return;
  std::vector<Entity> changed = *list;
  size_t at = changed.size();
  if (operand(c, 2).value != nullptr) {
    // A negative position counts from the end of the sequence as it was.
    std::vector<int64_t> known;
    if (!ir::known_ints(*operand(c, 2).value, &known) || known.size() != 1)
      return c.fail("the position in the sequence is known only when running", "make it a constant");
    const int64_t size = static_cast<int64_t>(changed.size()), place = known[0] < 0 ? known[0] + size : known[0];
    if (place < 0 || place > size) return c.fail("position " + std::to_string(known[0]) + " lies outside of the sequence");
    at = static_cast<size_t>(place);
  }
  changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(at), operand(c, 1));
  give(c, Entity::sequence(std::move(changed)));
}

void import_erase(NodeContext& c) {
  const auto* list = list_of(c, 0);
  if (list == nullptr) return;
  std::vector<Entity> changed = *list;
  size_t at = changed.empty() ? 0 : changed.size() - 1;
  if (operand(c, 1).value != nullptr && !known_position(c, operand(c, 1).value, static_cast<int64_t>(changed.size()), &at)) return;
  if (changed.empty()) return c.fail("the sequence is empty");
  changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at));
  give(c, Entity::sequence(std::move(changed)));
}

void import_length(NodeContext& c) {
  if (const auto* list = list_of(c, 0); list != nullptr) c.out(0, c.b.graph().scalar<int64_t>(static_cast<int64_t>(list->size())));
}

void import_split_to_sequence(NodeContext& c) {
  Decompose d(c);
  Value *x = operand(c, 0).value, *split = operand(c, 1).value;
  if (x == nullptr) return c.fail("expected a tensor");
  const int axis = axis_of(c, c.attr_int("axis", 0), rank_of(x));
  if (!c.b.ok() || !is_fixed(x, axis))
    return c.fail("needs a fixed size in dimension " + std::to_string(axis), "fix it with --dim or --shape");
  const int64_t size = dims_of(x)[static_cast<size_t>(axis)];
  std::vector<int64_t> sizes;
  if (split != nullptr && !ir::known_ints(*split, &sizes))
    return c.fail("the sizes of the parts are known only when running", "make them constants");
  if (split == nullptr || rank_of(split) == 0) {
    const int64_t part = split == nullptr ? 1 : sizes[0];
    if (part < 1 || size / part > 4096) return c.fail("cannot split " + std::to_string(size) + " into parts of " + std::to_string(part));
    sizes.clear();
    for (int64_t at = 0; at < size; at += part) sizes.push_back(std::min(part, size - at));
  }
  std::vector<Entity> parts;
  int64_t at = 0;
  for (int64_t n : sizes) {
    Value* part = d.slice(x, axis, at, at + n);
    if (split == nullptr && c.attr_int("keepdims", 1) == 0) part = d.squeeze(part, {axis});
    parts.push_back(Entity::tensor(part));
    at += n;
  }
  if (at != size) return c.fail("the parts have " + std::to_string(at) + " elements together, expected " + std::to_string(size));
  if (c.b.ok()) give(c, Entity::sequence(std::move(parts)));
}

void import_concat_from_sequence(NodeContext& c) {
  Decompose d(c);
  const auto* list = list_of(c, 0);
  if (list == nullptr) return;
  const bool stack = c.attr_int("new_axis", 0) != 0;
  std::vector<Value*> parts;
  for (const Entity& e : *list) {
    if (!e.is(Kind::kTensor)) return c.fail("expected a sequence of tensors");
    const int axis = axis_of(c, c.attr_int("axis", 0), rank_of(e.value) + (stack ? 1 : 0));
    if (!c.b.ok()) return;
    parts.push_back(stack ? d.unsqueeze(e.value, {axis}) : e.value);
  }
  if (parts.empty()) return c.fail("the sequence is empty");
  c.out(0, d.concat(parts, axis_of(c, c.attr_int("axis", 0), rank_of(parts[0]))));
}

// The body once for each element; inputs that are no sequences go to all of them.
void import_map(NodeContext& c) {
  const auto* body = c.attr("body");
  const auto* first = list_of(c, 0);
  if (first == nullptr) return;
  if (body == nullptr || !body->has_g()) return c.fail("has no graph 'body'");
  std::vector<std::vector<Entity>> out(static_cast<size_t>(body->g().output_size()));
  for (size_t i = 0; i < first->size(); ++i) {
    std::vector<Entity> arguments, results;
    for (const Entity& e : c.operands) {
      if (e.is(Kind::kSequence) && e.list->size() != first->size()) return c.fail("its sequences differ in length");
      arguments.push_back(e.is(Kind::kSequence) ? (*e.list)[i] : e);
    }
    if (!c.importer.import_body(c.scope, body->g(), c.b.block(), arguments, &results)) return c.give_up();
    for (size_t k = 0; k < results.size(); ++k) out[k].push_back(results[k]);
  }
  for (auto& list : out) give(c, Entity::sequence(std::move(list)));
}

void import_optional(NodeContext& c) { give(c, operand(c, 0).is(Kind::kAbsent) ? Entity::empty_optional() : operand(c, 0)); }

void import_has_element(NodeContext& c) {
  Decompose d(c);
  const Entity e = operand(c, 0);
  c.out(0, d.number(e.is(Kind::kAbsent) || e.is(Kind::kEmptyOptional) ? 0 : 1, DType::boolean));
}

void import_get_element(NodeContext& c) {
  const Entity e = operand(c, 0);
  if (e.is(Kind::kAbsent) || e.is(Kind::kEmptyOptional)) return c.fail("the optional is empty");
  give(c, e);
}

}  // namespace

void add_sequence_ops(OpTable& table);
void add_sequence_ops(OpTable& table) {
  add_lines(table, {{"SequenceConstruct", import_construct, 1, 0, true},
                    {"SequenceEmpty", import_empty, 1, 0, true},
                    {"SequenceAt", import_at, 1, 0, true},
                    {"SequenceInsert", import_insert, 1, 0, true},
                    {"SequenceErase", import_erase, 1, 0, true},
                    {"SequenceLength", import_length, 1, 0, true},
                    {"SequenceMap", import_map, 1, 0, true},
                    {"SplitToSequence", import_split_to_sequence, 1, 0, true},
                    {"ConcatFromSequence", import_concat_from_sequence, 1, 0, true},
                    {"Optional", import_optional, 1, 0, true},
                    {"OptionalHasElement", import_has_element, 1, 0, true},
                    {"OptionalGetElement", import_get_element, 1, 0, true}});
}

}  // namespace mote::frontends::onnx
