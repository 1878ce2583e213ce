#include "mote/compiler/placement/split.h"

#include <algorithm>
#include <limits>

namespace mote::placement {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr uint32_t kMostPieces = 24;  // beyond this only the number of pieces is no longer looked at one by one

// The best way to place the nodes before some point, ending on the CPU or not, with so many pieces.
struct State {
  double ns = kNever;
  uint64_t transfer = 0;
  SplitPiece last;
  int before = -1;  // index of the state it continues
};

class Splitter {
 public:
  Splitter(const std::vector<SplitNode>& nodes, const std::vector<SplitValue>& values, const std::vector<SplitPlace>& places,
           const SplitLimits& limits)
      : nodes_(nodes), values_(values), places_(places), limits_(limits) {
    counted_ = limits.pieces > 0 || limits.transfer_bytes != UINT64_MAX;
    width_ = counted_ ? static_cast<size_t>(std::min(limits.pieces > 0 ? limits.pieces : kMostPieces, kMostPieces)) + 1 : 1;
    states_.resize((nodes.size() + 1) * width_ * 2);
  }

  SplitResult run() {
    at(0, 0, false).ns = 0;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      on_cpu(i);
      for (size_t p = 1; p < places_.size(); ++p) pieces_from(i, static_cast<int>(p));
    }
    SplitResult r;
    r.cpu_ns = 0;
    for (const SplitNode& n : nodes_) r.cpu_ns = n.ns[0] < 0 || r.cpu_ns < 0 ? -1 : r.cpu_ns + n.ns[0];
    collect(&r);
    return r;
  }

 private:
  size_t index(size_t end, size_t pieces, bool cpu) const { return (end * width_ + pieces) * 2 + (cpu ? 1 : 0); }
  State& at(size_t end, size_t pieces, bool cpu) { return states_[index(end, pieces, cpu)]; }

  void offer(size_t end, size_t pieces, bool cpu, const State& s) {
    if (pieces >= width_) return;
    State& old = at(end, pieces, cpu);
    if (s.ns < old.ns) old = s;
  }

  // One node more on the CPU; a piece of its own when the one before is elsewhere.
  void on_cpu(size_t i) {
    if (nodes_[i].ns[0] < 0) return;
    for (size_t k = 0; k < width_; ++k) {
      for (const bool cpu : {false, true}) {
        const State& from = at(i, k, cpu);
        if (from.ns == kNever) continue;
        State s;
        s.before = static_cast<int>(index(i, k, cpu));
        s.ns = from.ns + nodes_[i].ns[0];
        s.transfer = from.transfer;
        s.last = {i, 1, 0, nodes_[i].ns[0], 0, 0};
        offer(i + 1, k + (counted_ && !cpu ? 1 : 0), true, s);
      }
    }
  }

  // Every piece on a device that begins with node `first`.
  void pieces_from(size_t first, int place) {
    std::vector<std::pair<size_t, bool>> starts;
    for (size_t k = 0; k < width_; ++k)
      for (const bool cpu : {false, true})
        if (at(first, k, cpu).ns != kNever) starts.emplace_back(k, cpu);
    if (starts.empty()) return;
    const SplitPlace& p = places_[static_cast<size_t>(place)];
    seen_.assign(values_.size(), 0);
    SplitPiece piece{first, 0, place, p.sync_ns, 0, 0};
    double inside = p.sync_ns;
    for (size_t j = first; j < nodes_.size() && nodes_[j].ns[static_cast<size_t>(place)] >= 0; ++j) {
      inside += nodes_[j].ns[static_cast<size_t>(place)] + p.launch_ns;
      count_values(nodes_[j], &piece);
      ++piece.count;
      piece.ns = inside + static_cast<double>(piece.bytes_in + piece.bytes_out) * p.byte_ns;
      for (const auto& [k, cpu] : starts) {
        const State& from = at(first, k, cpu);
        State s;
        s.before = static_cast<int>(index(first, k, cpu));
        s.ns = from.ns + piece.ns;
        s.transfer = from.transfer + piece.bytes_in + piece.bytes_out;
        s.last = piece;
        offer(j + 1, k + (counted_ ? 1 : 0), false, s);
      }
    }
  }

  // seen_: 0 untouched, 1 brought in, 2 + n written inside with n uses left outside.
  void count_values(const SplitNode& n, SplitPiece* piece) {
    for (int v : n.reads) {
      int& seen = seen_[static_cast<size_t>(v)];
      const uint64_t bytes = values_[static_cast<size_t>(v)].bytes;
      if (seen == 0) seen = 1, piece->bytes_in += bytes;
      if (seen > 2 && --seen == 2) piece->bytes_out -= bytes;
    }
    for (int v : n.writes) {
      const SplitValue& value = values_[static_cast<size_t>(v)];
      seen_[static_cast<size_t>(v)] = 2 + value.uses;
      if (value.uses > 0) piece->bytes_out += value.bytes;
    }
  }

  void collect(SplitResult* r) {
    int best = -1;
    for (size_t k = 0; k < width_; ++k) {
      for (const bool cpu : {false, true}) {
        const State& s = at(nodes_.size(), k, cpu);
        if (s.ns == kNever || s.transfer > limits_.transfer_bytes) continue;
        if (best < 0 || s.ns < states_[static_cast<size_t>(best)].ns) best = static_cast<int>(index(nodes_.size(), k, cpu));
      }
    }
    if (best < 0) return;
    r->possible = true;
    r->ns = states_[static_cast<size_t>(best)].ns;
    r->transfer_bytes = states_[static_cast<size_t>(best)].transfer;
    for (int s = best; s >= 0 && states_[static_cast<size_t>(s)].before >= 0; s = states_[static_cast<size_t>(s)].before) {
      const SplitPiece& piece = states_[static_cast<size_t>(s)].last;
      if (!r->pieces.empty() && piece.place == 0 && r->pieces.back().place == 0) {
        r->pieces.back().first = piece.first;
        r->pieces.back().count += piece.count;
        r->pieces.back().ns += piece.ns;
      } else {
        r->pieces.push_back(piece);
      }
    }
    std::reverse(r->pieces.begin(), r->pieces.end());
  }

  const std::vector<SplitNode>& nodes_;
  const std::vector<SplitValue>& values_;
  const std::vector<SplitPlace>& places_;
  const SplitLimits& limits_;
  bool counted_ = false;
  size_t width_ = 1;
  std::vector<State> states_;
  std::vector<int> seen_;
};

}  // namespace

SplitResult split(const std::vector<SplitNode>& nodes, const std::vector<SplitValue>& values, const std::vector<SplitPlace>& places,
                  const SplitLimits& limits) {
  return Splitter(nodes, values, places, limits).run();
}

}  // namespace mote::placement
