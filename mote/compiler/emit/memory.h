#pragma once

// Lifetimes and places of blocks of memory: the one planner, used for plans and for programs built by hand.

#include <cstdint>
#include <string>
#include <vector>

namespace mote::emit {

// From the first to the last step at which something is needed.
struct Life {
  uint32_t first = 0xffffffffu, last = 0;
  bool used() const { return first <= last; }
  void cover(uint32_t a, uint32_t b) {
    first = a < first ? a : first;
    last = b > last ? b : last;
  }
  bool meets(const Life& o) const { return first <= o.last && o.first <= last; }
};

// Finds out when blocks are needed. What is used both inside and outside of a range that repeats, or read there before it is
// written, is needed all through it.
class LifeScan {
 public:
  explicit LifeScan(size_t blocks) : accesses_(blocks) {}

  // Ranges are opened in the order of their first step, outer ones first.
  void repeats(uint32_t first, uint32_t last);
  // Steps in ascending order for each block. `whole`: needed all through the range that this step opens.
  void access(size_t block, uint32_t step, bool reads, bool whole = false);

  std::vector<Life> lives() const;

 private:
  struct Range {
    uint32_t first, last;
    int32_t around;  // range it lies in, -1: none
  };
  struct Access {
    uint32_t step;
    int32_t range;
    bool reads;
  };
  std::vector<Range> ranges_;
  std::vector<std::vector<Access>> accesses_;
  int32_t innermost(uint32_t step) const;
};

struct Block {
  uint64_t bytes = 0;
  uint32_t alignment = 16;
  Life life;
  uint64_t offset = 0;  // result
  // The block that ends in the step (or lone strip) where this one begins and may share bytes with it, when it starts at least `distance`
  // bytes further up; -1: none. No two blocks name the same one. `behind`: further down.
  int32_t over = -1;
  int64_t distance = 0;
  bool behind = false;
};

// Bytes of both that one place serves, at the most.
uint64_t shared_bytes(const Block& block, const Block& over);

// How long to look for a better plan.
enum class Effort { kQuick, kThorough };

// Gives blocks that live at the same time places that do not overlap. Returns the end of the highest. Deterministic.
uint64_t place_blocks(std::vector<Block>& blocks, Effort effort = Effort::kThorough);

// The largest sum of live bytes at any step, what may be shared counted once: no plan is smaller.
uint64_t live_bound(const std::vector<Block>& blocks);

}  // namespace mote::emit
