#include "mote/compiler/placement/place.h"

#include <algorithm>
#include <map>
#include <set>

#include "mote/compiler/placement/node_view.h"
#include "mote/compiler/placement/overlap.h"
#include "mote/compiler/placement/pieces.h"
#include "mote/compiler/placement/rates.h"
#include "mote/compiler/placement/split.h"
#include "mote/ops/op_docs.h"
#include "mote/runtime/verify.h"

namespace mote::placement {
namespace {

std::string op_name_of(const ir::Node& n) {
  const OpDoc* doc = find_op_doc(n.op);
  return n.op == ir::kCustom ? n.symbol : doc != nullptr ? doc->name : n.op == ir::kIf ? "if" : n.op == ir::kLoop ? "loop" : "assign";
}

// A node with what is known of it.
struct Candidate {
  ir::Node* node = nullptr;
  std::string op;
  std::vector<double> ns;            // on each place, below 0: not there
  std::vector<std::string> reasons;  // of each backend that does not take it
  std::vector<size_t> after;         // candidates that must run before it
};

class Placer {
 public:
  Placer(ir::Graph& graph, const PlaceOptions& options, Placed& out, ir::Problems& problems)
      : graph_(graph),
        o_(options),
        out_(out),
        problems_(problems),
        target_(options.target != nullptr ? *options.target : *target::named("generic")) {}

  bool run() {
    out_.cpu_ns = 0;
    for (ir::Method& m : graph_.methods)
      if (!method(m)) return false;
    for (const auto& [name, rule] : o_.policy.nodes)
      if (seen_.count(name) == 0)
        out_.notes.push_back("the policy's [node.\"" + name + "\"] does nothing: no operator has that name after fusing");
    return true;
  }

 private:
  double cpu_ns(const ir::Node& node, const mote_backend_op& op, const program::Cost& cost) const {
    if (const target::BackendRates* measured = target::find_backend(target_, "cpu"); measured != nullptr && node.is_operator())
      return cpu_cost_ns(op, *measured);
    const target::Rates rates = target::rates_of(target_, o_.threads);
    const double gops = cost.integer && rates.int8_gops > 0 ? rates.int8_gops : rates.f32_gflops;
    const double bandwidth = target::bandwidth_of(rates, target::kMemory).read;
    const double arithmetic = gops > 0 ? 2 * static_cast<double>(cost.products) / gops : 0;
    const double moved = bandwidth > 0 ? static_cast<double>(cost.bytes()) / bandwidth : 0;
    return target_.call_ns + std::max(arithmetic, moved) * (node.is_operator() ? 1 : 0);
  }

  // Why a node cannot leave the CPU at all; empty when a backend may be asked.
  static std::string bound_to_cpu(const ir::Node& n) {
    if (!n.is_operator()) return n.op == ir::kCustom ? "a custom operator" : "control flow";
    for (const auto* list : {&n.inputs, &n.outputs}) {
      for (const ir::Value* v : *list) {
        if (v == nullptr) continue;
        if (v->type.dynamic != 0) return "the size of '" + v->name + "' is known only when running";
        if (v->kind == ir::ValueKind::kState) return "it works on the state '" + v->name + "'";
      }
    }
    return "";
  }

  Candidate examine(ir::Node* node) {
    Candidate c;
    c.node = node;
    c.op = op_name_of(*node);
    const NodeView view(*node);
    const std::string bound = bound_to_cpu(*node);
    c.ns.push_back(o_.policy.permits(c.op, node->name, "cpu") ? cpu_ns(*node, view.op(), view.cost()) : -1);
    for (const mote_backend_compiler* b : o_.backends) {
      std::string reason = bound;
      if (reason.empty() && !o_.policy.permits(c.op, node->name, b->name)) reason = "the policy does not permit it";
      if (reason.empty())
        if (const char* why = b->supports(&view.op())) reason = why;
      const mote_backend_rates rates = rates_of(*b, target_);
      c.ns.push_back(reason.empty() ? std::max(0.0, b->cost_ns(&view.op(), &rates)) : -1);
      if (!reason.empty()) c.reasons.push_back(std::string(b->name) + ": " + reason);
    }
    return c;
  }

  bool is_placeable(const Candidate& c) const {
    return std::any_of(c.ns.begin(), c.ns.end(), [](double ns) { return ns >= 0; });
  }

  // Nodes that one rule stops for one reason are one problem: a model has hundreds of nodes, and few kinds.
  struct Refusal {
    std::string wanted, why;
    std::vector<std::string> nodes;
  };

  void refuse(const Candidate& c, std::map<std::string, Refusal>* all) const {
    Refusal r{o_.policy.wanted(c.op, c.node->name), "", {}};
    for (const std::string& reason : c.reasons) r.why += (r.why.empty() ? "" : "; ") + reason;
    if (r.why.empty()) r.why = "no such backend is among --backends";
    all->emplace(c.op + "\n" + r.wanted + "\n" + r.why, r).first->second.nodes.push_back(c.node->name);
  }

  void report(const std::map<std::string, Refusal>& refusals) {
    constexpr size_t kNamed = 3;
    for (const auto& [key, r] : refusals) {
      const std::string op = key.substr(0, key.find('\n'));
      std::string where = r.nodes[0] + " (" + op + ")", rule = "[node.\"" + r.nodes[0] + "\"]";
      if (r.nodes.size() > 1) {
        where = std::to_string(r.nodes.size()) + " nodes (" + op + "): ";
        for (size_t i = 0; i < std::min(kNamed, r.nodes.size()); ++i) where += (i > 0 ? ", " : "") + r.nodes[i];
        if (r.nodes.size() > kNamed) where += ", ...";
        rule = "[op." + op + "]";
      }
      problems_.push_back(
          {where, "must run on " + r.wanted + ", and cannot: " + r.why, "allow another backend for it in the policy, " + rule});
    }
  }

  bool method(ir::Method& m) {
    std::vector<Candidate> all;
    for (const auto& n : m.block->nodes) all.push_back(examine(n.get()));
    const size_t before = problems_.size();
    std::map<std::string, Refusal> refusals;
    for (const Candidate& c : all) {
      if (!is_placeable(c)) refuse(c, &refusals);
      seen_.insert(c.node->name);
      for (const std::string& r : c.reasons) notes_[c.op + ": " + r] += 1;
    }
    report(refusals);
    if (problems_.size() > before) return false;
    depend(all);
    // Two orders: the CPU's nodes first as long as there are any, or the backends'. The cheaper one, then the one with fewer pieces.
    std::vector<Candidate> other = clustered(all, true);
    all = clustered(std::move(all), false);
    SplitResult r, s;
    if (!divide(all, &r) || !divide(other, &s)) return false;
    constexpr double kSame = 1e-9;  // sums in another order
    if (s.ns < r.ns * (1 - kSame) || (s.ns < r.ns * (1 + kSame) && s.pieces.size() < r.pieces.size())) r = s, all = std::move(other);
    rewrite(m, all, r);
    return problems_.size() == before;
  }

  // Data, and the order of everything that touches states or steers.
  static void depend(std::vector<Candidate>& all) {
    std::map<const ir::Node*, size_t> number;
    for (size_t i = 0; i < all.size(); ++i) number[all[i].node] = i;
    std::set<const ir::Value*> used;
    size_t barrier = SIZE_MAX;
    for (size_t i = 0; i < all.size(); ++i) {
      used.clear();
      const bool fixed = outer_values(*all[i].node, &used);
      for (const ir::Value* v : used)
        if (const auto p = number.find(v->producer); v->producer != nullptr && p != number.end()) all[i].after.push_back(p->second);
      if (!fixed) continue;
      if (barrier != SIZE_MAX) all[i].after.push_back(barrier);
      barrier = i;
    }
  }

  // The values a node reads, those of its blocks too. True when it touches a state.
  static bool outer_values(const ir::Node& n, std::set<const ir::Value*>* out) {
    bool fixed = n.op == ir::kAssign;
    for (const ir::Value* v : n.inputs) {
      if (v == nullptr) continue;
      out->insert(v);
      fixed |= v->kind == ir::ValueKind::kState;
    }
    for (const auto& b : n.blocks) {
      for (const auto& inner : b->nodes) fixed |= outer_values(*inner, out);
      for (const ir::Value* v : b->results) out->insert(v);
    }
    return fixed;
  }

  // An order in which nodes that may go to the same backend stand together: as long as one of them is ready it goes first.
  std::vector<Candidate> clustered(std::vector<Candidate> all, bool backends_first) const {
    const auto kind = [](const Candidate& c) {
      for (size_t p = 1; p < c.ns.size(); ++p)
        if (c.ns[p] >= 0) return p;
      return size_t{0};
    };
    std::vector<int> waits(all.size(), 0);
    std::vector<std::vector<size_t>> followers(all.size());
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t a : all[i].after) ++waits[i], followers[a].push_back(i);
    std::map<size_t, std::set<size_t>> ready;  // by kind
    for (size_t i = 0; i < all.size(); ++i)
      if (waits[i] == 0) ready[kind(all[i])].insert(i);
    std::vector<Candidate> order;
    const size_t places = all.empty() ? 1 : all[0].ns.size();
    size_t now = backends_first && places > 1 ? 1 : 0;
    while (order.size() < all.size()) {
      if (ready[now].empty()) {
        now = backends_first ? 1 : 0;
        while (now < places && ready[now].empty()) ++now;
        if (now == places) now = 0;
      }
      const size_t i = *ready[now].begin();
      ready[now].erase(ready[now].begin());
      for (size_t f : followers[i])
        if (--waits[f] == 0) ready[kind(all[f])].insert(f);
      order.push_back(std::move(all[i]));
    }
    return order;
  }

  bool divide(const std::vector<Candidate>& all, SplitResult* r) {
    std::vector<SplitNode> nodes;
    std::vector<SplitValue> values;
    std::map<const ir::Value*, int> number;
    const auto value = [&](const ir::Value* v) {
      const auto [it, fresh] = number.emplace(v, static_cast<int>(values.size()));
      if (fresh) values.push_back({v->type.byte_size(), static_cast<int>(v->users.size()) + v->result_uses});
      return it->second;
    };
    for (const Candidate& c : all) {
      SplitNode n;
      n.ns = c.ns;
      for (const ir::Value* v : c.node->inputs)
        if (v != nullptr && !v->is_constant()) n.reads.push_back(value(v));
      for (const ir::Value* v : c.node->outputs)
        if (v != nullptr) n.writes.push_back(value(v));
      nodes.push_back(std::move(n));
    }
    std::vector<SplitPlace> places(1);
    for (const mote_backend_compiler* b : o_.backends) {
      const mote_backend_rates rates = rates_of(*b, target_);
      places.push_back({rates.launch_ns, rates.sync_ns, rates.transfer_gbps > 0 ? 1 / rates.transfer_gbps : 0});
    }
    SplitLimits limits;
    limits.pieces = o_.policy.max_partitions;
    if (o_.policy.has_transfer_limit) limits.transfer_bytes = o_.policy.max_transfer_bytes;
    *r = split(nodes, values, places, limits);
    if (r->possible) return true;
    const SplitResult free = split(nodes, values, places);
    std::string what = "no placement keeps to the policy's limits (max_partitions " + std::to_string(o_.policy.max_partitions);
    if (o_.policy.has_transfer_limit) what += ", max_transfer_bytes " + std::to_string(o_.policy.max_transfer_bytes);
    problems_.push_back({"placement",
                         what + "): without them it has " + std::to_string(free.pieces.size()) + " parts and moves " +
                             std::to_string(free.transfer_bytes) + " bytes",
                         "raise the limit, or allow the operators between the parts elsewhere"});
    return false;
  }

  // Nodes in the new order, then a delegate in place of each piece on a backend.
  void rewrite(ir::Method& m, const std::vector<Candidate>& all, const SplitResult& r) {
    // Each node goes to the end of the list as it stands: behind everything that was moved before it.
    auto& list = m.block->nodes;
    for (const Candidate& c : all) list.splice(list.end(), list, c.node->place);
    out_.predicted_ns += r.ns;
    out_.transfer_bytes += r.transfer_bytes;
    out_.cpu_ns = r.cpu_ns < 0 || out_.cpu_ns < 0 ? -1 : out_.cpu_ns + r.cpu_ns;
    for (const SplitPiece& p : r.pieces) {
      Piece piece;
      piece.predicted_ns = p.ns;
      piece.bytes_in = p.bytes_in;
      piece.bytes_out = p.bytes_out;
      piece.backend = p.place == 0 ? "cpu" : o_.backends[static_cast<size_t>(p.place - 1)]->name;
      std::vector<ir::Node*> nodes;
      bool fallback = p.place != 0 && o_.policy.fallback == Fallback::kListed;
      for (size_t i = p.first; i < p.first + p.count; ++i) {
        nodes.push_back(all[i].node);
        piece.nodes.push_back(all[i].node->name.empty() ? all[i].op : all[i].node->name + " (" + all[i].op + ")");
        fallback = fallback && !o_.policy.forbids(all[i].op, all[i].node->name, "cpu");
      }
      if (p.place != 0 && !hand_over(*o_.backends[static_cast<size_t>(p.place - 1)], nodes, fallback, &piece)) return;
      out_.pieces.push_back(std::move(piece));
    }
    for (const auto& [text, count] : notes_)
      out_.notes.push_back("stays on the CPU: " + text + (count > 1 ? " (" + std::to_string(count) + " nodes)" : ""));
    notes_.clear();
  }

  bool hand_over(const mote_backend_compiler& backend, const std::vector<ir::Node*>& nodes, bool fallback, Piece* piece) {
    const Boundary boundary = boundary_of(nodes);
    const std::string where = piece->nodes.front() + " to " + piece->nodes.back();
    if (boundary.inputs.size() + boundary.outputs.size() > kMaxOperands) {
      problems_.push_back({where,
                           "this part has " + std::to_string(boundary.inputs.size() + boundary.outputs.size()) +
                               " inputs and outputs; a delegate can have " + std::to_string(kMaxOperands),
                           "let some operator of it run on the CPU"});
      return false;
    }
    Blob blob;
    std::string error;
    if (!make_blob(nodes, boundary, backend, o_.ops, &blob, &error)) {
      problems_.push_back({where, std::string(backend.name) + " cannot take this part: " + error, ""});
      return false;
    }
    piece->blob = static_cast<int32_t>(out_.blobs.size());
    piece->has_fallback = fallback;
    replace_by_delegate(graph_, nodes, boundary, static_cast<uint32_t>(out_.blobs.size()), backend.name, fallback);
    out_.blobs.push_back(std::move(blob));
    return true;
  }

  ir::Graph& graph_;
  const PlaceOptions& o_;
  Placed& out_;
  ir::Problems& problems_;
  const target::Target& target_;
  std::map<std::string, int> notes_;
  std::set<std::string> seen_;  // names of nodes
};

}  // namespace

bool place(ir::Graph& graph, const PlaceOptions& options, Placed* out, ir::Problems* problems) {
  return Placer(graph, options, *out, *problems).run();
}

void record(const Placed& placed, const Policy& policy, program::ProgramRecords* r) {
  for (const Blob& b : placed.blobs) {
    r->backends.push_back({r->strings.add(b.backend), r->strings.add(b.version), r->strings.add(b.capabilities),
                           static_cast<uint32_t>(r->segments.size()), b.device_bytes});
    program::SegmentData segment;
    segment.kind = SegmentKind::kBlob;
    segment.bytes = b.bytes;
    r->segments.push_back(std::move(segment));
  }
  record_ranges(placed, r);
  record_overlaps(r);
  if (!policy.text.empty()) r->policy = r->strings.add(policy.text);
}

}  // namespace mote::placement
