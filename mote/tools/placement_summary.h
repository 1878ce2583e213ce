#pragma once

// What `mote compile` tells of a placement: parts, predictions and whether these rest on measurements.

#include "mote/compiler/placement/place.h"
#include "mote/tools/json_out.h"

namespace mote::tools {

// One line for each part: where it runs, what that is thought to take. Warns where rates of a device are assumed, not measured.
void print_placement(const placement::Placed& placed, const target::Target& target);
Json placement_json(const placement::Placed& placed, const target::Target& target);

}  // namespace mote::tools
