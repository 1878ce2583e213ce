#include "mote/compiler/schedule/order_model.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "mote/compiler/ir/evaluate.h"

namespace mote::schedule {
namespace {

// Values of outer blocks that a node reads, those its own blocks read included.
void reads_of(const ir::Node& node, std::set<const ir::Value*>* out) {
  for (const ir::Value* v : node.inputs)
    if (v != nullptr) out->insert(v);
  for (const auto& b : node.blocks) {
    for (const auto& n : b->nodes) reads_of(*n, out);
    out->insert(b->results.begin(), b->results.end());
  }
}

class Maker {
 public:
  Maker(OrderModel& model, const ir::Block& block, const OrderOptions& options) : m_(model), block_(block), options_(options) {}

  void run() {
    for (const auto& n : block_.nodes) add(*n);
    join_views();
    group();
    for (size_t i = 0; i < m_.items.size(); ++i) depend(i);
    for (auto& item : m_.items) {
      std::sort(item.successors.begin(), item.successors.end());
      item.successors.erase(std::unique(item.successors.begin(), item.successors.end()), item.successors.end());
    }
    for (const auto& item : m_.items)
      for (int32_t f : item.successors) ++m_.items[static_cast<size_t>(f)].dependencies;
  }

 private:
  void add(const ir::Node& node) {
    OrderModel::Item item;
    item.node = &node;
    for (const auto& b : node.blocks) {
      const OrderModel inner(*b, options_);
      std::vector<int32_t> order(inner.items.size());
      std::iota(order.begin(), order.end(), 0);
      item.nested_bytes = std::max(item.nested_bytes, inner.peak(order));
    }
    item.in_place = options_.in_place && (ir::op_flags(node) & (kElementwise | kStateUpdate)) != 0;
    for (const ir::Value* v : node.outputs)
      if (v != nullptr) {
        number_[v] = static_cast<int32_t>(values_.size());
        values_.push_back(v);
        parent_.push_back(static_cast<int32_t>(parent_.size()));
      }
    m_.items.push_back(std::move(item));
  }

  int32_t root(int32_t v) {
    while (parent_[static_cast<size_t>(v)] != v)
      v = parent_[static_cast<size_t>(v)] = parent_[static_cast<size_t>(parent_[static_cast<size_t>(v)])];
    return v;
  }
  void join(const ir::Value* a, const ir::Value* b) {
    const auto x = number_.find(a), y = number_.find(b);
    if (x == number_.end() || y == number_.end() || a->type.dynamic != 0 || b->type.dynamic != 0) return;
    parent_[static_cast<size_t>(root(x->second))] = root(y->second);
  }

  void join_views() {
    if (!options_.views) return;
    for (const auto& item : m_.items) {
      const ir::Node& n = *item.node;
      const bool view = (ir::op_flags(n) & kView) != 0;
      if (view || n.is(OpId::slice) || n.is(OpId::split) || n.is(OpId::pad)) {
        for (const ir::Value* y : n.outputs)
          if (y != nullptr) join(n.inputs[0], y);
      } else if (n.is(OpId::concat)) {
        for (const ir::Value* x : n.inputs) join(x, n.outputs[0]);
      }
    }
  }

  // Numbers the groups. Results of the block lie in tensors of the surrounding one: they need no memory here.
  void group() {
    std::map<int32_t, int32_t> numbers;
    group_of_.resize(values_.size());
    for (size_t v = 0; v < values_.size(); ++v) {
      const int32_t r = root(static_cast<int32_t>(v));
      const auto [it, fresh] = numbers.emplace(r, static_cast<int32_t>(m_.groups.size()));
      if (fresh) m_.groups.emplace_back();
      group_of_[v] = it->second;
      OrderModel::Group& g = m_.groups[static_cast<size_t>(it->second)];
      const bool result = values_[v]->result_uses > 0;
      g.bytes = std::max<uint64_t>(g.bytes, result && values_[v]->users.empty() ? 0 : values_[v]->type.byte_size());
      g.live_out |= result;
    }
  }

  int32_t group_of(const ir::Value* v) const {
    const auto it = number_.find(v);
    return it == number_.end() ? -1 : group_of_[static_cast<size_t>(it->second)];
  }

  void depend(size_t index) {
    OrderModel::Item& item = m_.items[index];
    std::set<const ir::Value*> reads;
    reads_of(*item.node, &reads);
    std::set<int32_t> touched, read, written, before;
    std::vector<int> states;
    for (const ir::Value* v : reads) {
      if (v->kind == ir::ValueKind::kState) states.push_back(v->id);
      if (const int32_t g = group_of(v); g >= 0) touched.insert(g), read.insert(g);
      if (v->producer != nullptr && v->producer->block == &block_) before.insert(item_of_[v->producer]);
    }
    for (int s : states) {
      const auto found = last_of_state_.find(s);
      if (found != last_of_state_.end()) before.insert(found->second);
      last_of_state_[s] = static_cast<int32_t>(index);
    }
    for (const ir::Value* v : item.node->outputs)
      if (v != nullptr) touched.insert(group_of(v)), written.insert(group_of(v));
    item.groups.assign(touched.begin(), touched.end());
    item.reads.assign(read.begin(), read.end());
    item.writes.assign(written.begin(), written.end());
    for (int32_t g : item.groups) ++m_.groups[static_cast<size_t>(g)].touches;
    for (int32_t b : before) m_.items[static_cast<size_t>(b)].successors.push_back(static_cast<int32_t>(index));
    item_of_[item.node] = static_cast<int32_t>(index);
  }

  OrderModel& m_;
  const ir::Block& block_;
  const OrderOptions& options_;
  std::vector<const ir::Value*> values_;  // results of the block's nodes
  std::map<const ir::Value*, int32_t> number_;
  std::vector<int32_t> parent_, group_of_;
  std::map<const ir::Node*, int32_t> item_of_;
  std::map<int, int32_t> last_of_state_;
};

}  // namespace

OrderModel::OrderModel(const ir::Block& block, const OrderOptions& options) { Maker(*this, block, options).run(); }

LiveBytes live_bytes_at(const OrderModel& model, const OrderModel::Item& item, uint64_t live, const std::vector<int32_t>& remaining,
                        const std::vector<bool>& present) {
  uint64_t taken = 0, freed = 0, replaced = 0;
  const auto ends = [&](int32_t g) { return remaining[static_cast<size_t>(g)] == 1 && !model.groups[static_cast<size_t>(g)].live_out; };
  for (int32_t g : item.writes)
    if (!present[static_cast<size_t>(g)]) taken += model.groups[static_cast<size_t>(g)].bytes;
  for (int32_t g : item.groups) {
    if (!ends(g)) continue;
    freed += model.groups[static_cast<size_t>(g)].bytes;
    const bool same_size =
        !item.writes.empty() && model.groups[static_cast<size_t>(g)].bytes == model.groups[static_cast<size_t>(item.writes[0])].bytes;
    if (item.in_place && same_size && present[static_cast<size_t>(g)] && !present[static_cast<size_t>(item.writes[0])])
      replaced = model.groups[static_cast<size_t>(g)].bytes;
  }
  return {live + taken + item.nested_bytes - replaced, live + taken - freed};
}

uint64_t OrderModel::peak(const std::vector<int32_t>& order) const {
  std::vector<int32_t> remaining(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) remaining[g] = groups[g].touches;
  std::vector<bool> present(groups.size(), false);
  uint64_t live = 0, peak_bytes = 0;
  for (int32_t i : order) {
    const Item& item = items[static_cast<size_t>(i)];
    const LiveBytes l = live_bytes_at(*this, item, live, remaining, present);
    peak_bytes = std::max(peak_bytes, l.during);
    live = l.after;
    for (int32_t g : item.writes) present[static_cast<size_t>(g)] = true;
    for (int32_t g : item.groups) --remaining[static_cast<size_t>(g)];
  }
  return peak_bytes;
}

}  // namespace mote::schedule
