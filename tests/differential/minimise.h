#pragma once

#include "tests/differential/guarded.h"

namespace mote::differential {

// The smallest case found whose check ends in a finding of the same kind: steps of drawing are left out, choices lowered, as long as the
// time lasts.
Case minimise(const Case& c, const std::string& kind, double seconds);

// Kind of what is found in a case: of a refusal its text without names and numbers. Empty: nothing.
std::string kind_of(const Checked& r);

}  // namespace mote::differential
