#include "mote/compiler/schedule/order.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "mote/compiler/schedule/order_model.h"

namespace mote::schedule {
namespace {

constexpr size_t kMaxWork = 60'000'000;  // nodes x groups x beam

// A partial order in the beam.
struct Candidate {
  uint64_t peak = 0, live = 0;
  uint64_t done = 0;  // hash of the set of nodes that ran
  int32_t trace = -1;
  std::vector<int32_t> remaining, dependencies, ready;
  std::vector<bool> present;
};

// A partial order with one more node.
struct Move {
  uint64_t peak, live, done;
  size_t from;
  int32_t item;
};

uint64_t mix(uint64_t v) {
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
  return v ^ (v >> 31);
}

class Search {
 public:
  explicit Search(const OrderModel& model) : m_(model) {}

  std::vector<int32_t> run(size_t width) {
    std::vector<Candidate> now(1);
    Candidate& first = now[0];
    first.remaining.resize(m_.groups.size());
    for (size_t g = 0; g < m_.groups.size(); ++g) first.remaining[g] = m_.groups[g].touches;
    first.present.assign(m_.groups.size(), false);
    for (size_t i = 0; i < m_.items.size(); ++i) {
      first.dependencies.push_back(m_.items[i].dependencies);
      if (m_.items[i].dependencies == 0) first.ready.push_back(static_cast<int32_t>(i));
    }
    for (size_t step = 0; step < m_.items.size(); ++step) now = advance(now, width);
    std::vector<int32_t> order;
    for (int32_t t = now[0].trace; t >= 0; t = traces_[static_cast<size_t>(t)].before)
      order.push_back(traces_[static_cast<size_t>(t)].item);
    std::reverse(order.begin(), order.end());
    return order;
  }

 private:
  struct Trace {
    int32_t item, before;
  };

  std::vector<Candidate> advance(const std::vector<Candidate>& now, size_t width) {
    std::vector<Move> moves;
    for (size_t c = 0; c < now.size(); ++c)
      for (int32_t i : now[c].ready) {
        const LiveBytes l = live_bytes_at(m_, m_.items[static_cast<size_t>(i)], now[c].live, now[c].remaining, now[c].present);
        moves.push_back({std::max(now[c].peak, l.during), l.after, now[c].done + mix(static_cast<uint64_t>(i) + 1), c, i});
      }
    std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
      return std::tie(a.peak, a.live, a.item, a.from) < std::tie(b.peak, b.live, b.item, b.from);
    });
    std::vector<Candidate> next;
    std::map<uint64_t, bool> seen;  // of partial orders over one set of nodes only the best is live_out
    for (const Move& m : moves) {
      if (next.size() == width) break;
      if (seen.emplace(m.done, true).second) next.push_back(step(now[m.from], m));
    }
    return next;
  }

  Candidate step(const Candidate& from, const Move& m) {
    Candidate c = from;
    const OrderModel::Item& item = m_.items[static_cast<size_t>(m.item)];
    c.peak = m.peak;
    c.live = m.live;
    c.done = m.done;
    traces_.push_back({m.item, from.trace});
    c.trace = static_cast<int32_t>(traces_.size() - 1);
    for (int32_t g : item.writes) c.present[static_cast<size_t>(g)] = true;
    for (int32_t g : item.groups) --c.remaining[static_cast<size_t>(g)];
    c.ready.erase(std::find(c.ready.begin(), c.ready.end(), m.item));
    for (int32_t f : item.successors)
      if (--c.dependencies[static_cast<size_t>(f)] == 0) c.ready.push_back(f);
    return c;
  }

  const OrderModel& m_;
  std::vector<Trace> traces_;
};

// True when only one node is ready at every point.
bool is_chain(const OrderModel& m) {
  for (size_t i = 0; i + 1 < m.items.size(); ++i) {
    const auto& f = m.items[i].successors;
    if (std::find(f.begin(), f.end(), static_cast<int32_t>(i + 1)) == f.end()) return false;
  }
  return true;
}

}  // namespace

std::vector<const ir::Node*> written_order(const ir::Block& block) {
  std::vector<const ir::Node*> nodes;
  for (const auto& n : block.nodes) nodes.push_back(n.get());
  return nodes;
}

std::vector<const ir::Node*> small_order(const ir::Block& block, const OrderOptions& options) {
  const std::vector<const ir::Node*> written = written_order(block);
  const OrderModel model(block, options);
  if (is_chain(model)) return written;
  std::vector<int32_t> as_written(model.items.size());
  std::iota(as_written.begin(), as_written.end(), 0);
  const uint64_t before = model.peak(as_written);
  const size_t work = model.items.size() * (model.items.size() + model.groups.size() + 1);
  const size_t width = std::min<size_t>(options.beam, kMaxWork / std::max<size_t>(work, 1));
  if (width == 0) return written;
  const std::vector<int32_t> found = Search(model).run(width);
  if (found.size() != written.size() || model.peak(found) >= before) return written;
  std::vector<const ir::Node*> nodes;
  for (int32_t i : found) nodes.push_back(model.items[static_cast<size_t>(i)].node);
  return nodes;
}

}  // namespace mote::schedule
