// Transposes pushed through the nodes between them and cancelled. Front ends write transpose -> spatial operator -> transpose; what
// lies between two such groups (element-wise operators, concat, reductions, reshapes ...) can as well work on transposed data.
//
// A value that can be had transposed for free or through such nodes has an "other form", transpose(v, other[v]). Every node that can
// work on the other form chooses one; where the choices of a value's maker and user differ, the value is transposed. The choice that
// moves the fewest bytes is a minimum cut. Works block by block; what leaves a block keeps its layout.

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/min_cut.h"
#include "mote/compiler/passes/permute.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::passes {
namespace {

class Layouts {
 public:
  Layouts(Graph& graph, Block& block) : graph_(graph), block_(block) {}

  bool run() {
    find_forms();
    if (other_.empty() || !choose()) return false;
    return rewrite();
  }

 private:
  // A node that may choose.
  struct Choice {
    Permuted how;
    bool transpose = false;  // itself a transpose: in the other form it does nothing
    int place = 0;           // in the cut
    bool taken = false;
  };

  static int64_t cost(const Value& v, const Dims& perm) {
    if (v.is_constant() || is_trivial(v.type, perm)) return 0;
    return 1 + static_cast<int64_t>(std::min<uint64_t>(v.type.byte_size(), uint64_t{1} << 40));
  }
  static Dims identity(int rank) {
    Dims perm;
    for (int k = 0; k < rank; ++k) perm.push_back(k);
    return perm;
  }
  bool has_form(const Value* v, const Dims& perm) const {
    const auto it = other_.find(v);
    return it != other_.end() && it->second == perm;
  }

  void find_forms() {
    for (const auto& held : block_.nodes) {
      Node& n = *held;
      if (n.is(OpId::transpose) && reads_no_state(n)) {
        transpose_form(n);
        continue;
      }
      // The largest input that has another form decides.
      std::optional<size_t> main;
      for (size_t i = 0; i < n.inputs.size(); ++i)
        if (other_.count(n.inputs[i]) != 0 && (!main || n.inputs[i]->type.byte_size() > n.inputs[*main]->type.byte_size())) main = i;
      if (!main) continue;
      const std::optional<Permuted> how = permuted(n, *main, other_[n.inputs[*main]]);
      if (!how) continue;
      for (size_t o = 0; o < n.outputs.size(); ++o)
        if (n.outputs[o] != nullptr) other_[n.outputs[o]] = how->outputs[o];
      choices_[&n].how = *how;
    }
  }

  void transpose_form(Node& n) {
    const Dims perm = permutation(n);
    const auto from = other_.find(n.inputs[0]);
    if (from == other_.end()) {
      other_[n.outputs[0]] = inverse(perm);
      sources_.push_back(&n);
      return;
    }
    // The other form of the result is that of the input.
    const Dims back = inverse(perm);
    Dims form;
    for (const int32_t axis : from->second) form.push_back(back[static_cast<size_t>(axis)]);
    if (is_identity(form)) {
      ends_.insert(&n);
      return;
    }
    Choice& c = choices_[&n];
    // Channel shuffles: nobody can use that form, but the transpose can be done in the layout of its input.
    c.transpose = accepted(*n.outputs[0], form) || !accepted(*n.outputs[0], from->second);
    if (!c.transpose) form = from->second;
    other_[n.outputs[0]] = form;
    c.how = {{from->second}, {form}, {}};
    ops::transpose::Attrs a;
    a.rank = static_cast<int32_t>(perm.size());
    const Dims place = inverse(from->second);
    for (size_t i = 0; i < perm.size(); ++i) a.perm[i] = place[static_cast<size_t>(perm[static_cast<size_t>(from->second[i])])];
    const auto* bytes = reinterpret_cast<const uint8_t*>(&a);
    c.how.attrs.assign(bytes, bytes + sizeof a);
  }
  // Some user can work on this form of a value.
  static bool accepted(const Value& v, const Dims& form) {
    return std::any_of(v.users.begin(), v.users.end(), [&](const Node* user) {
      const auto i = std::find(user->inputs.begin(), user->inputs.end(), &v) - user->inputs.begin();
      return user->is(OpId::transpose) || permuted(*user, static_cast<size_t>(i), form).has_value();
    });
  }

  // --- the cut: the source's side works on the other form ---
  int maker_of(const Value* v) const {
    const auto it = v->producer == nullptr ? choices_.end() : choices_.find(v->producer);
    if (it != choices_.end()) return it->second.place;
    return other_.count(v) != 0 ? MinCut::kSource : MinCut::kSink;
  }

  // What it costs when maker and users of a value differ; paid once for all users.
  void connect(MinCut& cut, const Value* v) {
    const int maker = maker_of(v), wants_other = cut.add_node(), wants_own = cut.add_node();
    const int64_t bytes = cost(*v, other_[v]);
    cut.add_edge(wants_other, maker, bytes);
    cut.add_edge(maker, wants_own, bytes);
    for (const Node* user : v->users) {
      const auto it = choices_.find(user);
      if (ends_.count(user) != 0) {
        cut.add_edge(MinCut::kSource, wants_other, MinCut::kNever);
      } else if (it == choices_.end()) {
        cut.add_edge(wants_own, MinCut::kSink, MinCut::kNever);
      } else if (it->second.transpose) {
        cut.add_edge(it->second.place, wants_other, MinCut::kNever);
        cut.add_edge(MinCut::kSource, it->second.place, bytes);
      } else {
        const Dims& wanted = wanted_form(*user, it->second, v);
        if (has_form(v, wanted)) cut.add_edge(it->second.place, wants_other, MinCut::kNever);
        else if (!wanted.empty()) cut.add_edge(it->second.place, MinCut::kSink, cost(*v, wanted));
        cut.add_edge(wants_own, it->second.place, MinCut::kNever);
      }
    }
    if (v->result_uses > 0) cut.add_edge(wants_own, MinCut::kSink, MinCut::kNever);
  }
  static const Dims& wanted_form(const Node& user, const Choice& c, const Value* v) {
    const size_t i = static_cast<size_t>(std::find(user.inputs.begin(), user.inputs.end(), v) - user.inputs.begin());
    return c.how.inputs[i];
  }

  bool choose() {
    MinCut cut;
    for (const auto& held : block_.nodes)
      if (const auto it = choices_.find(held.get()); it != choices_.end()) it->second.place = cut.add_node();
    std::vector<const Value*> formed;
    for (const auto& held : block_.nodes)
      for (const Value* v : held->outputs)
        if (v != nullptr && other_.count(v) != 0) formed.push_back(v);
    for (const Value* v : formed) connect(cut, v);
    // Operands without another form cost when they have to get one.
    for (const auto& held : block_.nodes) {
      const auto it = choices_.find(held.get());
      if (it == choices_.end() || it->second.transpose) continue;
      for (size_t i = 0; i < held->inputs.size(); ++i) {
        const Value* v = held->inputs[i];
        const Dims& wanted = it->second.how.inputs[i];
        if (v == nullptr || wanted.empty() || other_.count(v) != 0) continue;
        const bool same_rank = v->type.rank() == static_cast<int>(wanted.size());
        cut.add_edge(it->second.place, MinCut::kSink,
                     same_rank          ? cost(*v, wanted)
                     : v->is_constant() ? 0
                                        : 1 + static_cast<int64_t>(v->type.byte_size()));
      }
    }
    const std::vector<bool> side = cut.source_side();
    bool any = !ends_.empty();
    for (auto& [node, c] : choices_) {
      c.taken = side[static_cast<size_t>(c.place)];
      any |= c.taken;
    }
    return any;
  }

  // --- rewriting ---
  bool taken(const Node* n) const {
    const auto it = choices_.find(n);
    return it != choices_.end() && it->second.taken;
  }

  // transpose(v, perm), made in front of `before` unless it is there already. Null when it cannot be. Forms of a value that has left its
  // own stand where it was made, for all its users.
  Value* form(Value* v, const Dims& perm, Node* before) {
    const auto key = std::make_pair(static_cast<const Value*>(v), perm);
    if (const auto it = made_.find(key); it != made_.end()) return it->second;
    const bool left = taken(v->producer);
    NodeBuilder b(graph_, block_, v->producer != nullptr ? v->producer->name : before->name, left ? v->producer : before);
    Value* x = v;
    if (!left && v->type.rank() < static_cast<int>(perm.size())) {
      std::vector<int64_t> front;
      for (int i = v->type.rank(); i < static_cast<int>(perm.size()); ++i) front.push_back(static_cast<int64_t>(front.size()));
      x = b.unsqueeze(v, front);
    }
    Value* y = nullptr;
    if (left && v->type.rank() == static_cast<int>(perm.size())) {
      // From the form it has: axis i of transpose(v, perm) is where the other form has axis perm[i].
      const Dims& own = other_.at(v);
      const Dims place = inverse(own);
      Dims step;
      for (const int32_t p : perm) step.push_back(place[static_cast<size_t>(p)]);
      y = b.transpose(made_.at({v, own}), step);
    } else if (left) {
      Value* plain = form(v, identity(v->type.rank()), before);
      y = plain == nullptr ? nullptr : form(plain, perm, before);
    } else if (x != nullptr) {
      y = b.transpose(x, perm);
    }
    return made_[key] = y;
  }

  bool rewrite() {
    bool changed = false;
    for (Node* n : sources_) made_[{n->outputs[0], other_[n->outputs[0]]}] = n->inputs[0];
    std::vector<Node*> order;
    for (const auto& held : block_.nodes) order.push_back(held.get());
    for (Node* n : order) {
      if (taken(n) && !build(*n)) choices_[n].taken = false;
      if (ends_.count(n) != 0 && !taken(n->inputs[0]->producer))
        made_.emplace(std::make_pair(n->inputs[0], other_[n->inputs[0]]), n->outputs[0]);
    }
    // Backwards, so that what used a value in its old form has gone when its turn comes.
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      Node* n = *it;
      if (ends_.count(n) != 0) changed |= finish(*n);
      if (taken(n)) changed |= retire(*n);
    }
    return changed;
  }

  bool build(Node& n) {
    const Choice& c = choices_[&n];
    if (c.transpose) {
      Value* x = form(n.inputs[0], c.how.inputs[0], &n);
      if (x != nullptr) made_[{n.outputs[0], c.how.outputs[0]}] = x;
      return x != nullptr;
    }
    std::vector<Value*> inputs = n.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr) continue;
      // What another node has given up in its own form is made again from the other.
      if (c.how.inputs[i].empty() && !taken(inputs[i]->producer)) continue;
      const bool plain = c.how.inputs[i].empty();
      inputs[i] = form(inputs[i], plain ? identity(inputs[i]->type.rank()) : c.how.inputs[i], &n);
      if (inputs[i] == nullptr) return false;
    }
    Node* m = graph_.add_node(block_, n.op, c.how.attrs.data(), c.how.attrs.size(), inputs, n.outputs.size(), n.name, &n);
    for (size_t o = 0; o < n.outputs.size(); ++o) {
      if (n.outputs[o] != nullptr) continue;
      m->outputs[o]->producer = nullptr;
      m->outputs[o] = nullptr;
    }
    if (!fits(n, *m, c)) {
      graph_.erase(m);
      return false;
    }
    for (size_t o = 0; o < n.outputs.size(); ++o)
      if (n.outputs[o] != nullptr) made_[{n.outputs[o], c.how.outputs[o]}] = m->outputs[o];
    return true;
  }
  static bool fits(const Node& old, Node& made, const Choice& c);

  // A transpose that leads from the other form back: its input in that form is the result.
  bool finish(Node& n) {
    const auto it = made_.find({n.inputs[0], other_[n.inputs[0]]});
    if (it == made_.end() || it->second == nullptr || it->second == n.outputs[0]) return false;
    if (it->second->type != n.outputs[0]->type || it->second->kind == ir::ValueKind::kState) return false;
    graph_.replace_uses(n.outputs[0], it->second);
    graph_.erase(&n);
    return true;
  }
  // Whoever still wants the old form gets a transpose.
  bool retire(Node& n) {
    for (size_t o = 0; o < n.outputs.size(); ++o) {
      Value* v = n.outputs[o];
      if (v == nullptr || v->unused()) continue;
      Value* back = form(v, identity(v->type.rank()), &n);
      if (back == nullptr) return false;
      if (back->name.empty()) back->name = v->name;
      back->quant = v->quant;
      graph_.replace_uses(v, back);
    }
    graph_.erase(&n);  // what it used may be on the list too; dce takes the rest
    return true;
  }

  Graph& graph_;
  Block& block_;
  std::unordered_map<const Value*, Dims> other_;
  std::unordered_map<const Node*, Choice> choices_;
  std::vector<Node*> sources_;            // transposes whose input is the other form of their result
  std::unordered_set<const Node*> ends_;  // transposes that give the other form of their input
  std::map<std::pair<const Value*, Dims>, Value*> made_;
};

bool Layouts::fits(const Node& old, Node& made, const Choice& c) {
  std::string ignored;
  if (!ir::infer(made, &ignored)) return false;
  for (size_t o = 0; o < old.outputs.size(); ++o)
    if (old.outputs[o] != nullptr && made.outputs[o]->type != permuted_type(old.outputs[o]->type, c.how.outputs[o])) return false;
  return true;
}

}  // namespace

bool channels_last(Graph& graph, const PassOptions&) {
  bool changed = false;
  each_block(graph, [&](Block& b) { changed |= Layouts(graph, b).run(); });
  return changed;
}

}  // namespace mote::passes
