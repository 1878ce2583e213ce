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
  mote_code code = MOTE_OK;  // of the library's call that failed; MOTE_OK with a failure: an output is not what it must be
  std::string op;            // where that call names one: operator
  bool opened = false;       // program and instance were there: the failure came later
  uint64_t p99_us = 0;       // of the runs
  uint64_t ram_bytes = 0;    // that the library allocated for program and instance
};

// Opens the program (the bytes must stay; digests of all segments are compared), runs every example, then the first one again for
// `budget_ms` to see its times. Never throws; allocates what the certificate says. verdict.h says what a failure means.
GoldenReport run_golden(const void* data, size_t bytes, uint64_t memory_limit, int64_t budget_ms);

}  // namespace mote::fleet::agent
