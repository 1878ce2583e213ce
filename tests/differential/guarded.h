#pragma once

// Cases checked in processes of their own: a crash or a hang is a finding like any other.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "tests/differential/run.h"

namespace mote::differential {

// Checks one case in a child process.
Checked check_guarded(const Case& c);

struct Found {
  uint64_t seed;
  Finding finding;
};

struct Totals {
  uint64_t graphs = 0, nodes = 0, refused = 0, rounded = 0, reference_runs = 0;
  std::array<uint64_t, kIsas> runs{};
};

// Checks the cases of seeds [first, last) with so many processes, until they are done or the time is over. `found` is called in this
// process, for findings and refusals (whose kind begins with "refused").
Totals check_seeds(uint64_t first, uint64_t last, unsigned jobs, double seconds, const std::function<void(const Found&)>& found);

}  // namespace mote::differential
