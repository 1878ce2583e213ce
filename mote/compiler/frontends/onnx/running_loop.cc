// Loops that carry sequences or values of changing shape, and whose number of trips is known only when running.

#include "mote/compiler/frontends/onnx/loop.h"
#include "mote/compiler/frontends/onnx/sequences.h"

namespace mote::frontends::onnx {
namespace {

using Kind = Entity::Kind;

constexpr int64_t kMostWritten = 64;  // trips

// The elements that each trip appends to a sequence, trip by trip along one first axis.
Value* interleaved(Decompose& d, std::vector<Value*> stacks) {
  if (stacks.size() == 1) return stacks[0];
  std::vector<int64_t> dims{-1};
  for (int i = 1; i < rank_of(stacks[0]); ++i) dims.push_back(dims_of(stacks[0])[static_cast<size_t>(i)]);
  for (Value*& s : stacks) s = d.unsqueeze(s, {1});
  return d.reshape(d.concat(stacks, 1), dims);
}

// A loop that appends to sequences.
class GrowingLoop {
 public:
  GrowingLoop(NodeContext& context, const LoopParts& p) : c(context), parts_(p) {}

  // kShapesChange: it does something else with its sequences; nothing was added or reported.
  LoopOutcome run() {
    std::vector<Value*> carried, out;
    for (const Entity& e : parts_.carried) {
      const bool growing = e.is(Kind::kSequence) && e.length == nullptr && e.grows_from == 0;
      if (!e.is(Kind::kTensor) && !growing) return LoopOutcome::kShapesChange;
      if (e.is(Kind::kTensor)) carried.push_back(e.value);
    }
    appended_.assign(parts_.carried.size(), 0);
    const auto write = [&](LoopBody& body) { return write_body(body); };
    const LoopOutcome outcome = build_loop(c, {parts_.trips, parts_.condition, carried, kAnyScanned, parts_.most_trips}, write, &out);
    if (outcome == LoopOutcome::kDone) set_results(out, carried.size());
    return outcome;
  }

 private:
  bool give_up(LoopBody& body) {
    body.given_up = true;
    return false;
  }

  bool write_body(LoopBody& body) {
    std::vector<Entity> arguments{Entity::tensor(body.trip), Entity::tensor(body.condition)}, results;
    size_t tensors = 0;
    for (size_t i = 0; i < parts_.carried.size(); ++i) {
      if (parts_.carried[i].is(Kind::kTensor)) {
        arguments.push_back(Entity::tensor(body.carried[tensors++]));
        continue;
      }
      arguments.push_back(Entity::sequence({}));
      arguments.back().grows_from = body.trip->id + 1 + static_cast<int>(i);
    }
    const size_t before = c.importer.problem_count();
    if (!c.importer.import_body(c.scope, *parts_.body, body.builder.block(), arguments, &results)) {
      if (c.importer.too_large()) return c.give_up(), false;
      if (c.importer.problem_count() > before) c.importer.take_back(before);
      return give_up(body);
    }
    if (!results[0].is(Kind::kTensor)) return give_up(body);
    body.go_on = rank_of(results[0].value) == 0 ? results[0].value : Decompose(c, body.builder).reshape(results[0].value, {});
    std::vector<Value*> appended;
    for (size_t i = 1; i < results.size(); ++i) {
      const Entity& e = results[i];
      const bool scanned = i > parts_.carried.size();
      if (e.is(Kind::kTensor) && (scanned || arguments[i + 1].is(Kind::kTensor))) {
        (scanned ? body.scanned : body.next).push_back(e.value);
        continue;
      }
      if (scanned || !e.is(Kind::kSequence) || e.grows_from == 0 || e.grows_from != arguments[i + 1].grows_from) return give_up(body);
      for (const Entity& item : *e.list) {
        if (!item.is(Kind::kTensor) || !item.value->type.is_static() || c.importer.texts().is_text(item.value) ||
            item.value->type != (*e.list)[0].value->type)
          return give_up(body);
        appended.push_back(item.value);
      }
      appended_[i - 1] = e.list->size();
    }
    body.scanned.insert(body.scanned.end(), appended.begin(), appended.end());
    return true;
  }

  void set_results(const std::vector<Value*>& out, size_t tensors) {
    Decompose d(c);
    size_t tensor = 0, stack = tensors + parts_.scanned;
    std::vector<Entity> results;
    for (size_t i = 0; i < parts_.carried.size(); ++i) {
      const Entity& first = parts_.carried[i];
      if (first.is(Kind::kTensor)) {
        results.push_back(Entity::tensor(out[tensor++]));
      } else if (appended_[i] == 0) {
        results.push_back(first);
      } else {
        Value* grown = interleaved(d, {out.begin() + static_cast<long>(stack), out.begin() + static_cast<long>(stack + appended_[i])});
        stack += appended_[i];
        std::vector<Value*> all;
        if (first.is_stacked()) all.push_back(first.value);
        for (size_t k = 0; first.list != nullptr && k < first.list->size(); ++k) all.push_back(d.unsqueeze((*first.list)[k].value, {0}));
        all.push_back(grown);
        results.push_back(Entity::stacked(all.size() == 1 ? grown : d.concat(all, 0)));
      }
    }
    for (size_t k = 0; k < parts_.scanned; ++k) results.push_back(Entity::tensor(out[tensors + k]));
    if (c.b.ok()) c.results = std::move(results);
  }

  NodeContext& c;
  const LoopParts& parts_;
  std::vector<size_t> appended_;  // elements a trip, of each carried sequence
};

// One trip, under the condition that it takes place: the condition of the next one and what it carries. False after an error.
bool write_trip(NodeContext& c, const LoopParts& p, int64_t trip, Value** active, std::vector<Entity>* carried) {
  Decompose d(c);
  ir::Graph& g = c.b.graph();
  Value* number = g.scalar<int64_t>(trip);
  if (p.trips != nullptr) *active = d.op(OpId::logical_and, {*active, d.op(OpId::greater, {p.trips, number})});
  if (*active == nullptr) return false;
  ir::Node* node = g.add_node(c.b.block(), ir::kIf, nullptr, 0, {*active}, 0, c.b.name());
  ir::Block &goes = g.add_block(node), &stays = g.add_block(node);
  std::vector<Entity> arguments{Entity::tensor(number), Entity::tensor(d.number(1, DType::boolean))}, results;
  arguments.insert(arguments.end(), carried->begin(), carried->end());
  if (!c.importer.import_body(c.scope, *p.body, goes, arguments, &results)) return c.give_up(), false;
  std::vector<Entity> unchanged{Entity::tensor(d.number(0, DType::boolean))};
  unchanged.insert(unchanged.end(), carried->begin(), carried->end());
  ir::NodeBuilder in_goes(g, goes, c.b.name()), in_stays(g, stays, c.b.name());
  if (results[0].value != nullptr && rank_of(results[0].value) != 0)
    results[0] = Entity::tensor(Decompose(c, in_goes).reshape(results[0].value, {}));
  if (!results[0].is(Kind::kTensor) || !make_alike(c, {&results, &in_goes}, {&unchanged, &in_stays}))
    return c.fail("the body does not fit"), false;
  for (Value* v : tensors_of(results)) g.add_result(goes, v);
  for (Value* v : tensors_of(unchanged)) g.add_result(stays, v);
  if (goes.results.size() != stays.results.size()) return c.fail("what the loop carries changes its form from trip to trip"), false;
  g.add_outputs(node, goes.results.size());
  std::string error;
  if (!ir::infer(*node, &error)) return c.fail(error), false;
  const std::vector<Entity> after = of_tensors(results, node->outputs);
  *active = after[0].value;
  carried->assign(after.begin() + 1, after.end());
  return true;
}

}  // namespace

void import_running_loop(NodeContext& c, const LoopParts& p, const std::string& why) {
  const LoopOutcome outcome = GrowingLoop(c, p).run();
  if (outcome != LoopOutcome::kShapesChange || !c.b.ok() || c.given_up) return;
  if (p.most_trips > kMostWritten)
    return c.fail(why + ", and only running tells how often it runs; up to " + std::to_string(p.most_trips) + " trips, expected at most " +
                      std::to_string(kMostWritten),
                  "say how often it can run: --max-trips 16");
  if (p.scanned != 0) return c.fail(why + ", only running tells how often it runs, and it gives scanned outputs");
  Value* active = p.condition != nullptr ? p.condition : Decompose(c).number(1, DType::boolean);
  std::vector<Entity> carried = p.carried;
  for (int64_t i = 0; i < p.most_trips; ++i)
    if (!write_trip(c, p, i, &active, &carried)) return;
  c.results = std::move(carried);
}

}  // namespace mote::frontends::onnx
