#pragma once

// Where each node of an ordered list runs, chosen by cost. It knows no graph and no operator: nodes read and write numbered values, and
// places (0 is the CPU) take some time for each node, for handing over, and for every byte that goes there or back.
//
// A piece is a run of neighbours on one device. Of all ways to cut the list into pieces the cheapest is found exactly: dynamic programming
// over the ends of pieces, whose transfers are counted value by value. With one node behind the other that is the best there is; of a
// graph with branches it is the best for the order given.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mote::placement {

struct SplitNode {
  std::vector<double> ns;          // on each place; below 0: it cannot run there
  std::vector<int> reads, writes;  // values; constants are not listed
};

struct SplitValue {
  uint64_t bytes = 0;
  int uses = 0;  // by nodes, once for each operand, and by whoever gets the results
};

struct SplitPlace {
  double launch_ns = 0;  // of each node
  double sync_ns = 0;    // of each piece
  double byte_ns = 0;    // of each byte that goes in or comes out
};

struct SplitLimits {
  uint32_t pieces = 0;  // most pieces, those of the CPU too; 0: any number
  uint64_t transfer_bytes = UINT64_MAX;
};

struct SplitPiece {
  size_t first = 0, count = 0;
  int place = 0;
  double ns = 0;  // with launches, hand-over and transfers
  uint64_t bytes_in = 0, bytes_out = 0;
};

struct SplitResult {
  bool possible = false;
  std::vector<SplitPiece> pieces;
  double ns = 0, cpu_ns = -1;  // cpu_ns: everything on the CPU, below 0 when that cannot be
  uint64_t transfer_bytes = 0;
};

SplitResult split(const std::vector<SplitNode>& nodes, const std::vector<SplitValue>& values, const std::vector<SplitPlace>& places,
                  const SplitLimits& limits = {});

}  // namespace mote::placement
