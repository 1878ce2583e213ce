#include "mote/compiler/ir/verify.h"

#include <unordered_map>
#include <unordered_set>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/ir/text.h"
#include "mote/core/layout.h"
#include "mote/ops/op_docs.h"

namespace mote::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  bool run(std::string* error) {
    const bool good = values() && methods() && uses();
    if (!good && error != nullptr) *error = error_;
    return good;
  }

 private:
  bool fail(const std::string& why) {
    if (error_.empty()) error_ = why;
    return false;
  }
  bool fail(const Node& n, const std::string& why) { return fail((n.name.empty() ? "" : n.name + ": ") + why + " in " + print(n)); }
  static std::string text(const Value& v) { return "%" + std::to_string(v.id) + " (" + v.name + ": " + print(v.type) + ")"; }

  bool values() {
    for (const auto& v : graph_.values()) {
      known_.insert(v.get());
      const bool stored = v->is_constant() || (v->kind == ValueKind::kState && v->data.present());
      if (stored && v->data.size != stored_bytes(*v))
        return fail("constant or state " + text(*v) + " needs " + std::to_string(stored_bytes(*v)) + " bytes, has " +
                    std::to_string(v->data.size));
      if ((stored || v->kind == ValueKind::kState) && !v->type.is_static()) return fail(text(*v) + " is stored and has a dynamic size");
      if (!v->is_constant() && v->layout != Layout::kPlain) return fail(text(*v) + " is packed and no constant");
    }
    return true;
  }
  static uint64_t stored_bytes(const Value& v) {
    if (v.layout == Layout::kPlain) return v.type.byte_size();
    const uint64_t n = static_cast<uint64_t>(v.type.count());
    if (v.type.rank() == 0 || n == 0) return 0;
    const uint32_t rows = static_cast<uint32_t>(v.type.dims[0]);
    return panel_bytes(v.layout, v.type.dtype, rows, static_cast<uint32_t>(n / rows));
  }

  bool methods() {
    for (const Method& m : graph_.methods) {
      if (m.block == nullptr || m.block->owner != nullptr || m.block->graph != &graph_)
        return fail("method " + m.name + " has no block of its own");
      if (m.input_names.size() != m.block->arguments.size()) return fail("method " + m.name + " needs a name for each input");
      if (m.output_names.size() != m.block->results.size()) return fail("method " + m.name + " needs a name for each output");
      for (const Value* v : m.block->arguments)
        if (v == nullptr || v->kind != ValueKind::kInput) return fail("an argument of method " + m.name + " is no input");
      if (!block(*m.block)) return false;
    }
    return true;
  }

  bool visible(const Value* v) const { return v->is_constant() || v->kind == ValueKind::kState || defined_.count(v) != 0; }

  bool block(const Block& b) {
    std::vector<const Value*> here;
    const auto define = [&](const Value* v) {
      here.push_back(v);
      return defined_.insert(v).second;
    };
    for (const Value* v : b.arguments)
      if (v == nullptr || known_.count(v) == 0 || v->block != &b || !define(v)) return fail("a block's argument belongs to another block");
    for (auto it = b.nodes.begin(); it != b.nodes.end(); ++it) {
      const Node& n = **it;
      if (n.block != &b || &**n.place != &n) return fail(n, "a node does not know its place");
      if (!node(n)) return false;
      for (const Value* v : n.outputs) {
        if (v == nullptr) continue;
        if (known_.count(v) == 0 || v->kind != ValueKind::kResult || v->producer != &n || !define(v))
          return fail(n, "an output has another producer");
      }
    }
    for (const Value* v : b.results) {
      if (v == nullptr || known_.count(v) == 0) return fail("a block's result is missing");
      if (!visible(v)) return fail("result " + text(*v) + " is not defined in its block");
      ++result_uses_[v];
    }
    for (const Value* v : here) defined_.erase(v);
    return true;
  }

  bool node(const Node& n) {
    for (const Value* v : n.inputs) {
      if (v == nullptr) continue;
      if (known_.count(v) == 0) return fail(n, "an operand is no value of the graph");
      if (!visible(v)) return fail(n, "operand " + text(*v) + " is used before it is defined");
      ++users_[v][&n];
    }
    if (!arity(n)) return false;
    for (const auto& b : n.blocks)
      if (b->owner != &n || b->graph != &graph_ || !block(*b)) return fail(n, "a block does not know its owner");
    if (n.op == kAssign) return true;
    return n.op == kCustom || types(n);
  }

  bool arity(const Node& n) {
    const size_t in = n.inputs.size(), out = n.outputs.size();
    if (n.op == kIf || n.op == kLoop) return control(n);
    if (!n.blocks.empty()) return fail(n, "only control nodes have blocks");
    if (n.op == kCustom) return true;
    if (n.op == kAssign) {
      if (in != 2 || out != 0 || n.inputs[0] == nullptr || n.inputs[1] == nullptr || n.inputs[0]->kind != ValueKind::kState)
        return fail(n, "assign takes a state and a value");
      return n.inputs[0]->type == n.inputs[1]->type || fail(n, "a state keeps its type");
    }
    const OpDoc* doc = find_op_doc(n.op);
    if (doc == nullptr) return fail(n, "unknown operator " + std::to_string(n.op));
    if (n.attrs.size() > doc->attrs_size) return fail(n, "attributes have " + std::to_string(n.attrs.size()) + " bytes");
    if (in < doc->info.min_in_ || (doc->info.max_in_ != kVariadic && in > doc->info.max_in_)) return fail(n, "wrong number of inputs");
    if (out < doc->info.min_out_ || (doc->info.max_out_ != kVariadic && out > doc->info.max_out_))
      return fail(n, "wrong number of outputs");
    for (size_t i = 0; i < out; ++i)
      if (n.outputs[i] == nullptr && (doc->info.optional_out_ & operand_bit(static_cast<uint32_t>(i))) == 0)
        return fail(n, "an output is missing");
    return true;
  }

  bool control(const Node& n) {
    if (n.op == kIf) {
      if (n.inputs.size() != 1 || n.inputs[0] == nullptr || n.inputs[0]->type.dtype != DType::boolean) return fail(n, "if takes a bool");
      if (n.blocks.size() != 2) return fail(n, "if has two blocks");
      for (const auto& b : n.blocks)
        if (!b->arguments.empty() || b->results.size() != n.outputs.size()) return fail(n, "a block of if gives the node's outputs");
      return true;
    }
    if (n.blocks.size() != 1 || n.inputs.size() < 2 || n.max_trips < 0) return fail(n, "loop has one block, a trip count and a condition");
    const Block& b = *n.blocks[0];
    const size_t carried = n.inputs.size() - 2;
    if (b.arguments.size() != n.inputs.size()) return fail(n, "the block's arguments are trip, condition and what is carried");
    if (b.results.size() != n.outputs.size() + 1 || n.outputs.size() < carried)
      return fail(n, "the block gives condition, carried and scanned values");
    if (b.arguments[0]->type.dtype != DType::s64 || b.arguments[1]->type.dtype != DType::boolean)
      return fail(n, "the block's first arguments are an s64 and a bool");
    for (size_t i = 0; i < carried; ++i) {
      const Value *in = n.inputs[i + 2], *argument = b.arguments[i + 2], *result = b.results[i + 1];
      if (in == nullptr || result == nullptr || in->type.dtype != argument->type.dtype || in->type.rank() != argument->type.rank() ||
          result->type.dtype != argument->type.dtype || result->type.rank() != argument->type.rank())
        return fail(n, "carried value " + std::to_string(i) + " changes its type");
    }
    return true;
  }

  // infer() writes types and facts; the old ones are put back.
  bool types(const Node& n) {
    struct Old {
      Value* value;
      Type type;
      std::vector<Facts> facts;
    };
    std::vector<Old> old;
    for (Value* v : n.outputs)
      if (v != nullptr) old.push_back({v, v->type, v->facts});
    std::string why;
    const bool good = infer(const_cast<Node&>(n), &why);
    std::string wrong;
    for (Old& o : old) {
      if (good && wrong.empty() && o.value->type != o.type) wrong = "infer() says " + print(o.value->type) + " of " + text(*o.value);
      o.value->type = o.type;
      o.value->facts = std::move(o.facts);
    }
    if (!good) return fail(n, why);
    return wrong.empty() || fail(n, wrong);
  }

  // The users and counts that values hold are those that were met.
  bool uses() {
    for (const auto& v : graph_.values()) {
      const auto& met = users_[v.get()];
      size_t count = 0;
      for (const auto& [node, times] : met) count += times;
      if (v->users.size() != count)
        return fail(text(*v) + " lists " + std::to_string(v->users.size()) + " users, has " + std::to_string(count));
      std::unordered_map<const Node*, size_t> listed;
      for (const Node* u : v->users) ++listed[u];
      if (listed != met) return fail(text(*v) + " lists a user that does not use it");
      if (v->result_uses != result_uses_[v.get()]) return fail(text(*v) + " has a wrong count of results");
    }
    return true;
  }

  const Graph& graph_;
  std::unordered_set<const Value*> known_, defined_;
  std::unordered_map<const Value*, std::unordered_map<const Node*, size_t>> users_;
  std::unordered_map<const Value*, int> result_uses_;
  std::string error_;
};

}  // namespace

bool verify(const Graph& graph, std::string* error) { return Verifier(graph).run(error); }

}  // namespace mote::ir
