#include "mote/compiler/emit/tosa/blocks.h"

#include "mote/compiler/emit/tosa/match.h"
#include "mote/compiler/ir/text.h"

namespace mote::emit::tosa {
namespace {

// The nodes of a block that something written reads, in order, and the values from outside of it that these read. A group that is one
// operator in TOSA hides what lies inside.
struct Needed {
  std::vector<const Node*> nodes;
  std::vector<const Value*> outside;
};

Needed needed_of(const ir::Block& block) {
  std::set<const Value*> wanted(block.results.begin(), block.results.end()), inside(block.arguments.begin(), block.arguments.end());
  std::vector<const Value*> order(block.results.begin(), block.results.end());
  Needed all;
  const auto want = [&](const Value* v) {
    if (v != nullptr && wanted.insert(v).second) order.push_back(v);
  };
  for (auto at = block.nodes.rbegin(); at != block.nodes.rend(); ++at) {
    const Node& n = **at;
    inside.insert(n.outputs.begin(), n.outputs.end());
    const bool control = !n.is_operator();
    if (!control && std::none_of(n.outputs.begin(), n.outputs.end(), [&](const Value* v) { return wanted.count(v) != 0; })) continue;
    all.nodes.push_back(&n);
    const std::vector<const Value*> matched = control ? std::vector<const Value*>{} : matched_operands(n);
    for (const Value* v : matched) want(v);
    for (size_t i = 0; matched.empty() && i < n.inputs.size(); ++i) want(n.inputs[i]);
    for (const auto& inner : n.blocks)
      for (const Value* v : needed_of(*inner).outside) want(v);
  }
  std::reverse(all.nodes.begin(), all.nodes.end());
  for (const Value* v : order)
    if (inside.count(v) == 0 && !v->is_constant() && std::find(all.outside.begin(), all.outside.end(), v) == all.outside.end())
      all.outside.push_back(v);
  return all;
}

std::string name_of(const Node& n) {
  if (n.op == ir::kIf) return "if";
  if (n.op == ir::kLoop) return "loop";
  if (n.op == ir::kAssign) return "assign";
  if (!n.is_operator()) return "custom";
  return ir::op_name(n.op);
}

std::string why_refused(const Node& n) {
  if (n.op == ir::kAssign) return "TOSA's profiles have no states";
  switch (static_cast<OpId>(n.op)) {
    case OpId::dynamic_quantize: return "the scale is computed while running; zero points and multipliers of TOSA are constants";
    case OpId::lstm:
    case OpId::gru:
    case OpId::rnn:
    case OpId::q_lstm: return "TOSA has no recurrent operators; a model that writes out the steps can be written";
    case OpId::sort:
    case OpId::top_k:
    case OpId::non_max_suppression:
    case OpId::detection_postprocess: return "TOSA does not sort";
    default: return "TOSA has no operator for it, and none is made of others";
  }
}

std::vector<const Value*> captured_by(const Node& n) {
  std::vector<const Value*> all;
  for (const auto& block : n.blocks)
    for (const Value* v : needed_of(*block).outside)
      if (std::find(all.begin(), all.end(), v) == all.end()) all.push_back(v);
  return all;
}

}  // namespace

// What depends on a refused node is judged too, where its type has a place in TOSA.
void Blocks::stand_in(const Node& n) {
  for (const Value* v : n.outputs) {
    const fb::DType type = v == nullptr ? fb::DType::UNKNOWN : type_of(v->type.dtype);
    if (type == fb::DType::UNKNOWN || type == fb::DType::INT48) refused_.insert(v);
    else w_.bind(v, {"refused", type, v->type.dims});
  }
}

bool Blocks::report(const std::string& where) {
  const std::string what = w_.take_error();
  // The steps of an unrolled loop have one name, and one reason.
  const bool told = !problems_->empty() && problems_->back().where == where && problems_->back().what == what;
  if (!what.empty() && !told) problems_->push_back({where, what, ""});
  return what.empty();
}

bool Blocks::lower(const Node& n) {
  if (n.op == ir::kIf) return lower_if(n), true;
  if (n.op == ir::kLoop) return lower_loop(n), true;
  if (!n.is_operator()) return false;
  return lower_elementwise(w_, n) || lower_functions(w_, n) || lower_reductions(w_, n) || lower_moves(w_, n) || lower_products(w_, n) ||
         lower_pools(w_, n) || lower_quantized(w_, n) || lower_q_softmax(w_, n) || lower_resize(w_, n) || lower_transforms(w_, n);
}

void Blocks::write(const ir::Block& block) {
  for (const Node* n : needed_of(block).nodes) {
    const std::vector<const Value*> matched = n->is_operator() ? matched_operands(*n) : std::vector<const Value*>{};
    const auto bad = [&](const Value* v) { return refused_.count(v) != 0; };
    bool fine = matched.empty() ? std::none_of(n->inputs.begin(), n->inputs.end(), bad) : std::none_of(matched.begin(), matched.end(), bad);
    if (fine) {
      if (!matched.empty()) lower_matched(w_, *n);
      else if (!lower(*n)) w_.fail(why_refused(*n));
      fine = report(n->name + " (" + name_of(*n) + ")");
      if (w_.take_rounding() && fine) rounding_.push_back(n->name + " (" + name_of(*n) + ")");
    }
    if (!fine) stand_in(*n);
  }
}

std::vector<Operand> Blocks::operands(const std::vector<const Value*>& values) {
  std::vector<Operand> all;
  for (const Value* v : values) {
    all.push_back(w_.of(v));
    if (refused_.count(v) != 0 || all.back().type == fb::DType::INT48) w_.fail("a value of 64 bits does not enter a region");
    if (v->kind == ir::ValueKind::kState) w_.fail("a region reads a state");
  }
  return all;
}

namespace {

// Conditions are single elements of rank 1 between regions, and scalars in the graph.
Operand as_line(Writer& w, const Operand& x) { return w.ok() ? w.reshape(x, {1}) : x; }

}  // namespace

void Blocks::lower_if(const Node& n) {
  const std::vector<const Value*> captured = captured_by(n);
  std::vector<Operand> in{as_line(w_, w_.of(n.inputs[0]))}, out;
  const std::vector<Operand> more = operands(captured);
  if (!w_.ok()) return;
  in.insert(in.end(), more.begin(), more.end());
  std::string names[2];
  for (size_t i = 0; i < 2; ++i) {
    names[i] = w_.open_region(i == 0 ? "then" : "else");
    for (size_t k = 0; k < captured.size(); ++k) w_.bind(captured[k], w_.region_input(more[k]));
    write(*n.blocks[i]);
    std::vector<Operand> results;
    for (const Value* v : n.blocks[i]->results) results.push_back(w_.of(v));
    if (w_.ok())
      for (const Operand& y : results) w_.region_output(y);
    w_.close_region();
    if (i == 1 && w_.ok())
      for (size_t k = 0; k < results.size(); ++k)
        if (results[k].type != out[k].type || results[k].dims != out[k].dims) w_.fail("the branches give other types or sizes");
    out = results;
  }
  for (const Operand& y : out)
    if (y.type == fb::DType::INT48) w_.fail("a value of 64 bits does not leave a region");
  if (!w_.ok()) return;
  const auto kind = fb::CreateCondIfAttributeDirect(w_.b, names[0].c_str(), names[1].c_str()).Union();
  const std::vector<Operand> y = w_.op_of_many(fb::Op::COND_IF, fb::Attribute::CondIfAttribute, kind, in, out);
  for (size_t i = 0; i < y.size(); ++i)
    if (n.outputs[i] != nullptr) w_.bind(n.outputs[i], y[i]);
}

// Carried: whether to go on, the number of trips so far, what the loop carries, what it reads from outside. max_trips is a bound of
// memory and time, not of what is computed, unless nothing else ends the loop.
void Blocks::lower_loop(const Node& n) {
  const ir::Block& body = *n.blocks[0];
  const size_t carried = n.inputs.size() - 2;
  if (n.outputs.size() != carried) w_.fail("a loop that stacks results has no form in TOSA");
  std::vector<const Value*> captured = captured_by(n);
  const Value* trips = n.inputs[0];
  std::vector<int64_t> known{n.max_trips};
  if (!w_.ok()) return;
  std::vector<Operand> in;
  in.push_back(n.inputs[1] != nullptr ? as_line(w_, w_.of(n.inputs[1])) : w_.numbers(fb::DType::BOOL, {1}, {1}));
  in.push_back(w_.zero(fb::DType::INT32));
  if (trips != nullptr) in.push_back(as_line(w_, w_.of(trips)));
  else in.push_back(w_.zero(fb::DType::INT32, static_cast<double>(n.inputs[1] == nullptr ? n.max_trips : INT32_MAX)));
  if (w_.ok() && in.back().type != fb::DType::INT32) w_.fail("the number of trips has 64 bits");
  for (size_t i = 0; i < carried; ++i) in.push_back(w_.of(n.inputs[i + 2]));
  for (const Operand& x : operands(captured)) in.push_back(x);
  for (const Operand& x : in)
    if (x.type == fb::DType::INT48) w_.fail("a value of 64 bits does not enter a region");
  if (!w_.ok()) return;

  const std::string test = w_.open_region("test");
  std::vector<Operand> at;
  for (const Operand& x : in) at.push_back(w_.region_input(x));
  const Operand more = w_.binary(fb::Op::GREATER, at[2], at[1]);
  w_.region_output(w_.binary(fb::Op::LOGICAL_AND, at[0], more));
  w_.close_region();

  const std::string trip = w_.open_region("body");
  at.clear();
  for (const Operand& x : in) at.push_back(w_.region_input(x));
  w_.bind(body.arguments[0], w_.reshape(at[1], {}));
  w_.bind(body.arguments[1], w_.reshape(at[0], {}));
  for (size_t i = 0; i < carried; ++i) w_.bind(body.arguments[i + 2], at[i + 3]);
  for (size_t i = 0; i < captured.size(); ++i) w_.bind(captured[i], at[i + 3 + carried]);
  write(body);
  std::vector<Operand> results;
  for (const Value* v : body.results) results.push_back(w_.of(v));
  for (size_t i = 0; w_.ok() && i < carried; ++i)
    if (results[i + 1].type != in[i + 3].type || results[i + 1].dims != in[i + 3].dims) w_.fail("what the loop carries changes its type");
  if (w_.ok()) {
    w_.region_output(w_.reshape(results[0], {1}));
    w_.region_output(w_.binary(fb::Op::ADD, at[1], w_.zero(fb::DType::INT32, 1)));
    w_.region_output(at[2]);
    for (size_t i = 0; i < carried; ++i) w_.region_output(results[i + 1]);
    for (size_t i = 3 + carried; i < at.size(); ++i) w_.region_output(at[i]);
  }
  w_.close_region();
  if (!w_.ok()) return;
  const auto kind = fb::CreateWhileLoopAttributeDirect(w_.b, test.c_str(), trip.c_str()).Union();
  const std::vector<Operand> y = w_.op_of_many(fb::Op::WHILE_LOOP, fb::Attribute::WhileLoopAttribute, kind, in, in);
  for (size_t i = 0; i < carried; ++i)
    if (n.outputs[i] != nullptr) w_.bind(n.outputs[i], y[i + 3]);
}

}  // namespace mote::emit::tosa
