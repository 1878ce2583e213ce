// Sequences and optionals: lists of values that exist while importing alone.

#include <algorithm>

#include "mote/compiler/frontends/onnx/import.h"
#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/compiler/frontends/onnx/sequences.h"

namespace mote::frontends::onnx {
namespace {

using Kind = Entity::Kind;

Entity operand(const NodeContext& c, size_t i) { return i < c.operands.size() ? c.operands[i] : Entity{}; }

// The list of operand i, all of whose elements are there; null after fail().
const std::vector<Entity>* list_of(NodeContext& c, size_t i) {
  const Entity e = operand(c, i);
  if (e.is(Kind::kSequence) && !e.is_stacked() && e.length == nullptr && e.grows_from == 0) return c.operands[i].list.get();
  if (e.is(Kind::kSequence))
    c.fail("input " + std::to_string(i) + ": the length of this sequence is known only when running",
           "give the loop or split that makes it sizes that are known when compiling");
  else c.fail("input " + std::to_string(i) + ": expected a sequence");
  return nullptr;
}

// How many elements a sequence has whose length is known only when running: a scalar s64.
Value* running_length(NodeContext& c, const Entity& e) {
  Decompose d(c);
  return e.is_stacked() ? d.reshape(d.size_of(e.value, 0), {}) : e.length;
}

bool has_running_length(const Entity& e) { return e.is(Kind::kSequence) && (e.is_stacked() || e.length != nullptr); }

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

Value* scalar_of(NodeContext& c, Value* v) {
  Decompose d(c);
  return d.cast(v == nullptr || rank_of(v) == 0 ? v : d.reshape(v, {}), DType::s64);
}

// Elements that are chosen one after the other: each costs a node.
constexpr size_t kMostChosen = 128;
bool too_many(NodeContext& c, size_t elements) {
  if (elements <= kMostChosen) return false;
  c.fail("the place in a sequence of " + std::to_string(elements) + " elements is known only when running, expected at most " +
         std::to_string(kMostChosen));
  return true;
}

// The element at a place that only running tells: elements of one type lie in one tensor, others are chosen one after the other.
Entity choose_running(NodeContext& c, const std::vector<Entity>& list, Value* position) {
  Decompose d(c);
  std::vector<Value*> rows;
  bool alike = true;
  for (const Entity& e : list) {
    if (!e.is(Kind::kTensor)) return c.fail("the position is known only when running, and the elements are no tensors"), Entity{};
    if (e.element != list[0].element) return c.fail("the position is known only when running, and the elements differ in type"), Entity{};
    alike = alike && e.value->type == list[0].value->type && e.value->type.is_static();
    rows.push_back(e.value);
  }
  if (!alike) {
    if (too_many(c, rows.size())) return Entity{};
    const int64_t size = static_cast<int64_t>(rows.size());
    Value* at = d.op(OpId::where, {d.op(OpId::less, {position, d.number(0, DType::s64)}), d.add(position, size), position});
    Value* chosen = rows.back();
    for (int64_t i = size - 2; i >= 0; --i)
      chosen = choose(c, d.op(OpId::equal, {at, d.number(static_cast<double>(i), DType::s64)}), rows[static_cast<size_t>(i)], chosen);
    return Entity::tensor(chosen, list[0].element);
  }
  for (Value*& row : rows) row = d.unsqueeze(row, {0});
  return Entity::tensor(d.gather(d.concat(rows, 0), position, 0), list[0].element);
}

void import_at(NodeContext& c) {
  Decompose d(c);
  const Entity e = operand(c, 0);
  Value* position = operand(c, 1).value;
  if (has_running_length(e) && position != nullptr) {
    if (e.is_stacked()) return c.out(0, d.gather(e.value, scalar_of(c, position), 0), e.element);
    // Counted from the end, the length decides.
    Value* at = scalar_of(c, position);
    at = d.op(OpId::where, {d.op(OpId::less, {at, d.number(0, DType::s64)}), d.add(at, e.length), at});
    return e.list->empty() ? c.fail("the sequence is empty") : give(c, choose_running(c, *e.list, at));
  }
  const auto* list = list_of(c, 0);
  if (list == nullptr) return;
  std::vector<int64_t> known;
  if (position != nullptr && !list->empty() && !ir::known_ints(*position, &known))
    return give(c, choose_running(c, *list, scalar_of(c, position)));
  size_t at;
  if (known_position(c, position, static_cast<int64_t>(list->size()), &at)) give(c, (*list)[at]);
}

// An element at a place that only running tells: each place has the old element before it, the new one, or the old one's follower.
void insert_running(NodeContext& c, const std::vector<Entity>& list, Value* position) {
  Decompose d(c);
  Value* added = operand(c, 1).value;
  const int64_t size = static_cast<int64_t>(list.size());
  Value* at = scalar_of(c, position);
  at = d.op(OpId::where, {d.op(OpId::less, {at, d.number(0, DType::s64)}), d.add(at, static_cast<double>(size)), at});
  if (too_many(c, list.size())) return;
  std::vector<Entity> changed;
  for (int64_t i = 0; i <= size && added != nullptr; ++i) {
    Value* here = d.number(static_cast<double>(i), DType::s64);
    Value *before = i > 0 ? list[static_cast<size_t>(i - 1)].value : nullptr,
          *old = i < size ? list[static_cast<size_t>(i)].value : nullptr;
    if ((i > 0 && before == nullptr) || (i < size && old == nullptr)) return c.fail("the elements of the sequence are no tensors");
    Value* v = before == nullptr ? added : choose(c, d.op(OpId::equal, {at, here}), added, before);
    if (old != nullptr) v = choose(c, d.op(OpId::greater, {at, here}), old, v);
    changed.push_back(Entity::tensor(v));
  }
  if (added == nullptr) return c.fail("the new element is no tensor");
  if (c.b.ok()) give(c, Entity::sequence(std::move(changed)));
}

// At the end of a sequence whose length is known only when running.
void append_running(NodeContext& c, const Entity& e) {
  Decompose d(c);
  Value* added = operand(c, 1).value;
  if (operand(c, 2).value != nullptr || added == nullptr)
    return c.fail("the length of the sequence is known only when running: an element can be put at its end only");
  if (e.is_stacked()) {
    Value* longer = d.concat({e.value, d.unsqueeze(added, {0})}, 0);
    if (c.b.ok()) give(c, Entity::stacked(longer));
    return;
  }
  if (too_many(c, e.list->size())) return;
  std::vector<Entity> changed = *e.list;
  for (size_t i = e.least; i < changed.size(); ++i) {  // those before are there already
    Value* here = d.op(OpId::equal, {e.length, d.number(static_cast<double>(i), DType::s64)});
    if (changed[i].value == nullptr) return c.fail("the elements of the sequence are no tensors");
    changed[i] = Entity::tensor(choose(c, here, added, changed[i].value));
  }
  changed.push_back(Entity::tensor(added));
  Entity longer = Entity::sequence(std::move(changed), d.add(e.length, 1));
  longer.least = e.least + 1;
  if (c.b.ok()) give(c, std::move(longer));
}

void import_insert(NodeContext& c) {
  const Entity e = operand(c, 0);
  if (has_running_length(e)) return append_running(c, e);
  if (e.grows_from != 0 && operand(c, 2).value == nullptr) {
    Entity grown = e;
    std::vector<Entity> appended = *e.list;
    appended.push_back(operand(c, 1));
    grown.list = std::make_shared<const std::vector<Entity>>(std::move(appended));
    return give(c, grown);
  }
  const auto* list = list_of(c, 0);
  if (list == nullptr) return;
  std::vector<Entity> changed = *list;
  size_t at = changed.size();
  if (operand(c, 2).value != nullptr) {
    // A negative position counts from the end of the sequence as it was.
    std::vector<int64_t> known;
    if (!ir::known_ints(*operand(c, 2).value, &known)) return insert_running(c, *list, operand(c, 2).value);
    if (known.size() != 1) return c.fail("the position in the sequence: expected one number, found " + std::to_string(known.size()));
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
  if (has_running_length(operand(c, 0))) return c.out(0, running_length(c, operand(c, 0)));
  if (const auto* list = list_of(c, 0); list != nullptr) c.out(0, c.b.graph().scalar<int64_t>(static_cast<int64_t>(list->size())));
}

// Parts whose sizes are known only when running.
void split_running(NodeContext& c, Value* x, int axis, Value* split) {
  Decompose d(c);
  constexpr int64_t kMostParts = 256;
  const int64_t size = dims_of(x)[static_cast<size_t>(axis)];
  const bool listed = rank_of(split) == 1;
  if (rank_of(split) > 1 || (listed && !is_fixed(split, 0))) return c.fail("how many parts there are is known only when running");
  const int64_t parts = listed ? dims_of(split)[0] : size;
  if (parts > kMostParts)
    return c.fail("the sizes of up to " + std::to_string(parts) + " parts are known only when running, expected at most " +
                      std::to_string(kMostParts),
                  "make the sizes constants");
  Value* whole = d.size_of(x, axis);
  split = d.cast(split, DType::s64);
  std::vector<Entity> list;
  Value* begin = d.ints({0});
  for (int64_t i = 0; i < parts && c.b.ok(); ++i) {
    Value* part = listed ? d.slice(split, 0, i, i + 1) : d.reshape(split, {1});
    Value* end = d.add(begin, part);
    list.push_back(Entity::tensor(import_one_as(c, "Slice", {x, begin, end, d.ints({axis})})));
    begin = end;
  }
  Value* count = nullptr;
  if (!listed) {  // rounded up
    Value* more = d.sub(d.add(whole, split), d.number(1, DType::s64));
    count = d.reshape(d.div(more, split), {});
  }
  if (c.b.ok()) give(c, Entity::sequence(std::move(list), count));
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
  if (split != nullptr && !ir::known_ints(*split, &sizes)) return split_running(c, x, axis, split);
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

// Elements along a first axis become elements along `axis`, or one behind the other there.
void concat_stacked(NodeContext& c, Value* x, bool new_axis) {
  Decompose d(c);
  const int rank = rank_of(x) - (new_axis ? 0 : 1);
  const int axis = axis_of(c, c.attr_int("axis", 0), rank);
  if (!c.b.ok()) return;
  std::vector<int> order;
  for (int i = 1; i < rank_of(x); ++i) order.push_back(i);
  order.insert(order.begin() + axis, 0);
  Value* moved = axis == 0 ? x : d.transpose(x, order);
  if (new_axis) return c.out(0, moved);
  std::vector<Value*> sizes;
  for (int i = 0; i < rank_of(x); ++i) {
    if (i == axis + 1) continue;
    Value* size = d.size_of(moved, i);
    sizes.push_back(i == axis ? d.mul(size, d.size_of(moved, i + 1)) : size);
  }
  Value* shape = d.concat(sizes, 0);
  if (c.b.ok()) c.out(0, reshape_by(c, moved, shape));
}

// Without the elements that do not count: those behind the length give way to nothing of the first one's other sizes.
Value* counted_part(NodeContext& c, const Entity& e, size_t i, Value* part, Value* first, int axis) {
  Decompose d(c);
  if (i < e.least) return part;
  Value* counts = d.op(OpId::greater, {e.length, d.number(static_cast<double>(i), DType::s64)});
  if (i > 0) return choose(c, counts, part, d.slice(first, axis, 0, 0));
  Value* end = d.mul(d.size_of(part, axis), d.reshape(d.cast(counts, DType::s64), {1}));
  return import_one_as(c, "Slice", {part, d.ints({0}), end, d.ints({axis})});
}

void import_concat_from_sequence(NodeContext& c) {
  Decompose d(c);
  const bool stack = c.attr_int("new_axis", 0) != 0;
  const Entity whole = operand(c, 0);
  if (whole.is_stacked()) return concat_stacked(c, whole.value, stack);
  const bool counted = has_running_length(whole);
  const auto* list = counted ? whole.list.get() : list_of(c, 0);
  if (list == nullptr) return;
  std::vector<Value*> parts;
  for (const Entity& e : *list) {
    if (!e.is(Kind::kTensor)) return c.fail("expected a sequence of tensors");
    const int axis = axis_of(c, c.attr_int("axis", 0), rank_of(e.value) + (stack ? 1 : 0));
    if (!c.b.ok()) return;
    parts.push_back(stack ? d.unsqueeze(e.value, {axis}) : e.value);
    if (counted) parts.back() = counted_part(c, whole, parts.size() - 1, parts.back(), parts.front(), axis);
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
  for (size_t i = 1; i < c.operands.size(); ++i)
    if (operand(c, i).is(Kind::kSequence) && list_of(c, i) == nullptr) return;
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
