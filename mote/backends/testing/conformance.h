#pragma once

// One case of an operator's test on a backend.

#include <string>

#include "mote/backends/testing/known_backends.h"
#include "mote/ops/testing/harness.h"

namespace mote::backends {

struct OpCase {
  OpId op;
  const void* attrs;
  size_t attrs_bytes;
  const std::vector<optest::Array>& inputs;
  const std::vector<optest::Array>& outputs;  // what the portable kernel gave
};

struct CaseResult {
  bool supported = false;
  std::string reason;   // the backend's, when it takes no form of the case
  std::string failure;  // empty: right, or not run
};

// Asks about the case and, with `run`, runs it. `tolerance` is relative to the largest expected value, and at least to 1.
CaseResult try_case(const KnownBackend& backend, const OpCase& c, bool run, double tolerance);

}  // namespace mote::backends
