#pragma once

// Which role may sign which target path.

#include <string>
#include <string_view>

#include "mote/fleet/base/json.h"

namespace mote::fleet::tuf {

// Shell patterns (* ? [a-z] [!a-z]) part by part: no wildcard matches a slash.
bool path_matches(std::string_view pattern, std::string_view path);

// Throws Error when a "delegations" object is not as the specification says.
void check_delegations(const Json& delegations);

}  // namespace mote::fleet::tuf
