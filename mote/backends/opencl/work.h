#pragma once

// What a plan costs, in units that a device can be measured by: `mote measure --backend opencl` finds the time of each.

#include "mote/api/backend_compiler.h"
#include "mote/backends/opencl/plan.h"

namespace mote::backends::opencl {

// Kinds of work, and their names in a target description.
enum Work : uint32_t {
  kLaunches,
  kTileLarge,
  kTileSmall,
  kTileFlat,
  kMatrices,
  kWindows,
  kGroups,
  kFunctions,
  kElements,
  kRows,
  kTransforms,
  kInterpolations,
  kWalks,      // elements that are looked for in up to eight dimensions
  kLeaps,      // of these, where neighbours are not neighbours in memory
  kItems,      // work-items of windows: where they are, whatever they do there
  kSums,       // results of tiles: what is done once for each, however long the sum
  kByteLarge,  // tiles of 8-bit numbers
  kByteSmall,
  kByteFlat,
  kByteWindows,
  kByteBinary,
  kByteSums,      // results of tiles and windows of 8-bit numbers: sums are scaled
  kByteWideSums,  // likewise, by numbers of 64 bits
  kWorkCount
};
extern const char* const kWorkNames[kWorkCount];

// Adds the units that launches need.
void add_work(const std::vector<Launch>& launches, double* units);

// Of an operator, on a device with so many compute units.
void work_of(const mote_backend_op* op, uint32_t compute_units, double* units);

}  // namespace mote::backends::opencl
