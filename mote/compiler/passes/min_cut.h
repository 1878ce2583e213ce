#pragma once

// The cheapest division of nodes into two sides (Dinic's maximum flow).

#include <algorithm>
#include <cstdint>
#include <queue>
#include <vector>

namespace mote::passes {

class MinCut {
 public:
  static constexpr int64_t kNever = INT64_MAX / 4;
  static constexpr int kSource = 0, kSink = 1;

  int add_node() {
    edges_.emplace_back();
    return static_cast<int>(edges_.size()) - 1;
  }
  // `cost` is paid when `from` is on the source's side and `to` on the sink's.
  void add_edge(int from, int to, int64_t cost) {
    if (cost <= 0 || from == to) return;
    edges_[index(from)].push_back({to, static_cast<int>(edges_[index(to)].size()), cost});
    edges_[index(to)].push_back({from, static_cast<int>(edges_[index(from)].size()) - 1, 0});
  }
  // Nodes on the source's side; among equally cheap divisions the one where they are most.
  std::vector<bool> source_side() {
    while (layer()) {
      next_.assign(edges_.size(), 0);
      while (push() > 0) {}
    }
    std::vector<bool> on_source(edges_.size(), true);
    std::queue<int> open;
    open.push(kSink);
    on_source[kSink] = false;
    // Whatever can still reach the sink belongs to it.
    for (; !open.empty(); open.pop()) {
      for (const Edge& e : edges_[index(open.front())]) {
        const Edge& towards = edges_[index(e.to)][index(e.back)];
        if (towards.left == 0 || !on_source[index(e.to)]) continue;
        on_source[index(e.to)] = false;
        open.push(e.to);
      }
    }
    return on_source;
  }

 private:
  struct Edge {
    int to, back;
    int64_t left;
  };
  static size_t index(int i) { return static_cast<size_t>(i); }

  bool layer() {
    depth_.assign(edges_.size(), -1);
    depth_[kSource] = 0;
    std::queue<int> open;
    for (open.push(kSource); !open.empty(); open.pop()) {
      for (const Edge& e : edges_[index(open.front())]) {
        if (e.left == 0 || depth_[index(e.to)] >= 0) continue;
        depth_[index(e.to)] = depth_[index(open.front())] + 1;
        open.push(e.to);
      }
    }
    return depth_[kSink] >= 0;
  }
  // One path from the source to the sink, along the layers; 0 when there is none left. Paths may be as long as the graph, so no recursion.
  int64_t push() {
    std::vector<int> path = {kSource};
    while (!path.empty() && path.back() != kSink) {
      const int at = path.back();
      size_t& i = next_[index(at)];
      while (i < edges_[index(at)].size() && !leads_on(at, edges_[index(at)][i])) ++i;
      if (i < edges_[index(at)].size()) {
        path.push_back(edges_[index(at)][i].to);
        continue;
      }
      path.pop_back();
      if (!path.empty()) ++next_[index(path.back())];
    }
    int64_t sent = path.empty() ? 0 : kNever;
    for (size_t k = 0; k + 1 < path.size(); ++k) sent = std::min(sent, edge(path[k]).left);
    for (size_t k = 0; k + 1 < path.size(); ++k) {
      Edge& e = edge(path[k]);
      e.left -= sent;
      edges_[index(e.to)][index(e.back)].left += sent;
    }
    return sent;
  }
  bool leads_on(int at, const Edge& e) const { return e.left > 0 && depth_[index(e.to)] == depth_[index(at)] + 1; }
  Edge& edge(int at) { return edges_[index(at)][next_[index(at)]]; }

  std::vector<std::vector<Edge>> edges_{2};
  std::vector<int> depth_;
  std::vector<size_t> next_;
};

}  // namespace mote::passes
