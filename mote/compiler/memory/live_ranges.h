#pragma once

// Liveness of buffers: at which steps of a program the bytes of a buffer are needed.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mote::memory {

// The steps from the first to the last one, inclusive, at which a buffer is needed.
struct LiveRange {
  uint32_t first = 0xffffffffu, last = 0;
  bool used() const { return first <= last; }
  void extend(uint32_t a, uint32_t b) {
    first = a < first ? a : first;
    last = b > last ? b : last;
  }
  bool overlaps(const LiveRange& o) const { return first <= o.last && o.first <= last; }
};

// Computes live ranges from accesses. A buffer that a repeated range (a loop, a strip) shares with the steps around it, or reads before
// it writes, is live throughout that range, since the next trip needs the bytes.
class LivenessScan {
 public:
  explicit LivenessScan(size_t buffers) : accesses_(buffers) {}

  // Declares the steps [first, last] as repeated. Outer ranges come before the ones nested in them, in the order of their first step.
  void add_repeated_range(uint32_t first, uint32_t last);
  // Declares an access; those of one buffer come in ascending order of steps. `whole_range`: the buffer is needed throughout the
  // repeated range that `step` opens, as a loop's condition and counter are.
  void add_access(size_t buffer, uint32_t step, bool reads, bool whole_range = false);

  std::vector<LiveRange> live_ranges() const;

 private:
  struct RepeatedRange {
    uint32_t first, last;
    int32_t parent;  // the range it is nested in; -1: none
  };
  struct Access {
    uint32_t step;
    int32_t range;  // innermost repeated range; -1: none
    bool reads;
  };
  LiveRange live_range_of(const std::vector<Access>& accesses) const;
  int32_t innermost_range(uint32_t step) const;

  std::vector<RepeatedRange> ranges_;
  std::vector<std::vector<Access>> accesses_;  // by buffer
};

}  // namespace mote::memory
