#pragma once

// Names of backends and operators in a policy are checked when a program is compiled.

#include <string>

#include "mote/compiler/placement/policy.h"

namespace mote::tools {

// Throws a Failure for backends and operators that do not exist, with the nearest that do.
void check_policy(const std::string& file, const placement::Policy& policy);

}  // namespace mote::tools
