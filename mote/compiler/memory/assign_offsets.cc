#include "mote/compiler/memory/assign_offsets.h"

#include <algorithm>
#include <map>

namespace mote::memory {

uint64_t shared_bytes(const BufferRequest& request, const BufferRequest& overwritten) {
  const uint64_t distance = request.distance > 0 ? static_cast<uint64_t>(request.distance) : 0;
  const uint64_t both =
      request.starts_after ? std::max(overwritten.bytes, distance + request.bytes) : std::max(request.bytes, distance + overwritten.bytes);
  return request.bytes + overwritten.bytes > both ? request.bytes + overwritten.bytes - both : 0;
}

uint64_t lower_bound(const std::vector<BufferRequest>& requests) {
  std::map<uint64_t, int64_t> changes;  // of the sum of live bytes, by step
  for (const BufferRequest& b : requests) {
    if (!b.live.used()) continue;
    changes[b.live.first] += static_cast<int64_t>(b.bytes);
    changes[uint64_t{b.live.last} + 1] -= static_cast<int64_t>(b.bytes);
    if (b.overwrites < 0) continue;
    const BufferRequest& overwritten = requests[static_cast<size_t>(b.overwrites)];
    const auto shared = static_cast<int64_t>(shared_bytes(b, overwritten));
    changes[b.live.first] -= shared;
    changes[uint64_t{overwritten.live.last} + 1] += shared;
  }
  int64_t live = 0, peak = 0;
  for (const auto& [step, change] : changes) peak = std::max(peak, live += change);
  return static_cast<uint64_t>(peak);
}

namespace {

uint64_t align_up(uint64_t v, uint64_t a) { return (v + a - 1) / a * a; }

// Offsets that a request cannot start at because of a placed one: those strictly between `low` and `high`.
struct Forbidden {
  int64_t low, high;
};

Forbidden forbidden_by(const std::vector<BufferRequest>& requests, uint32_t i, uint32_t placed) {
  const BufferRequest &b = requests[i], &p = requests[placed];
  const auto start = static_cast<int64_t>(p.offset), end = start + static_cast<int64_t>(p.bytes);
  const int64_t low = start - static_cast<int64_t>(b.bytes);
  if (b.overwrites == static_cast<int32_t>(placed) && !b.starts_after) return {std::max(low, start - b.distance), end};
  if (b.overwrites == static_cast<int32_t>(placed)) return {low, std::min(end, start + b.distance)};
  if (p.overwrites == static_cast<int32_t>(i) && !p.starts_after) return {low, std::min(end, start + p.distance)};
  if (p.overwrites == static_cast<int32_t>(i)) return {std::max(low, start - p.distance), end};
  return {low, end};
}

// First fit: takes requests in this order, each to the lowest offset that is free over its live range. Returns the end of the highest.
uint64_t assign_in_order(std::vector<BufferRequest>& requests, const std::vector<uint32_t>& order) {
  std::vector<uint32_t> placed;
  std::vector<Forbidden> forbidden;
  uint64_t end = 0;
  for (const uint32_t i : order) {
    BufferRequest& b = requests[i];
    forbidden.clear();
    for (const uint32_t p : placed)
      if (requests[p].live.overlaps(b.live)) forbidden.push_back(forbidden_by(requests, i, p));
    std::sort(forbidden.begin(), forbidden.end(), [](const Forbidden& x, const Forbidden& y) { return x.low < y.low; });
    uint64_t offset = 0;
    for (const Forbidden& f : forbidden) {
      if (static_cast<int64_t>(offset) <= f.low) break;
      if (static_cast<int64_t>(offset) < f.high) offset = align_up(static_cast<uint64_t>(f.high), b.alignment);
    }
    b.offset = offset;
    end = std::max(end, offset + b.bytes);
    placed.push_back(i);
  }
  return end;
}

uint64_t length(const BufferRequest& b) { return uint64_t{b.live.last} - b.live.first + 1; }

using Precedes = bool (*)(const BufferRequest&, const BufferRequest&);
// Large first, large and long-lived first, long-lived first, by first use, by last use backwards.
constexpr Precedes kOrders[] = {
    [](const BufferRequest& a, const BufferRequest& b) { return a.bytes > b.bytes; },
    [](const BufferRequest& a, const BufferRequest& b) { return a.bytes * length(a) > b.bytes * length(b); },
    [](const BufferRequest& a, const BufferRequest& b) { return length(a) != length(b) ? length(a) > length(b) : a.bytes > b.bytes; },
    [](const BufferRequest& a, const BufferRequest& b) {
      return a.live.first != b.live.first ? a.live.first < b.live.first : a.bytes > b.bytes;
    },
    [](const BufferRequest& a, const BufferRequest& b) {
      return a.live.last != b.live.last ? a.live.last > b.live.last : a.bytes > b.bytes;
    },
};
constexpr uint64_t kMaxPairs = 40'000'000;  // pairs of requests that all attempts together may compare
constexpr int kMaxRounds = 4000;

// A linear congruential generator with a fixed seed: plans must not differ from run to run.
struct Random {
  uint64_t state = 0x2545f4914f6cdd1du;
  uint32_t below(size_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>((state >> 33) % n);
  }
};

// The best order found so far, and the means to look for a better one.
class OrderSearch {
 public:
  OrderSearch(std::vector<BufferRequest>& requests, uint64_t bound) : requests_(requests), bound_(bound) {
    for (uint32_t i = 0; i < requests.size(); ++i)
      if (requests[i].bytes > 0 && requests[i].live.used()) all_.push_back(i);
    pairs_per_attempt_ = uint64_t{all_.size()} * all_.size();
  }
  bool empty() const { return all_.empty(); }

  void try_fixed_orders() {
    for (const Precedes precedes : kOrders) {
      std::vector<uint32_t> order = all_;
      std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return precedes(requests_[a], requests_[b]); });
      pairs_ += pairs_per_attempt_;
      const uint64_t end = assign_in_order(requests_, order);
      if (end < best_) best_ = end, best_order_ = std::move(order);
      if (best_ <= bound_ || pairs_ > kMaxPairs) break;
    }
  }

  // Local search: the request that reaches the top, or a random one every third round, is placed earlier.
  void improve() {
    Random random;
    for (int round = 0; round < kMaxRounds && best_ > bound_ + bound_ / 100 && pairs_ < kMaxPairs; ++round) {
      assign_in_order(requests_, best_order_);
      std::vector<uint32_t> order = best_order_;
      uint32_t top = 0;
      for (uint32_t k = 0; k < order.size(); ++k)
        if (requests_[order[k]].offset + requests_[order[k]].bytes == best_) top = k;
      const uint32_t from = round % 3 == 0 ? random.below(order.size()) : top;
      const uint32_t to = random.below(round % 3 == 0 ? order.size() : top + 1);
      const uint32_t moved = order[from];
      order.erase(order.begin() + from);
      order.insert(order.begin() + to, moved);
      pairs_ += pairs_per_attempt_;
      const uint64_t end = assign_in_order(requests_, order);
      if (end <= best_) best_ = end, best_order_ = std::move(order);
    }
  }

  uint64_t apply() { return assign_in_order(requests_, best_order_); }

 private:
  std::vector<BufferRequest>& requests_;
  const uint64_t bound_;
  std::vector<uint32_t> all_, best_order_;
  uint64_t best_ = ~uint64_t{0}, pairs_ = 0, pairs_per_attempt_ = 0;
};

}  // namespace

uint64_t assign_offsets(std::vector<BufferRequest>& requests, Effort effort) {
  std::vector<BufferRequest> padded = requests;
  for (BufferRequest& b : padded) b.bytes = align_up(b.bytes, 16);
  OrderSearch search(requests, lower_bound(padded));
  if (search.empty()) return 0;
  search.try_fixed_orders();
  if (effort == Effort::kThorough) search.improve();
  return search.apply();
}

}  // namespace mote::memory
