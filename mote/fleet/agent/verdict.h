#pragma once

// What a failure at a gate means. A gate is where an update waits for golden examples: the agent's probe (a sandboxed child), and each
// start of a trial (in the application's process). docs/fleet.md prints the table; gates_test.cc compares both, code by code.

#include <set>
#include <string>

#include "mote/fleet/agent/golden.h"
#include "mote/fleet/package/manifest.h"

namespace mote::fleet::agent {

enum class Gate { kProbe, kTrial };

enum class Verdict {
  kPass,         // every example was run and is right
  kApplication,  // nothing could be compared, as was declared or for want of examples: the application's own runs or its word decide
  kUndecided,    // says nothing about the model: asked again, never counted as passed
  kFail,         // the model's fault: its update is over, and it is quarantined
};
const char* name_of(Verdict verdict);

// Operators and backends that a variant's manifest asks for, that this library has not, and that the configuration says the applications
// bring along. Only for these may golden examples be left to the application.
struct Declared {
  std::set<std::string> ops, backends;
};
Declared declared_parts(const package::Requirements& needs, const std::vector<std::string>& backends,
                        const std::vector<std::string>& custom_ops);

// Does the failure name a declared part as what is missing?
bool lacks_declared(const GoldenReport& report, const Declared& declared);

Verdict verdict(Gate gate, const GoldenReport& report, bool lacks_declared);

}  // namespace mote::fleet::agent
