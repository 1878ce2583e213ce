#pragma once

#include "mote/tools/placement_view.h"

namespace mote::tools {

// The graph of a program, operators in a lane for each backend, as one HTML page without scripts or anything from elsewhere. Throws Failure
// when it cannot be written.
void write_placement_html(const std::string& path, const std::string& title, const PlacementView& view);

}  // namespace mote::tools
