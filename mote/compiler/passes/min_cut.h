#pragma once

// The cheapest division of nodes into two sides (Dinic's maximum flow).

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
      while (push(kSource, kNever) > 0) {
      }
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
  int64_t push(int at, int64_t most) {
    if (at == kSink) return most;
    for (size_t& i = next_[index(at)]; i < edges_[index(at)].size(); ++i) {
      Edge& e = edges_[index(at)][i];
      if (e.left == 0 || depth_[index(e.to)] != depth_[index(at)] + 1) continue;
      const int64_t sent = push(e.to, most < e.left ? most : e.left);
      if (sent == 0) continue;
      e.left -= sent;
      edges_[index(e.to)][index(e.back)].left += sent;
      return sent;
    }
    return 0;
  }

  std::vector<std::vector<Edge>> edges_{2};
  std::vector<int> depth_;
  std::vector<size_t> next_;
};

}  // namespace mote::passes
