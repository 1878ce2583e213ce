#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/fuzz/dice.h"

namespace mote::differential {

// A recorded source of choices. A graph is a function of its choices alone, so that a list of them that was changed (shortened, lowered)
// gives another graph of the same kind: that is how findings are made small. Drawing is written so that 0 is the simplest choice.
class Choices {
 public:
  explicit Choices(uint64_t seed) : dice_(seed), replays_(false) {}
  explicit Choices(std::vector<uint32_t> replay) : dice_(0), replay_(std::move(replay)), replays_(true) {}

  // 0 .. n-1; behind the end of a replay 0.
  uint32_t below(uint32_t n) {
    uint32_t v = 0;
    if (!replays_) v = n < 2 ? 0 : dice_.raw() % n;
    else if (taken_.size() < replay_.size() && n > 0) v = std::min(replay_[taken_.size()], n - 1);
    taken_.push_back(v);
    return v;
  }
  int between(int low, int high) { return low + static_cast<int>(below(static_cast<uint32_t>(high - low + 1))); }
  bool chance(uint32_t percent) { return below(100) >= 100 - percent; }
  template <class T, size_t n>
  const T& of(const T (&list)[n]) {
    return list[below(n)];
  }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[below(static_cast<uint32_t>(list.size()))];
  }

  // A step of drawing begins here: what can be left out as a whole.
  void mark() { marks_.push_back(taken_.size()); }

  const std::vector<uint32_t>& taken() const { return taken_; }
  const std::vector<size_t>& marks() const { return marks_; }

 private:
  fuzz::Dice dice_;
  std::vector<uint32_t> replay_, taken_;
  std::vector<size_t> marks_;
  bool replays_;
};

}  // namespace mote::differential
