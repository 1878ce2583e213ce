#pragma once

// Golden examples of a program, run over the C interface.

#include <cstdint>
#include <string>

#include "mote/api/mote.h"

namespace mote::fleet::agent {

struct GoldenReport {
  uint32_t outputs = 0;      // that were compared
  uint32_t runs = 0;         // with times
  std::string failure;       // what was wrong; empty: nothing
  uint64_t p99_us = 0;       // of the runs
  uint64_t ram_bytes = 0;    // that the library allocated for program and instance
  bool lacks_parts = false;  // a backend or operator is not linked here: nothing could be run
};

// Opens the program (the bytes must stay; digests of all segments are compared), runs every example, then the first one again for
// `budget_ms` to see its times. Never throws; allocates what the certificate says.
GoldenReport run_golden(const void* data, size_t bytes, uint64_t memory_limit, int64_t budget_ms);

}  // namespace mote::fleet::agent
