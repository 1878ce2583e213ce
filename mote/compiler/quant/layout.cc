#include "mote/compiler/quant/layout.h"

#include <algorithm>

#include "mote/compiler/passes/quantized.h"
#include "mote/compiler/quant/prepare.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/common/reduce.h"

namespace mote::quant {
namespace {

using ir::Block;
using ir::Node;
using ir::Value;

bool is_f32(const Value* v) { return v != nullptr && v->type.dtype == DType::f32; }

bool is_binary(const Node& n) {
  return (n.is(OpId::add) || n.is(OpId::sub) || n.is(OpId::mul)) && is_f32(n.inputs[0]) && is_f32(n.inputs[1]);
}
bool is_pool(const Node& n) { return n.is(OpId::avg_pool) && n.attributes<ops::avg_pool::Attrs>().divisor_override == 0; }
bool is_mean(const Node& n) { return (n.is(OpId::reduce_mean) || n.is(OpId::reduce_sum)) && n.inputs.size() == 1; }
bool is_move(const Node& n) { return passes::moved_operands(n) > 0 && is_f32(n.inputs[0]); }

// Operators that have an integer form whose inputs are integers too.
bool has_integer_form(const Node& n) {
  if (!n.is_operator() || n.outputs.empty() || !is_f32(n.outputs[0]) || !passes::reads_no_state(n)) return false;
  return is_move(n) || is_binary(n) || is_pool(n) || is_mean(n) || passes::is_function(n);
}

// The operands that such an operator reads as 8-bit numbers.
std::vector<Value*> operands_of(const Node& n) {
  const size_t count = is_move(n) ? passes::moved_operands(n) : n.inputs.size();
  std::vector<Value*> all;
  for (size_t i = 0; i < count; ++i)
    if (is_f32(n.inputs[i]) && !n.inputs[i]->is_constant()) all.push_back(n.inputs[i]);
  return all;
}

bool is_clamp(const Node& n) { return n.is(OpId::relu) || (n.is(OpId::clip) && n.inputs.size() == 1); }

class LayoutPlanner {
 public:
  LayoutPlanner(const ir::Method& method, const std::set<int>& in_float, bool fuse_residuals)
      : block_(*method.block), in_float_(in_float), fuse_residuals_(fuse_residuals) {}

  IntegerLayout run() {
    for (auto it = block_.nodes.rbegin(); it != block_.nodes.rend(); ++it) select(**it);
    std::reverse(out_.products.begin(), out_.products.end());
    for (Value* v : block_.arguments) add(v);
    for (const auto& n : block_.nodes) {
      for (Value* v : n->outputs)
        if (v != nullptr) add(v);
      if (has_integer_form(*n) && is_move(*n)) join(*n);
    }
    return std::move(out_);
  }

 private:
  void select(Node& n) {
    if (!n.is_operator()) return;
    if (can_be_integer(n) && in_float_.count(n.outputs[0]->id) == 0) {
      out_.products.push_back(&n);
      products_.insert(&n);
      wanted_.insert(n.inputs[0]);
      if (Node* sum = residual_add_behind(n); sum != nullptr && residual_adds_.insert(sum).second) before_residual_.insert(n.outputs[0]);
      return;
    }
    const auto is_wanted = [&](const Value* v) { return wanted_.count(v) > 0; };
    if (!has_integer_form(n) || !std::any_of(n.outputs.begin(), n.outputs.end(), is_wanted)) return;
    // All moved operands must be quantized: constants among them are not.
    const std::vector<Value*> operands = operands_of(n);
    if (operands.empty() || (is_move(n) && operands.size() != passes::moved_operands(n))) return;
    for (Value* v : operands) wanted_.insert(v);
    for (Value* v : n.outputs) wanted_.insert(v);
    followers_.insert(&n);
    for (size_t i = 0; i < 2 && is_binary(n); ++i)
      if (n.inputs[i]->is_constant() && n.inputs[i]->type.count() > 1) out_.constants.emplace_back(&n, i);
  }

  // The residual addition that is the only reader of a convolution, with operands of one shape: fused into the convolution, which adds the
  // residual before its result is quantized.
  Node* residual_add_behind(const Node& n) const {
    const Value* y = n.outputs[0];
    if (!fuse_residuals_ || !n.is(OpId::conv) || !y->has_one_use() || y->users.empty()) return nullptr;
    Node* user = y->users[0];
    if (user->block != n.block || !user->is(OpId::add) || followers_.count(user) == 0 || !y->type.is_static()) return nullptr;
    for (const Value* v : user->inputs)
      if (v->is_constant() || v->type != y->type || v->kind == ir::ValueKind::kState) return nullptr;
    return user->inputs[0] != user->inputs[1] && user->outputs[0]->type == y->type ? user : nullptr;
  }

  // A value inside a future integer operator: before a clamp, or between functions that become one lookup table.
  bool absorbed(const Value* v) {
    const Node* maker = v->producer;
    if (maker == nullptr || !v->has_one_use() || v->users.empty()) return false;
    if (before_residual_.count(v) > 0) return true;
    const Node* user = v->users[0];
    if (user->block != maker->block || followers_.count(user) == 0) return false;
    const bool stage = products_.count(maker) > 0 || (followers_.count(maker) > 0 && (is_binary(*maker) || is_pool(*maker)));
    if (stage && is_clamp(*user)) {
      clamps_.insert(user);
      return true;
    }
    return followers_.count(maker) > 0 && passes::is_function(*maker) && clamps_.count(maker) == 0 && passes::is_function(*user);
  }

  void add(Value* v) {
    if (wanted_.count(v) > 0 && !absorbed(v)) out_.values.push_back(v);
  }

  void join(const Node& n) {
    if (followers_.count(&n) == 0) return;
    const std::vector<Value*> operands = operands_of(n);
    if (n.is(OpId::concat)) {
      std::vector<int> all = {n.outputs[0]->id};
      for (const Value* v : operands) all.push_back(v->id);
      out_.joins.push_back(std::move(all));
      return;
    }
    for (const Value* v : n.outputs)
      if (v != nullptr) out_.same[v->id] = operands[0]->id;
  }

  const Block& block_;
  const std::set<int>& in_float_;
  const bool fuse_residuals_;
  std::set<const Node*> products_, followers_, clamps_, residual_adds_;
  std::set<const Value*> wanted_, before_residual_;
  IntegerLayout out_;
};

}  // namespace

IntegerLayout integer_layout(const ir::Method& method, const std::set<int>& in_float, bool fuse_residuals) {
  return LayoutPlanner(method, in_float, fuse_residuals).run();
}

std::vector<ir::Value*> observed_values(const ir::Method& method) {
  std::vector<Value*> all;
  std::set<const Value*> known;
  const auto add = [&](Value* v) {
    if (is_f32(v) && !v->is_constant() && v->kind != ir::ValueKind::kState && v->type.count() > 0 && known.insert(v).second)
      all.push_back(v);
  };
  for (const auto& n : method.block->nodes) {
    if (!can_be_integer(*n) && !has_integer_form(*n)) continue;
    for (Value* v : can_be_integer(*n) ? std::vector<Value*>{n->inputs[0]} : operands_of(*n)) add(v);
    for (Value* v : n->outputs) add(v);
  }
  return all;
}

}  // namespace mote::quant
