#pragma once

// What a backend's device can do, found by running operators of many kinds and sizes there.

#include <string>
#include <vector>

#include "mote/tools/measure.h"

namespace mote::tools {

// Adds rates of these backends, and of the CPU seen the same way, to the description. Throws Failure when one of them is not there.
void measure_backends(const std::vector<std::string>& names, const MeasureSettings& settings, target::Target* out);

}  // namespace mote::tools
