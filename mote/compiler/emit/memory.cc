#include "mote/compiler/emit/memory.h"

#include <algorithm>
#include <map>

namespace mote::emit {

void LifeScan::repeats(uint32_t first, uint32_t last) { ranges_.push_back({first, last, innermost(first)}); }

// Ranges come in ascending order, so the last one that holds the step is the innermost.
int32_t LifeScan::innermost(uint32_t step) const {
  for (size_t i = ranges_.size(); i-- > 0;)
    if (ranges_[i].first <= step && step <= ranges_[i].last) return static_cast<int32_t>(i);
  return -1;
}

void LifeScan::access(size_t block, uint32_t step, bool reads, bool whole) {
  const int32_t range = innermost(step);
  accesses_[block].push_back({step, range, reads});
  if (whole && range >= 0) accesses_[block].push_back({ranges_[static_cast<size_t>(range)].last, range, reads});
}

std::vector<Life> LifeScan::lives() const {
  std::vector<Life> lives(accesses_.size());
  for (size_t b = 0; b < lives.size(); ++b) {
    Life& life = lives[b];
    std::vector<bool> seen(ranges_.size(), false);
    for (const Access& a : accesses_[b]) {
      life.cover(a.step, a.step);
      for (int32_t r = a.range; r >= 0; r = ranges_[static_cast<size_t>(r)].around) {
        const Range& range = ranges_[static_cast<size_t>(r)];
        if (!seen[static_cast<size_t>(r)] && a.reads) life.cover(range.first, range.last);
        seen[static_cast<size_t>(r)] = true;
      }
    }
    for (bool grown = true; grown;) {
      const Life before = life;
      for (const Access& a : accesses_[b])
        for (int32_t r = a.range; r >= 0; r = ranges_[static_cast<size_t>(r)].around) {
          const Range& range = ranges_[static_cast<size_t>(r)];
          if (life.first < range.first || life.last > range.last) life.cover(range.first, range.last);
        }
      grown = before.first != life.first || before.last != life.last;
    }
  }
  return lives;
}

uint64_t shared_bytes(const Block& block, const Block& over) {
  const uint64_t up = block.distance > 0 ? static_cast<uint64_t>(block.distance) : 0;
  const uint64_t most = block.behind ? std::max(over.bytes, up + block.bytes) : std::max(block.bytes, up + over.bytes);
  return block.bytes + over.bytes > most ? block.bytes + over.bytes - most : 0;
}

uint64_t live_bound(const std::vector<Block>& blocks) {
  std::map<uint64_t, int64_t> changes;
  for (const Block& b : blocks) {
    if (!b.life.used()) continue;
    changes[b.life.first] += static_cast<int64_t>(b.bytes);
    changes[uint64_t{b.life.last} + 1] -= static_cast<int64_t>(b.bytes);
    if (b.over < 0) continue;
    const Block& over = blocks[static_cast<size_t>(b.over)];
    const auto shared = static_cast<int64_t>(shared_bytes(b, over));
    changes[b.life.first] -= shared;
    changes[uint64_t{over.life.last} + 1] += shared;
  }
  int64_t live = 0, most = 0;
  for (const auto& [step, change] : changes) most = std::max(most, live += change);
  return static_cast<uint64_t>(most);
}

namespace {

uint64_t align_up(uint64_t v, uint64_t a) { return (v + a - 1) / a * a; }

// Where a block may not begin: between these, because of one that has its place already.
struct Taken {
  int64_t above, below;
};

Taken taken(const std::vector<Block>& blocks, uint32_t i, uint32_t placed) {
  const Block &b = blocks[i], &p = blocks[placed];
  const auto at = static_cast<int64_t>(p.offset), end = at + static_cast<int64_t>(p.bytes), begin = at - static_cast<int64_t>(b.bytes);
  if (b.over == static_cast<int32_t>(placed) && !b.behind) return {std::max(begin, at - b.distance), end};
  if (b.over == static_cast<int32_t>(placed)) return {begin, std::min(end, at + b.distance)};
  if (p.over == static_cast<int32_t>(i) && !p.behind) return {begin, std::min(end, at + p.distance)};
  if (p.over == static_cast<int32_t>(i)) return {std::max(begin, at - p.distance), end};
  return {begin, end};
}

// Takes blocks in this order, each to the lowest place that is free all its life.
uint64_t place_in_order(std::vector<Block>& blocks, const std::vector<uint32_t>& order) {
  std::vector<uint32_t> placed;
  std::vector<Taken> around;
  uint64_t end = 0;
  for (const uint32_t i : order) {
    Block& b = blocks[i];
    around.clear();
    for (const uint32_t p : placed)
      if (blocks[p].life.meets(b.life)) around.push_back(taken(blocks, i, p));
    std::sort(around.begin(), around.end(), [](const Taken& x, const Taken& y) { return x.above < y.above; });
    uint64_t at = 0;
    for (const Taken& t : around) {
      if (static_cast<int64_t>(at) <= t.above) break;
      if (static_cast<int64_t>(at) < t.below) at = align_up(static_cast<uint64_t>(t.below), b.alignment);
    }
    b.offset = at;
    end = std::max(end, at + b.bytes);
    placed.push_back(i);
  }
  return end;
}

uint64_t length(const Block& b) { return uint64_t{b.life.last} - b.life.first + 1; }

using Less = bool (*)(const Block&, const Block&);
constexpr Less kOrders[] = {
    [](const Block& a, const Block& b) { return a.bytes > b.bytes; },
    [](const Block& a, const Block& b) { return a.bytes * length(a) > b.bytes * length(b); },
    [](const Block& a, const Block& b) { return length(a) != length(b) ? length(a) > length(b) : a.bytes > b.bytes; },
    [](const Block& a, const Block& b) { return a.life.first != b.life.first ? a.life.first < b.life.first : a.bytes > b.bytes; },
    [](const Block& a, const Block& b) { return a.life.last != b.life.last ? a.life.last > b.life.last : a.bytes > b.bytes; },
};
constexpr uint64_t kMostWork = 40'000'000;  // pairs of blocks looked at

// A fixed sequence of numbers that look random.
struct Dice {
  uint64_t state = 0x2545f4914f6cdd1du;
  uint32_t below(size_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>((state >> 33) % n);
  }
};

}  // namespace

uint64_t place_blocks(std::vector<Block>& blocks, Effort effort) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].bytes > 0 && blocks[i].life.used()) order.push_back(i);
  if (order.empty()) return 0;
  std::vector<Block> padded = blocks;
  for (Block& b : padded) b.bytes = align_up(b.bytes, 16);
  const uint64_t bound = live_bound(padded), cost = uint64_t{order.size()} * order.size();
  std::vector<uint32_t> best_order;
  uint64_t best = ~uint64_t{0}, work = 0;
  const auto attempt = [&](const std::vector<uint32_t>& tried) {
    work += cost;
    const uint64_t end = place_in_order(blocks, tried);
    if (end < best) best = end, best_order = tried;
    return end;
  };
  for (const Less less : kOrders) {
    std::vector<uint32_t> tried = order;
    std::stable_sort(tried.begin(), tried.end(), [&](uint32_t a, uint32_t b) { return less(blocks[a], blocks[b]); });
    attempt(tried);
    if (best <= bound || work > kMostWork) break;
  }
  if (effort == Effort::kQuick) return place_in_order(blocks, best_order);
  // Whatever reaches to the top, or something that lives with it, gets its place earlier.
  Dice dice;
  for (int round = 0; round < 4000 && best > bound + bound / 100 && work < kMostWork; ++round) {
    place_in_order(blocks, best_order);
    std::vector<uint32_t> tried = best_order;
    uint32_t top = 0;
    for (uint32_t k = 0; k < tried.size(); ++k)
      if (blocks[tried[k]].offset + blocks[tried[k]].bytes == best) top = k;
    const uint32_t from = round % 3 == 0 ? dice.below(tried.size()) : top;
    const uint32_t to = dice.below(round % 3 == 0 ? tried.size() : top + 1);
    const uint32_t moved = tried[from];
    tried.erase(tried.begin() + from);
    tried.insert(tried.begin() + to, moved);
    work += cost;
    const uint64_t end = place_in_order(blocks, tried);
    if (end <= best) best = end, best_order = tried;
  }
  return place_in_order(blocks, best_order);
}

}  // namespace mote::emit
